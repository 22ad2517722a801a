# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest

import railshmem
import railshmem.numpy as rn

KINDS = [np.int32, np.int64, np.uint32, np.uint64]


@pytest.fixture(params=KINDS)
def word(request):
    array = rn.zeros(1, request.param)
    yield array
    rn.free(array)


def test_sums_of_all_pes_meet(word, npes):
    rn.atomic_add(word, 1, 0)
    before = rn.atomic_fetch_add(word, 2, 0)
    assert 1 <= before < 3 * npes
    railshmem.barrier_all()
    assert rn.atomic_fetch(word, 0) == 3 * npes


def test_set_and_swap(word, me, npes):
    right = (me + 1) % npes
    rn.atomic_set(word, 5, right)
    railshmem.barrier_all()
    assert rn.atomic_swap(word, 6, right) == 5
    assert rn.atomic_compare_swap(word, 1, 9, right) == 6
    assert rn.atomic_compare_swap(word, 6, 7, right) == 6
    railshmem.barrier_all()
    assert word[0] == 7


def test_extremes_of_the_type_survive(word, me):
    extremes = np.iinfo(word.dtype)
    for value in (int(extremes.min), int(extremes.max)):
        rn.atomic_set(word, value, me)
        assert rn.atomic_fetch(word, me) == value
    railshmem.barrier_all()


def test_values_that_do_not_fit_raise(word, me):
    extremes = np.iinfo(word.dtype)
    for value in (int(extremes.min) - 1, int(extremes.max) + 1, 1 << 70):
        with pytest.raises(OverflowError, match=f"value does not fit into {word.dtype}"):
            rn.atomic_add(word, value, me)
