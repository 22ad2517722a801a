# SPDX-License-Identifier: BSD-3-Clause
"""torch.distributed._symmetric_memory on the symmetric heap, by every PE."""
import gc
import signal
import threading
import time

import pytest
import torch
import torch.distributed as dist
import torch.distributed._symmetric_memory as symm_mem

import railshmem
import railshmem.symm_mem
import railshmem.torch as rt

POOL = 8 << 20


def meet(nelems, dtype=torch.float32, group=None):
    t = symm_mem.empty(nelems, dtype=dtype, device="cpu")
    return t, symm_mem.rendezvous(t, group or dist.group.WORLD)


def test_the_backend_is_selected():
    assert symm_mem.get_backend("cpu") == "RAILSHMEM"


def test_other_devices_are_refused():
    with pytest.raises(ValueError, match="device is meta; pass 'cpu' or 'cuda'"):
        railshmem.symm_mem.enable(POOL, device="meta")
    if not torch.cuda.is_available():
        with pytest.raises(RuntimeError, match="torch finds no CUDA device"):
            railshmem.symm_mem.enable(POOL, device="cuda")


def test_once_in_a_process():
    with pytest.raises(RuntimeError, match="in use already"):
        railshmem.symm_mem.enable(POOL)


def test_a_handle_tells_the_group(me, npes):
    t, handle = meet(100)
    assert (handle.rank, handle.world_size, handle.buffer_size) == (me, npes, 400)
    assert handle.get_buffer(me, (100,), torch.float32).data_ptr() == t.data_ptr()


def test_tensors_of_all_ranks_are_read(me, npes):
    t, handle = meet(1000, torch.int64)
    t.copy_(torch.arange(1000) + 10000 * me)
    handle.barrier()
    for peer in range(npes):
        found = handle.get_buffer(peer, (1000,), torch.int64)
        assert torch.equal(found, torch.arange(1000) + 10000 * peer), peer
    handle.barrier()  # nobody drops a tensor that is read


def test_tensors_of_all_ranks_are_written(me, npes):
    t, handle = meet(npes, torch.int64)
    t.fill_(-1)
    handle.barrier()
    for peer in range(npes):
        handle.get_buffer(peer, (npes,), torch.int64)[me] = 100 * me + peer
    handle.barrier()
    assert t.tolist() == [100 * rank + me for rank in range(npes)]
    handle.barrier()


def test_ranks_may_have_their_tensors_at_different_places(me, npes):
    mine_alone = symm_mem.empty(10000 * (me + 1), device="cpu")
    t, handle = meet(64)
    t.fill_(float(me))
    handle.barrier()
    for peer in range(npes):
        assert handle.get_buffer(peer, (64,), torch.float32).eq(float(peer)).all()
    handle.barrier()
    del mine_alone


def test_a_ring_of_signals(me, npes):
    t, handle = meet(1, torch.int64)
    right, left = (me + 1) % npes, (me - 1) % npes
    for turn in range(50):
        t.fill_(turn * npes + me)
        handle.put_signal(right, channel=1)
        handle.wait_signal(left, channel=1)
        assert handle.get_buffer(left, (1,), torch.int64).item() == turn * npes + left
        handle.barrier(channel=2)
    assert handle.get_signal_pad(me, (handle.signal_pad_size // 4,)).eq(0).all(), "pads are zero when nobody waits"


def test_a_second_rendezvous_gives_the_handle_of_the_first():
    t, handle = meet(8)
    again = symm_mem.rendezvous(t, dist.group.WORLD)
    assert again.buffer_ptrs == handle.buffer_ptrs


def test_other_groups(me, npes):
    if npes == 1:
        pytest.skip("a PE alone has no other groups")
    halves = [list(range(0, npes, 2)), list(range(1, npes, 2))]
    groups = [dist.new_group(half) for half in halves]
    mine = groups[me % 2]
    t, handle = meet(4, torch.int64, mine)
    t.fill_(me)
    handle.barrier()
    found = [handle.get_buffer(rank, (4,), torch.int64)[0].item() for rank in range(handle.world_size)]
    assert found == halves[me % 2]
    handle.barrier()


def test_memory_comes_back():
    for _ in range(20):
        t = symm_mem.empty(POOL // 8, dtype=torch.uint8, device="cpu")
        del t
        gc.collect()


def test_such_tensors_are_symmetric_for_the_library(me, npes):
    t, handle = meet(16, torch.int32)
    t.fill_(-1)
    handle.barrier()
    rt.put(t, torch.full((16,), me, dtype=torch.int32), (me + 1) % npes)
    railshmem.barrier_all()
    assert t.eq((me - 1) % npes).all()
    railshmem.barrier_all()


def test_waits_release_the_gil(me, npes):
    if npes == 1:
        pytest.skip("a PE alone waits for nobody")
    _, handle = meet(1)
    count, stop = [0], threading.Event()

    def counts():
        while not stop.is_set():
            count[0] += 1
            time.sleep(0.001)

    thread = threading.Thread(target=counts)
    if me == 0:
        thread.start()
        handle.wait_signal(1, channel=0)
        counted = count[0]
        stop.set()
        thread.join()
        assert counted > 20
    elif me == 1:
        time.sleep(0.3)
        handle.put_signal(0, channel=0)


def test_a_wait_can_be_interrupted():
    _, handle = meet(1)
    threading.Timer(0.3, lambda: signal.raise_signal(signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        handle.wait_signal(handle.rank, channel=5)


def test_a_full_pool_is_an_exception():
    with pytest.raises(RuntimeError, match="no room for 8388608 bytes and a signal pad; pass more bytes"):
        symm_mem.empty(POOL, dtype=torch.uint8, device="cpu")


def test_a_signal_that_does_not_come(me, npes):
    _, handle = meet(1)
    with pytest.raises(RuntimeError, match=f"rank {me} has not signalled on channel 3 within 0.05 s"):
        handle.wait_signal(me, channel=3, timeout_ms=50)


def test_a_signal_that_is_not_taken(me):
    _, handle = meet(1)
    handle.put_signal(me, channel=3)
    with pytest.raises(RuntimeError, match=f"rank {me} has not taken the signal before on channel 3 within 0.05 s"):
        handle.put_signal(me, channel=3, timeout_ms=50)
    handle.wait_signal(me, channel=3)


def test_ranks_and_channels_that_do_not_exist(npes):
    _, handle = meet(1)
    with pytest.raises(ValueError, match=f"rank {npes} does not exist; the group has ranks 0 to {npes - 1}"):
        handle.put_signal(npes)
    with pytest.raises(ValueError, match="channel -1 does not exist; there are channels 0 to"):
        handle.barrier(channel=-1)
    with pytest.raises(ValueError, match="channel 100000 does not exist"):
        handle.barrier(channel=100000)


def test_other_tensors_are_refused():
    with pytest.raises(ValueError, match="not of torch.distributed._symmetric_memory.empty"):
        symm_mem.rendezvous(torch.zeros(4), dist.group.WORLD)


def test_offsets_that_differ_are_named(me, npes):
    if npes == 1:
        pytest.skip("a PE alone agrees with itself")
    t = symm_mem.empty(1024, dtype=torch.uint8, device="cpu")
    part = torch.from_numpy(t.numpy()[16 * me:])  # its storage begins there
    others = ", ".join(f"rank {rank} has {16 * rank} bytes before the tensor in its allocation" for rank in range(npes) if rank != me)
    with pytest.raises(ValueError, match=f"rendezvous: {others}, and rank {me} has {16 * me}; .* in one order"):
        symm_mem.rendezvous(part, dist.group.WORLD)


def test_sizes_that_differ_are_named(me, npes):
    if npes == 1:
        pytest.skip("a PE alone agrees with itself")
    t = symm_mem.empty(4 + me, dtype=torch.uint8, device="cpu")
    with pytest.raises(ValueError, match="all members must pass tensors of one size"):
        symm_mem.rendezvous(t, dist.group.WORLD)
