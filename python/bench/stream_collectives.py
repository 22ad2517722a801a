# SPDX-License-Identifier: BSD-3-Clause
"""Times collectives of railshmem.torch on symmetric tensors, call by call and in graphs. Rows have the names that
shmem_gpu_perf gives to the calls of C.

    oshrun -n 2 python python/bench/stream_collectives.py
    oshrun -n 2 shmem_gpu_perf allgather reducescatter allreduce --sizes 1M,16M,64M,256M [--graph]

bytes: those of the full vector, that is the blocks of all PEs together. Elements are float32.
"""
import argparse

import job
import torch

import railshmem
import railshmem.torch as rt

VOLUME = 4 << 30  # bytes of a repetition, about; as shmem_gpu_perf
IN_GRAPH = 50


def calls_of(nbytes):
    return min(max(VOLUME // nbytes, 5), 200)


def collectives(whole, part):
    """Name -> call, on a vector and a part of another one."""
    out = rt.empty(whole.numel(), device=whole.device.type)
    return out, {"allgather": lambda: rt.all_gather(out, part), "reducescatter": lambda: rt.reduce_scatter(part, whole),
                 "allreduce": lambda: rt.all_reduce(out, whole)}


def in_graph(call, calls):
    """A graph of so many calls, as a call."""
    call()  # the first call of a kind sets up what later ones use
    torch.cuda.synchronize()
    railshmem.barrier_all()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(calls):
            call()
    return graph


def measure(nbytes, options, rows):
    npes = railshmem.n_pes()
    whole, part = rt.zeros(nbytes // 4, device=options.device), rt.zeros(nbytes // 4 // npes, device=options.device)
    out, named = collectives(whole, part)
    for bench, call in named.items():
        calls = options.calls or calls_of(nbytes)
        for order in options.orders.split(","):
            if order == "stream":
                time = job.stream_time(options.device, calls, call, options.repetitions)
            else:
                held = min(calls, IN_GRAPH)
                graph = in_graph(call, held)
                time = job.stream_time(options.device, -(-calls // held), graph.replay, options.repetitions) / held
                torch.cuda.synchronize()
                del graph
            rows.add(bench, time, bytes=nbytes, order=order, memory="heap", metric="latency")
    for tensor in (whole, part, out):
        rt.free(tensor)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    job.add_options(parser)
    parser.add_argument("--sizes", default="1048576,16777216,67108864,268435456", help="bytes, with commas")
    parser.add_argument("--orders", help="stream, graph or both with a comma; default: both on a GPU")
    parser.add_argument("--calls", type=int, help="of a repetition; default: 4 GiB together, 5 to 200")
    parser.add_argument("--repetitions", type=int, default=11, help="of which the median counts; default: 11")
    options = parser.parse_args()
    options.orders = options.orders or ("stream,graph" if options.device == "cuda" else "stream")
    job.start(options.device)
    rows = job.Rows(options.out)
    for size in options.sizes.split(","):
        measure(int(size), options, rows)
    railshmem.finalize()


if __name__ == "__main__":
    main()
