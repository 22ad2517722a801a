# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest

import railshmem
import railshmem.numpy as rn


def test_arrays_have_shape_type_and_zeroes():
    a = rn.zeros((3, 5), np.float32)
    assert (a.shape, a.dtype, a.flags.writeable, a.flags.c_contiguous) == ((3, 5), np.float32, True, True)
    assert not a.any()
    rn.free(a)
    b = rn.empty(7)
    assert (b.shape, b.dtype) == ((7,), np.float64)
    rn.free(b)


def test_an_array_without_elements_can_be_freed():
    a = rn.empty((0, 4))
    assert a.shape == (0, 4)
    rn.free(a)


def test_a_peers_memory_is_seen(me, npes):
    a = rn.zeros((2, 3), np.int64)
    a[1, 2] = 10 + me
    railshmem.barrier_all()
    for pe in range(npes):
        there = rn.peer(a, pe)
        assert there.shape == (2, 3) and there[1, 2] == 10 + pe
    rn.free(a)


def test_free_raises_for_what_it_cannot_free():
    a = rn.zeros(4)
    with pytest.raises(ValueError, match=r"begins inside of float64\[4\] of .*test_arrays.py:\d+"):
        rn.free(a[1:])
    with pytest.raises(ValueError, match="not symmetric"):
        rn.free(np.zeros(4))
    rn.free(a)
    with pytest.raises(ValueError, match="which was freed"):
        rn.free(a)


def test_a_freed_array_raises_until_its_memory_has_a_new_owner():
    a = rn.zeros(4)
    rn.free(a)
    with pytest.raises(ValueError, match=r"dest is in float64\[4\].* which was freed"):
        rn.put(a, np.zeros(4), 0)
    b = rn.zeros(4)
    rn.put(b, np.zeros(4), 0)
    rn.free(b)


def test_a_full_heap_raises_on_all_pes():
    with pytest.raises(MemoryError, match="SHMEM_SYMMETRIC_SIZE"):
        rn.empty(1 << 50, np.uint8)


def test_shapes_and_types_without_meaning_raise(npes):
    with pytest.raises(ValueError, match="must not be negative"):
        rn.empty(-1)
    with pytest.raises(TypeError, match="Python objects"):
        rn.empty(3, object)
    a = rn.zeros(1)
    with pytest.raises(ValueError, match=rf"pe is {npes}, and this job has the PEs 0 to {npes - 1}"):
        rn.peer(a, npes)
    rn.free(a)
