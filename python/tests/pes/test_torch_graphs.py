# SPDX-License-Identifier: BSD-3-Clause
"""Graphs that are captured with tensors of a mem_pool(), and replayed with other input."""
import pytest

torch = pytest.importorskip("torch", reason="torch cannot be imported")
if not torch.cuda.is_available():
    pytest.skip("torch finds no CUDA device", allow_module_level=True)

import railshmem
import railshmem.torch as rt

MIB = 1 << 20
N = 100_000
TURNS = range(1, 6)


@pytest.fixture(scope="module")
def pool():
    """Its memory stays until finalize()."""
    return rt.mem_pool(96 * MIB)


def in_step():
    """Every PE has done what its stream was given."""
    torch.cuda.synchronize()
    railshmem.barrier_all()


def test_a_replay_takes_the_input_of_its_time(pool, me, npes):
    right, left = (me + 1) % npes, (me - 1) % npes
    with torch.cuda.use_mem_pool(pool):
        source, arrived = (torch.zeros(N, device="cuda") for _ in range(2))
        gathered, total = torch.zeros(npes * N, device="cuda"), torch.zeros(N, device="cuda")
    for tensor in (source, arrived, gathered, total):
        rt.check_symmetric(tensor)
    rt.all_gather(gathered, source)  # the first call of a team sets up what later ones use
    rt.all_reduce(total)
    in_step()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, pool=pool.id):
        doubled = source * 2.0  # made while capturing, in the pool
        rt.put(arrived, doubled, right)
        rt.all_gather(gathered, source)
        rt.all_reduce(total, doubled)
        rt.barrier(device="cuda")
        seen = arrived + 0.5
    rt.check_symmetric(doubled)
    for turn in TURNS:
        source.fill_(100.0 * turn + me)
        graph.replay()
        assert (seen == 2 * (100.0 * turn + left) + 0.5).all().item()
        assert gathered[::N].tolist() == [100.0 * turn + pe for pe in range(npes)]
        assert (total == sum(2 * (100.0 * turn + pe) for pe in range(npes))).all().item()
        in_step()  # the next replay overwrites what a PE may still read
    del doubled, seen, graph


def test_two_graphs_share_tensors_of_a_pool(pool, me, npes):
    with torch.cuda.use_mem_pool(pool):
        t = torch.zeros(N, device="cuda")
    rt.all_reduce(t)
    in_step()
    graphs = [torch.cuda.CUDAGraph() for _ in range(2)]
    for graph, factor in zip(graphs, (1.0, 3.0)):
        with torch.cuda.graph(graph):
            t.mul_(factor)
            rt.all_reduce(t)
        in_step()
    for turn in TURNS:
        t.fill_(turn + me)
        for graph in graphs:
            graph.replay()
        assert (t == 3.0 * npes * sum(turn + pe for pe in range(npes))).all().item()
        in_step()
    del graph, graphs
