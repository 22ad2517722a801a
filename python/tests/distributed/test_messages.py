# SPDX-License-Identifier: BSD-3-Clause
"""send, recv and barriers, and what their works say."""
import time
from datetime import timedelta

import pytest
import torch
import torch.distributed as dist


@pytest.mark.parametrize("size", [0, 1, 1000, 1_000_003])
def test_messages_go_round(device, me, npes, size):
    mine, theirs = torch.full((size,), me + 1., device=device), torch.zeros(size, device=device)
    request = dist.isend(mine, (me + 1) % npes)
    dist.recv(theirs, (me - 1) % npes)
    request.wait()
    assert (theirs == (me - 1) % npes + 1).all()


def test_a_recv_may_come_first(device, me, npes):
    theirs = torch.zeros(50_000, dtype=torch.int64, device=device)
    request = dist.irecv(theirs, (me - 1) % npes)
    dist.barrier()
    dist.send(torch.arange(50_000, device=device) + me, (me + 1) % npes)
    request.wait()
    assert torch.equal(theirs.cpu(), torch.arange(50_000) + (me - 1) % npes)


def test_messages_of_one_tag_keep_their_order_and_tags_pass_each_other(device, me):
    if me == 0:
        for number in range(20):
            dist.send(torch.full((3000,), float(number), device=device), 1, tag=number % 2)
    elif me == 1:
        for tag in (1, 0):
            for number in range(tag, 20, 2):
                theirs = torch.zeros(3000, device=device)
                dist.recv(theirs, 0, tag=tag)
                assert (theirs == number).all()


def test_a_message_of_anybody(device, me, npes):
    if me:
        dist.send(torch.full((10,), float(me), device=device), 0)
        return
    seen = set()
    for _ in range(npes - 1):
        theirs = torch.zeros(10, device=device)
        source = dist.recv(theirs)
        assert (theirs == source).all()
        seen.add(source)
    assert seen == set(range(1, npes))


def test_batches(device, me, npes):
    mine, theirs = torch.full((7,), me + 1., device=device), torch.zeros(7, device=device)
    requests = dist.batch_isend_irecv([dist.P2POp(dist.isend, mine, (me + 1) % npes),
                                       dist.P2POp(dist.irecv, theirs, (me - 1) % npes)])
    for request in requests:
        request.wait()
    assert (theirs == (me - 1) % npes + 1).all()


def test_a_recv_of_another_size_raises(device, me):
    if me == 0:
        dist.send(torch.zeros(8, device=device), 1)
    elif me == 1:
        with pytest.raises(ValueError, match="recv of 16 bytes from rank 0, tag 0, and the message has 32"):
            dist.recv(torch.zeros(4, device=device), 0)


def test_a_recv_ends_with_its_timeout(me):
    if me == 0:
        request = dist.irecv(torch.zeros(4), 1)
        with pytest.raises(RuntimeError, match="recv of .* has not ended after 0.2 s"):
            request.wait(timedelta(seconds=0.2))
    dist.barrier()
    if me == 1:
        dist.send(torch.zeros(4), 0)
    elif me == 0:
        assert request.wait()


def test_a_barrier_waits_for_the_last(me):
    if me == 0:
        time.sleep(0.3)
    entered = torch.tensor([time.monotonic()], dtype=torch.float64)  # one clock for all processes of a host
    dist.barrier()
    left = time.monotonic()
    dist.all_reduce(entered, op=dist.ReduceOp.MAX)
    assert left >= entered.item()


def test_works_tell_when_they_are_done(me, npes):
    late = torch.ones(1000)
    if me == 0:
        dist.recv(torch.zeros(1), 1)
    work = dist.all_reduce(late, async_op=True)
    if me == 1:
        assert not work.is_completed()  # rank 0 waits for this rank's message
        dist.send(torch.zeros(1), 0)
    work.wait()
    assert work.is_completed() and work.is_success() and (late == npes).all()
    future = work.get_future()
    assert torch.equal(future.wait()[0], late)


def test_calls_that_were_begun_happen_in_order(me, npes):
    tensors = [torch.full((10_000,), float(number)) for number in range(10)]
    works = [dist.all_reduce(tensor, async_op=True) for tensor in tensors]
    for number, work in reversed(list(enumerate(works))):
        work.wait()
        assert (tensors[number] == number * npes).all()
