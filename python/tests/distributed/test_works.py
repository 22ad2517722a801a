# SPDX-License-Identifier: BSD-3-Clause
"""What callbacks of futures may do, and errors of the threads that carry out calls."""
import threading
from datetime import timedelta

import pytest
import torch
import torch.distributed as dist

from railshmem.distributed._message_channel import MessageChannel
from railshmem.distributed._lane import Lane
from railshmem.distributed._work import HostWork

LONG = timedelta(seconds=20)


def a_work():
    return HostWork("a call of the test", [torch.ones(3)], LONG)


def in_time(action):
    """Runs action on another thread; False where it has not ended within LONG."""
    thread = threading.Thread(target=action, daemon=True)
    thread.start()
    thread.join(LONG.total_seconds())
    return not thread.is_alive()


def test_a_callback_may_use_the_work_that_ends():
    work = a_work()
    seen = []
    work.get_future().add_done_callback(lambda _: seen.append((work.wait(), work.get_future().done())))
    assert in_time(work.finish)
    assert seen == [(True, True)]


def test_a_future_brings_what_ended_the_call():
    work = a_work()
    future = work.get_future()
    work.finish(KeyboardInterrupt())
    with pytest.raises(RuntimeError, match="a call of the test was ended by KeyboardInterrupt"):
        future.wait()
    with pytest.raises(KeyboardInterrupt):
        work.wait()


def test_a_callback_may_wait_for_a_thread_that_sends(me, npes):
    after, before = (me + 1) % npes, (me - 1) % npes
    sent, seen = threading.Event(), []

    def send():
        dist.isend(torch.full((5,), 2. + me), after, tag=1)
        sent.set()

    def callback(_):
        threading.Thread(target=send, daemon=True).start()
        seen.append(sent.wait(LONG.total_seconds()))

    theirs, more = torch.zeros(5), torch.zeros(5)
    future = dist.irecv(theirs, before).get_future().then(callback)
    dist.isend(torch.full((5,), 1. + me), after).wait(LONG)
    future.wait()
    assert seen == [True]
    dist.recv(more, before, tag=1)
    assert (theirs == 1 + before).all() and (more == 2 + before).all()


@pytest.mark.parametrize("kept", [False, True])
def test_a_recv_whose_tensor_takes_nothing_raises_and_later_messages_pass(me, npes, kept):
    after, before = (me + 1) % npes, (me - 1) % npes
    overlapping = torch.zeros(1).expand(6)  # torch does not write to elements that share memory
    if kept:  # the recv of another message keeps this one
        dist.isend(torch.ones(6), after).wait(LONG)
        dist.isend(torch.ones(2), after, tag=1).wait(LONG)
        dist.recv(torch.zeros(2), before, tag=1)
        work = dist.irecv(overlapping, before)
    else:
        work = dist.irecv(overlapping, before)
        dist.isend(torch.ones(6), after).wait(LONG)
    with pytest.raises(RuntimeError, match="single memory location"):
        work.wait(LONG)
    theirs = torch.zeros(4)
    request = dist.irecv(theirs, before)
    dist.isend(torch.ones(4), after).wait(LONG)
    assert request.wait(LONG) and (theirs == 1).all()


class _BrokenMail:
    """Symmetric memory that holds no message, and cannot be read any more once `broken` is set."""

    slot_nbytes = 64

    def __init__(self, broken=None):
        self._broken = broken

    def arrived_from(self, source):
        if self._broken is not None and not self._broken.is_set():
            return 0
        raise OSError("the mail is gone")

    def done_by(self, member):
        return 0


def test_an_error_of_the_thread_ends_all_messages_under_way():
    all_posted = threading.Event()
    channel = MessageChannel("broken", 0, [0], _BrokenMail(all_posted))
    works = [channel.receive(a_work(), torch.zeros(3), 0, tag) for tag in range(3)]
    all_posted.set()
    why = "send and recv of the process group broken have stopped on this rank.*the mail is gone"
    for work in works:
        with pytest.raises(RuntimeError, match=why):
            work.wait()
    with pytest.raises(RuntimeError, match=why):
        channel.receive(a_work(), torch.zeros(3), 0, 0)
    with pytest.raises(RuntimeError, match=why):
        channel.send(a_work(), torch.zeros(3), 0, 0)
    assert channel.close(1)


def test_a_thread_that_does_not_start_leaves_nothing_behind(monkeypatch):
    lane, channel = Lane("test"), MessageChannel("test", 0, [0], _BrokenMail())

    def refuse(_):
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", refuse)
        with pytest.raises(RuntimeError, match="start new thread"):
            lane.submit(a_work(), lambda: None, caller_waits=False)
        with pytest.raises(RuntimeError, match="start new thread"):
            channel.receive(a_work(), torch.zeros(3), 0, 0)
    assert lane.submit(a_work(), lambda: None, caller_waits=False).wait()
    with pytest.raises(RuntimeError, match="have stopped"):
        channel.receive(a_work(), torch.zeros(3), 0, 0).wait()
    assert in_time(lane.close)
