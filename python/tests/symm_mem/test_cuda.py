# SPDX-License-Identifier: BSD-3-Clause
"""torch.distributed._symmetric_memory on the symmetric heap of GPUs, by every PE."""
import pytest
import torch
import torch.distributed as dist
import torch.distributed._symmetric_memory as symm_mem

import railshmem.symm_mem

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="torch finds no GPU")


def group():
    return dist.group.WORLD.group_name


def meet(nelems, dtype=torch.float32):
    t = symm_mem.empty(nelems, dtype=dtype, device=torch.device("cuda", torch.cuda.current_device()))
    return t, symm_mem.rendezvous(t, dist.group.WORLD)


def values(me, shape, dtype=torch.float32):
    """Small whole numbers, whose sums are exact; another sequence on each rank."""
    made = torch.Generator().manual_seed(7 + me)
    return torch.randint(-8, 8, shape, generator=made).to(dtype)


def total(npes, shape, dtype=torch.float32):
    return sum(values(rank, shape, torch.float64) for rank in range(npes)).to(dtype)


def test_the_backend_is_selected():
    assert symm_mem.get_backend("cuda") == "RAILSHMEM"
    with pytest.raises(RuntimeError, match="in use already for device cuda"):
        railshmem.symm_mem.enable(1, device="cuda")


def test_a_handle_tells_the_group(me, npes):
    t, handle = meet(100)
    assert (handle.rank, handle.world_size, handle.buffer_size, handle.offset) == (me, npes, 400, 0)
    assert getattr(handle, "device", t.device) == t.device  # torch 2.11 or newer tells it
    assert handle.multicast_ptr == 0
    assert handle.buffer_ptrs[me] == t.data_ptr()
    assert len(set(handle.buffer_ptrs + handle.signal_pad_ptrs)) == 2 * npes
    handle.barrier()


def test_arrays_of_addresses_are_on_the_gpu(npes):
    t, handle = meet(1)
    for address, expected in ((handle.buffer_ptrs_dev, handle.buffer_ptrs), (handle.signal_pad_ptrs_dev, handle.signal_pad_ptrs)):
        class Words:
            __cuda_array_interface__ = {"shape": (npes,), "typestr": "<i8", "data": (address, False), "version": 3}
        assert torch.as_tensor(Words(), device=t.device).tolist() == list(expected)
    handle.barrier()


def test_tensors_of_all_ranks_are_read(me, npes):
    t, handle = meet(100000, torch.int64)
    for turn in range(20):
        t.copy_(torch.arange(100000, device="cuda") + 1000000 * me + turn)
        handle.barrier()
        found = [handle.get_buffer(peer, (100000,), torch.int64).clone() for peer in range(npes)]
        handle.barrier()  # nobody writes what is read
        for peer in range(npes):
            assert torch.equal(found[peer].cpu(), torch.arange(100000) + 1000000 * peer + turn), (turn, peer)


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
    mine_alone = symm_mem.empty(10000 * (me + 1), device="cuda")
    t, handle = meet(64)
    t.fill_(float(me))
    handle.barrier()
    for peer in range(npes):
        assert handle.get_buffer(peer, (64,), torch.float32).eq(float(peer)).all()
    handle.barrier()
    torch.cuda.synchronize()
    del mine_alone


def test_a_ring_of_signals(me, npes):
    t, handle = meet(1, torch.int64)
    right, left = (me + 1) % npes, (me - 1) % npes
    seen = []
    for turn in range(50):
        t.fill_(turn * npes + me)
        handle.put_signal(right, channel=1)
        handle.wait_signal(left, channel=1)
        seen.append(handle.get_buffer(left, (1,), torch.int64).clone())
        handle.barrier(channel=2)
    assert [s.item() for s in seen] == [turn * npes + left for turn in range(50)]
    torch.cuda.synchronize()
    dist.barrier()
    assert handle.get_signal_pad(me, (handle.signal_pad_size // 4,)).eq(0).all(), "pads are zero when nobody waits"
    dist.barrier()


def test_a_graph_captures_signals(me, npes):
    t, handle = meet(1, torch.int64)
    found = torch.zeros(npes, dtype=torch.int64, device="cuda")
    counter = torch.zeros(1, dtype=torch.int64, device="cuda")
    handle.barrier()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        counter.add_(1)
        torch.add(counter, 1000 * me, out=t)
        handle.barrier()
        for peer in range(npes):
            found[peer:peer + 1].copy_(handle.get_buffer(peer, (1,), torch.int64))
        handle.barrier(channel=1)
    for turn in range(1, 6):
        graph.replay()
        assert found.tolist() == [1000 * rank + turn for rank in range(npes)]


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("nelems", [8, 4096, 1 << 18])
def test_all_reduces_of_torch(me, npes, nelems, dtype):
    t, handle = meet(nelems, dtype)
    expected = total(npes, (nelems,), dtype)
    for _ in range(3):
        t.copy_(values(me, (nelems,), dtype))
        assert torch.equal(torch.ops.symm_mem.one_shot_all_reduce(t, "sum", group()).cpu(), expected)
        if nelems * t.element_size() % (16 * npes) == 0:
            torch.ops.symm_mem.two_shot_all_reduce_(t, "sum", group())
            assert torch.equal(t.cpu(), expected)
    handle.barrier()
    torch.cuda.synchronize()


def test_all_gather_and_product_in_one(me, npes):
    if npes == 1:
        pytest.skip("a PE alone gathers nothing")
    shard = values(me, (64, 128), torch.bfloat16).cuda()
    right = [values(100 + i, (128, 32), torch.bfloat16).cuda() for i in range(2)]
    gathered, products = torch.ops.symm_mem.fused_all_gather_matmul(shard, right, 0, group())
    plain = torch.cat([values(rank, (64, 128), torch.bfloat16) for rank in range(npes)]).cuda()
    assert torch.equal(gathered, plain)
    for product, b in zip(products, right):
        torch.testing.assert_close(product, plain @ b)


def test_product_and_reduce_scatter_in_one(me, npes):
    if npes == 1:
        pytest.skip("a PE alone scatters nothing")
    left, right = values(me, (64 * npes, 128), torch.bfloat16).cuda(), values(50 + me, (128, 32), torch.bfloat16).cuda()
    mine = torch.ops.symm_mem.fused_matmul_reduce_scatter(left, right, "sum", 0, group())
    products = [values(r, (64 * npes, 128), torch.float32) @ values(50 + r, (128, 32), torch.float32) for r in range(npes)]
    torch.testing.assert_close(mine.cpu().float(), sum(products).chunk(npes)[me], rtol=0.02, atol=8.0)


def test_other_tensors_are_refused():
    with pytest.raises(ValueError, match="not of torch.distributed._symmetric_memory.empty"):
        symm_mem.rendezvous(torch.zeros(4, device="cuda"), dist.group.WORLD)


def test_unequal_offsets_are_named(me, npes):
    if npes == 1:
        pytest.skip("a PE alone agrees with itself")
    t = symm_mem.empty(1024, dtype=torch.uint8, device="cuda")

    class Part:
        __cuda_array_interface__ = {"shape": (16,), "typestr": "|u1", "data": (t.data_ptr() + 16 * me, False), "version": 3}
    with pytest.raises(ValueError, match=f"rank {(me + 1) % npes} has {16 * ((me + 1) % npes)} bytes before the tensor"):
        symm_mem.rendezvous(torch.as_tensor(Part(), device="cuda"), dist.group.WORLD)


def test_a_full_pool_is_an_exception():
    with pytest.raises(RuntimeError, match="pass more bytes to railshmem.symm_mem.enable"):
        symm_mem.empty(1 << 30, dtype=torch.uint8, device="cuda")


def test_ranks_and_channels_that_do_not_exist(npes):
    _, handle = meet(1)
    with pytest.raises(ValueError, match=f"rank {npes} does not exist; the group has ranks 0 to {npes - 1}"):
        handle.put_signal(npes)
    with pytest.raises(ValueError, match="channel 100000 does not exist"):
        handle.barrier(channel=100000)
