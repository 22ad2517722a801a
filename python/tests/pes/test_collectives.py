# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest

import railshmem
import railshmem.numpy as rn
from railshmem import Team

INTEGERS = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]
REALS = [np.float16, np.float32, np.float64]
COMPLEXES = [np.complex64, np.complex128]
TYPES_OF = {"sum": INTEGERS + REALS + COMPLEXES, "prod": INTEGERS + REALS + COMPLEXES, "min": INTEGERS + REALS,
            "max": INTEGERS + REALS, "and": INTEGERS, "or": INTEGERS, "xor": INTEGERS}
NUMPYS = {"sum": np.add, "prod": np.multiply, "min": np.minimum, "max": np.maximum, "and": np.bitwise_and,
          "or": np.bitwise_or, "xor": np.bitwise_xor}


class Arrays:
    """Makes arrays that are freed, in one order, when the test ends."""

    def __init__(self):
        self.made = []

    def __call__(self, shape, kind=np.int64):
        self.made.append(rn.zeros(shape, kind))
        return self.made[-1]


@pytest.fixture
def arrays():
    made = Arrays()
    yield made
    for array in made.made:
        rn.free(array)


def test_all_gather(arrays, me, npes):
    dest, source = arrays((npes, 3)), arrays(3)
    source[:] = me
    rn.all_gather(dest, source)
    assert dest.tolist() == [[pe] * 3 for pe in range(npes)]


def test_all_to_all(arrays, me, npes):
    dest, source = arrays((npes, 2)), arrays((npes, 2))
    source[:] = [[10 * me + pe] * 2 for pe in range(npes)]
    rn.all_to_all(dest, source)
    assert dest.tolist() == [[10 * pe + me] * 2 for pe in range(npes)]


def test_broadcast_in_place(arrays, me, npes):
    a = arrays(4)
    a[:] = me
    railshmem.barrier_all()
    rn.broadcast(a, a, npes - 1)
    assert (a == npes - 1).all()


@pytest.mark.parametrize("op, kind", [(op, kind) for op, kinds in TYPES_OF.items() for kind in kinds])
def test_reductions_are_numpys(arrays, op, kind, me, npes):
    sources = np.array([[(pe + i) % 3 + 1 for i in range(2 * npes)] for pe in range(npes)], kind)
    expected = NUMPYS[op].reduce(sources, axis=0, dtype=kind)
    source, dest, part = arrays(2 * npes, kind), arrays(2 * npes, kind), arrays(2, kind)
    source[:] = sources[me]
    rn.all_reduce(dest, source, op)
    assert (dest == expected).all()
    rn.reduce_scatter(part, source, op)
    assert (part == expected[2 * me:2 * me + 2]).all()


def test_in_place(arrays, me, npes):
    a, b = arrays(2), arrays(2 * npes)
    a[:] = b[:] = me
    railshmem.barrier_all()
    rn.all_reduce(a, a)
    rn.reduce_scatter(b[2 * me:2 * me + 2], b)
    assert (a == sum(range(npes))).all() and (b[2 * me:2 * me + 2] == sum(range(npes))).all()


def test_a_team_of_its_own(arrays, me, npes):
    reverse = Team.world().split_strided(npes - 1, -1, npes)
    dest, source = arrays(npes), arrays(1)
    source[:] = me
    rn.all_gather(dest, source, team=reverse)
    assert dest.tolist() == list(reversed(range(npes)))
    reverse.destroy()
