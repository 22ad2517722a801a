# SPDX-License-Identifier: BSD-3-Clause
import threading

import numpy as np
import pytest

import railshmem
import railshmem.numpy as rn


@pytest.fixture
def a():
    array = rn.zeros((4, 4), np.int32)
    yield array
    rn.free(array)


@pytest.fixture
def signals():
    array = rn.zeros(4, np.uint64)
    yield array
    rn.free(array)


def test_a_put_arrives(a, me, npes):
    rn.put(a[1], np.full(4, me + 1, np.int32), (me + 1) % npes)
    railshmem.barrier_all()
    assert a.tolist() == [[0] * 4, [(me - 1) % npes + 1] * 4, [0] * 4, [0] * 4]


def test_a_get_brings(a, me, npes):
    a[2] = 7 + me
    railshmem.barrier_all()
    here = np.zeros(4, np.int32)
    for pe in range(npes):
        rn.get(here, a[2], pe)
        assert (here == 7 + pe).all()


def test_types_that_are_not_numbers_move(me, npes):
    kind = np.dtype([("x", np.float32), ("y", np.int64)])
    record = rn.zeros(2, kind)
    rn.put(record[:1], np.array([(1.5, me)], kind), (me + 1) % npes)
    railshmem.barrier_all()
    assert record[0].tolist() == (1.5, (me - 1) % npes)
    rn.free(record)


def test_data_is_there_when_its_signal_is(a, signals, me, npes):
    rn.put_signal(a, np.full((4, 4), 5 + me, np.int32), signals[1:2], 9, (me + 1) % npes)
    assert rn.wait_signal(signals[1:2], ">=", 9) == 9
    assert (a == 5 + (me - 1) % npes).all()


def test_signals_add_up(signals, me, npes):
    for pe in range(npes):
        rn.signal_op(signals[3:], 2, pe, "add")
    assert rn.wait_signal(signals[3:], "==", 2 * npes) == 2 * npes


@pytest.mark.parametrize("kind", [np.int32, np.int64, np.uint32, np.uint64])
def test_a_wait_ends_when_a_peer_writes(kind, me, npes):
    word = rn.zeros(1, kind)
    rn.put(word, np.array([3], kind), (me + 1) % npes)
    rn.wait_until(word, "!=", 0)
    assert word[0] == 3
    rn.free(word)


class Counting:
    """A thread that counts for many times the interval in which threads take turns, and then calls an action."""

    COUNT = 2_000_000

    def __init__(self, action):
        self.counted, self.action, self.go = 0, action, threading.Event()
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        self.go.wait()
        while self.counted < self.COUNT:
            self.counted += 1
        self.action()

    def join(self):
        self.thread.join()
        assert self.counted == self.COUNT


def test_other_threads_run_while_one_waits(signals, me):
    """Only the other thread can end the wait, at the end of its counting."""
    other = Counting(lambda: rn.signal_op(signals[:1], 1, me))
    other.go.set()
    rn.wait_signal(signals[:1], "==", 1)
    other.join()


def test_other_threads_run_while_one_is_in_a_barrier(signals, me, npes):
    """PE 0 comes to the barrier only when a thread of every other PE, which is in the barrier, has counted."""
    if me == 0:
        rn.wait_signal(signals[:1], "==", npes - 1)
        railshmem.barrier_all()
        return
    other = Counting(lambda: rn.signal_op(signals[:1], 1, 0, "add"))
    other.go.set()
    railshmem.barrier_all()
    other.join()
