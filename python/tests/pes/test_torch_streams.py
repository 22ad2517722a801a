# SPDX-License-Identifier: BSD-3-Clause
"""What only streams have: order, graphs, pools of torch's allocator, registered memory."""
import pytest

torch = pytest.importorskip("torch", reason="torch cannot be imported")
if not torch.cuda.is_available():
    pytest.skip("torch finds no CUDA device", allow_module_level=True)

import railshmem
import railshmem.torch as rt

MIB = 1 << 20
LONG = 50_000_000  # cycles of the GPU: some 30 ms, in which a CPU that does not wait gets ahead


@pytest.fixture
def t():
    tensor = rt.zeros(MIB, device="cuda")
    yield tensor
    rt.free(tensor)


def test_collectives_take_any_memory(me, npes):
    for dtype in (torch.float32, torch.bfloat16):
        ordinary = torch.full((MIB,), me + 1.0, device="cuda", dtype=dtype)
        rt.all_reduce(ordinary)
        assert (ordinary == npes * (npes + 1) / 2).all().item()
        output = torch.zeros(npes, 1000, device="cuda", dtype=dtype)
        output[me] = me
        rt.all_gather(output, output[me])
        assert output[:, 0].tolist() == list(range(npes))


def test_calls_are_in_the_order_of_the_current_stream(t, me, npes):
    torch.cuda._sleep(LONG)
    t.fill_(me + 1.0)
    rt.all_reduce(t)
    t.mul_(2.0)
    assert t[::4096].tolist() == [float(npes * (npes + 1))] * (MIB // 4096)


def test_a_stream_can_be_named(t, me, npes):
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        torch.cuda._sleep(LONG)
        t.fill_(me + 1.0)
    rt.all_reduce(t, stream=side)
    side.synchronize()
    assert t[0].item() == npes * (npes + 1) / 2
    railshmem.barrier_all()  # all have looked, so puts may come
    source = torch.full((4,), 5.0 + me, device="cuda")
    torch.cuda.synchronize()
    rt.put(t[:4], source, (me + 1) % npes, stream=side)
    rt.barrier(stream=side)
    side.synchronize()
    assert t[:4].tolist() == [5.0 + (me - 1) % npes] * 4


def test_an_asynchronous_call_leaves_the_current_stream_alone(t, me, npes):
    other = torch.zeros(4, device="cuda")
    side = torch.cuda.Stream()
    t.fill_(me + 1.0)
    work = rt.all_reduce(t, async_op=True)
    other.add_(1.0)  # need not wait
    with torch.cuda.stream(side):
        work.wait()  # this stream does
        seen = t[:4].clone()
    side.synchronize()
    assert seen.tolist() == [npes * (npes + 1) / 2] * 4 and work.is_completed()
    torch.cuda.current_stream().wait_stream(side)


def test_a_graph_replays_collectives_puts_and_signals(t, me, npes):
    signal = rt.zeros(1, dtype=torch.int64, device="cuda")
    right, graph = (me + 1) % npes, torch.cuda.CUDAGraph()
    source = torch.zeros(MIB, device="cuda")
    rt.all_reduce(source)  # the first call of a team sets up what later ones use
    torch.cuda.synchronize()
    railshmem.barrier_all()
    with torch.cuda.graph(graph):
        source.add_(1.0)
        rt.all_reduce(t, source)
        rt.signal_op(signal, 1, right, "add")
        work = rt.all_reduce(t, op="max", async_op=True)
        work.wait()
        t.add_(0.5)
    for turn in range(1, 4):
        graph.replay()
        rt.wait_signal(signal, ">=", turn)
        assert t[::65536].tolist() == [npes * turn + 0.5] * 16
    torch.cuda.synchronize()
    railshmem.barrier_all()
    del graph
    rt.free(signal)


POOLS = {}


@pytest.fixture
def pool():
    """One for all tests: its memory stays until finalize()."""
    if not POOLS:
        POOLS["pool"] = rt.mem_pool(96 * MIB)
    return POOLS["pool"]


def test_tensors_of_a_pool_are_symmetric(pool, me, npes):
    with torch.cuda.use_mem_pool(pool):
        a, b = torch.zeros(1000, device="cuda"), torch.full((3000,), float(me), device="cuda")
    for tensor in (a, b, b[100:]):
        rt.check_symmetric(tensor)
    torch.cuda.synchronize()
    railshmem.barrier_all()  # all tensors have their first values
    rt.put(a, torch.full((1000,), 1.0 + me, device="cuda"), (me + 1) % npes)
    rt.barrier(device="cuda")
    torch.cuda.synchronize()  # a put of ordinary memory: see "Rules" in docs/python.md
    assert a[:2].tolist() == [(me - 1) % npes + 1.0] * 2
    rt.all_reduce(b)
    assert b[0].item() == sum(range(npes))
    with pytest.raises(ValueError, match=r"is in mem_pool\(\d+\) of|begins inside of mem_pool"):
        rt.free(a)


def test_tensors_at_different_places_are_found(me, npes):
    with torch.cuda.use_mem_pool(rt.mem_pool(64 * MIB)):
        extra = torch.zeros(10, device="cuda") if me == 0 else None
        tensor = torch.zeros(10, device="cuda")
    if npes > 1:
        with pytest.raises(RuntimeError, match="make and drop tensors of equal sizes in one order"):
            rt.check_symmetric(tensor)
    del extra
    with pytest.raises(ValueError if me == 0 else RuntimeError, match="not symmetric|of PE 0 is not on the symmetric heap"):
        rt.check_symmetric(torch.zeros(4, device="cuda") if me == 0 else tensor)


def test_a_pool_that_is_full_raises(pool):
    with pytest.raises(torch.OutOfMemoryError), torch.cuda.use_mem_pool(pool):
        torch.zeros(256 * MIB, device="cuda", dtype=torch.uint8)


def test_a_graph_is_captured_with_tensors_of_a_pool(pool, me, npes):
    rt.all_reduce(torch.zeros(4, device="cuda"))
    torch.cuda.synchronize()
    railshmem.barrier_all()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, pool=pool.id):
        tensor = torch.ones(5000, device="cuda")  # made while capturing
        rt.all_reduce(tensor)
    graph.replay()
    assert tensor[0].item() == npes
    rt.check_symmetric(tensor)
    torch.cuda.synchronize()
    del tensor, graph


def test_registered_memory(me, npes):
    tensor = torch.full((4 * MIB,), 1.0, device="cuda")
    torch.cuda.synchronize()
    rt.register(tensor)
    rt.all_reduce(tensor)
    assert tensor[-1].item() == npes
    torch.cuda.synchronize()
    railshmem.barrier_all()
    rt.unregister(tensor)
    with pytest.raises(RuntimeError, match="did not undo it"):
        rt.unregister(tensor)
    with pytest.raises(TypeError, match="only CUDA tensors are registered"):
        rt.register(torch.zeros(4))


def test_the_heap_is_on_one_gpu():
    with pytest.raises(ValueError, match="nbytes is 0"):
        rt.mem_pool(0)
    if torch.cuda.device_count() > 1:
        elsewhere = (torch.cuda.current_device() + 1) % torch.cuda.device_count()
        with pytest.raises(RuntimeError, match="and the symmetric heap of this PE is on cuda"):
            rt.empty(1, device=f"cuda:{elsewhere}")
