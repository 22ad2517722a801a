# SPDX-License-Identifier: BSD-3-Clause
"""Every mistake is an exception that says what to do, on the PE that made it, before anything is sent."""
import numpy as np
import pytest

import railshmem.numpy as rn
from railshmem import Team


@pytest.fixture
def a():
    array = rn.zeros(8, np.int64)
    yield array
    rn.free(array)


@pytest.fixture
def signals():
    array = rn.zeros(2, np.uint64)
    yield array
    rn.free(array)


def here(size=8, kind=np.int64):
    return np.zeros(size, kind)


@pytest.mark.parametrize("pe", [-1, 1000])
def test_a_pe_that_there_is_not(a, signals, pe):
    for call in (lambda: rn.put(a, here(), pe), lambda: rn.get(here(), a, pe), lambda: rn.atomic_fetch(a[:1], pe),
                 lambda: rn.put_signal(a, here(), signals[:1], 1, pe), lambda: rn.signal_op(signals[:1], 1, pe)):
        with pytest.raises(ValueError, match=f"pe is {pe}, and this job has the PEs 0 to"):
            call()


def test_what_is_not_symmetric(a, signals):
    for call in (lambda: rn.put(here(), a, 0), lambda: rn.get(a, here(), 0), lambda: rn.atomic_add(here(1), 1, 0),
                 lambda: rn.wait_until(here(1), "==", 0), lambda: rn.signal_op(here(1, np.uint64), 1, 0),
                 lambda: rn.all_reduce(a, here()), lambda: rn.all_reduce(here(), a), lambda: rn.peer(here(), 0)):
        with pytest.raises(ValueError, match=r"not symmetric; make it with railshmem.numpy.empty\(\)"):
            call()


def test_what_is_not_contiguous(a):
    for call in (lambda: rn.put(a[::2], here(4), 0), lambda: rn.put(a[:4], here()[::2], 0), lambda: rn.all_reduce(a[::2], a[::2])):
        with pytest.raises(ValueError, match="is not contiguous; pass a contiguous part"):
            call()


def test_what_is_read_only(a):
    frozen = here()
    frozen.flags.writeable = False
    rn.put(a, frozen, 0)
    with pytest.raises(ValueError, match="dest is read-only"):
        rn.get(frozen, a, 0)


def test_unequal_sizes(a):
    for call in (lambda: rn.put(a, here(7), 0), lambda: rn.get(here(9), a, 0)):
        with pytest.raises(ValueError, match="elements, and source has"):
            call()
    with pytest.raises(ValueError, match="it must have"):
        rn.all_reduce(a[:4], a[4:7])


def test_unequal_types(a):
    for call in (lambda: rn.put(a, here(8, np.float64), 0), lambda: rn.get(here(8, np.uint64), a, 0)):
        with pytest.raises(TypeError, match=r"convert one of them with astype\(\)"):
            call()


@pytest.mark.parametrize("thing", [None, 3, [1, 2], "text", np.zeros(8, "datetime64[s]")])
def test_what_is_no_array(a, thing):
    with pytest.raises(TypeError, match="source is of type .*; it must be a numpy array of numbers"):
        rn.put(a, thing, 0)


def test_words_that_are_none(a, signals):
    with pytest.raises(ValueError, match="has 8 elements; pass one element"):
        rn.atomic_add(a, 1, 0)
    with pytest.raises(TypeError, match="a signal is a uint64"):
        rn.wait_signal(a[:1], "==", 0)
    with pytest.raises(TypeError, match="value must be an integer"):
        rn.atomic_add(a[:1], 1.5, 0)
    with pytest.raises(TypeError, match="value must be an integer"):
        rn.signal_op(signals[:1], None, 0)


def test_words_of_a_type_that_cannot_be_waited_for():
    real = rn.zeros(1, np.float32)
    with pytest.raises(TypeError, match="float32; it must have int32, int64, uint32 or uint64"):
        rn.wait_until(real, "==", 0)
    rn.free(real)


def test_names_that_there_are_not(a, signals):
    with pytest.raises(ValueError, match="cmp is '=>'; accepted"):
        rn.wait_until(a[:1], "=>", 0)
    with pytest.raises(ValueError, match="op is 'or'; accepted: set, add"):
        rn.signal_op(signals[:1], 1, 0, "or")
    with pytest.raises(ValueError, match="op is 'mean'; accepted: sum, prod"):
        rn.all_reduce(a, a, "mean")


def test_an_operation_without_that_type():
    real = rn.zeros(2, np.float32)
    with pytest.raises(TypeError, match="float32, which the operation xor does not take"):
        rn.all_reduce(real, real, "xor")
    rn.free(real)


def test_arrays_that_share_memory(a, npes):
    for call in (lambda: rn.all_gather(a[:npes], a[:1]), lambda: rn.all_to_all(a[:npes], a[:npes]),
                 lambda: rn.all_reduce(a[:4], a[1:5])):
        with pytest.raises(ValueError, match="share memory"):
            call()


def test_a_root_that_there_is_not(a, npes):
    with pytest.raises(ValueError, match=f"root is {npes}, and the team has the members 0 to {npes - 1}"):
        rn.broadcast(a, a, npes)


def test_what_is_no_team(a):
    with pytest.raises(TypeError):
        rn.all_reduce(a, a, team="world")
    with pytest.raises(TypeError):
        rn.all_reduce(a, a, team=Team)
