#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measures what PyTorch has beside overlapped products: the product alone, NCCL and the product one behind the other, and
the fused operators of torch.ops.symm_mem, in turns; one JSON row each, as shmem_gpu_perf writes them.

usage: overlap_torch.py --out FILE --like FILE... [--pes N] [--repetitions R]

It measures the shapes of the rows of shmem_gpu_perf in the files after --like.
PyTorch's symmetric memory and NCCL are told to do without NVLink multicast.
"""
import argparse
import json
import os
import socket
import statistics

os.environ.setdefault("TORCH_SYMM_MEM_DISABLE_MULTICAST", "1")
os.environ.setdefault("NCCL_NVLS_ENABLE", "0")

import torch  # noqa: E402
import torch.distributed as dist  # noqa: E402
import torch.multiprocessing as processes  # noqa: E402

import perf_rows  # noqa: E402

TURN_S = 20e-3
FLOPS = 650e12  # what a GPU of today does; only how many calls a turn has depends on it


def matrix(rows, columns):
    """Values in (-1, 1): a GPU multiplies zeros with less power, and so faster."""
    return (torch.rand(rows, columns, device="cuda", dtype=torch.float32) * 2 - 1).to(torch.bfloat16)


def gathers(group, m, k, n, pes):
    """What is measured for all-gather + product, by name."""
    shard, b = matrix(m // pes, k), matrix(k, n)
    whole, c = torch.empty(m, k, device="cuda", dtype=torch.bfloat16), torch.empty(m, n, device="cuda", dtype=torch.bfloat16)
    name = group.group_name

    def nccl():
        dist.all_gather_into_tensor(whole, shard)
        torch.mm(whole, b, out=c)

    nccl()
    return {
        "alone": lambda: torch.mm(whole, b, out=c),
        "nccl": nccl,
        "fused": lambda: torch.ops.symm_mem.fused_all_gather_matmul(shard, [b], gather_dim=0, group_name=name),
    }


def scatters(group, m, k, n, pes):
    """What is measured for product + reduce-scatter, by name."""
    a, b = matrix(m, k), matrix(k, n)
    c = torch.empty(m, n, device="cuda", dtype=torch.bfloat16)
    part = torch.empty(m // pes, n, device="cuda", dtype=torch.bfloat16)
    name = group.group_name

    def nccl():
        torch.mm(a, b, out=c)
        dist.reduce_scatter_tensor(part, c)

    return {
        "alone": lambda: torch.mm(a, b, out=c),
        "nccl": nccl,
        "fused": lambda: torch.ops.symm_mem.fused_matmul_reduce_scatter(a, b, "sum", scatter_dim=0, group_name=name),
    }


def seconds(call, calls):
    """Of one call, between two events around several."""
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    torch.cuda.synchronize()
    dist.barrier()
    torch.cuda.synchronize()
    begin.record()
    for _ in range(calls):
        call()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) * 1e-3 / calls


def shapes_like(paths, bench):
    """The shapes of a bench in rows of shmem_gpu_perf, in their order."""
    return dict.fromkeys(row["shape"].split(" ")[0] for row in perf_rows.read(paths) if row["bench"].startswith(bench))


def measure(options, rank, group):
    """Rows of all shapes."""
    rows = []
    for bench, make in (("ag_gemm", gathers), ("gemm_rs", scatters)):
        for shape in shapes_like(options.like, bench):
            m, k, n = (int(word) for word in shape.split(":")[-1].split("x"))
            ways = make(group, m, k, n, options.pes)
            calls = min(40, max(2, int(TURN_S / (2.0 * m * k * n / FLOPS))))
            for name in list(ways):
                try:
                    seconds(ways[name], calls)
                except (AttributeError, RuntimeError) as error:  # a PyTorch without the operator, or a machine that it refuses
                    if rank == 0:
                        print(f"overlap_torch.py: {bench} {name} of {shape} left out: {str(error).splitlines()[0]}", flush=True)
                    del ways[name]
            times = {name: [] for name in ways}
            for _ in range(options.repetitions):
                for name, call in ways.items():
                    times[name].append(seconds(call, calls))
            moved = m // options.pes * (options.pes - 1) * (k if bench == "ag_gemm" else n) * 2
            for name, values in times.items():
                value = statistics.median(values) * 1e6
                rows.append({"bench": f"{bench}_torch_{name}", "transport": "nccl", "provider": "gpu", "pes": options.pes,
                             "bytes": moved, "metric": "latency", "unit": "us", "value": value, "p50": value,
                             "p99": max(values) * 1e6, "shape": shape, "gpu": torch.cuda.get_device_name(),
                             "version": f"PyTorch {torch.__version__}, NCCL {'.'.join(map(str, torch.cuda.nccl.version()))}"})
            del ways
            torch.cuda.empty_cache()
    if rank == 0:
        with open(options.out, "w", encoding="utf-8") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows)


def run(rank, options, port):
    """One process."""
    torch.cuda.set_device(rank)
    torch.manual_seed(rank)
    dist.init_process_group("nccl", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=options.pes,
                            device_id=torch.device("cuda", rank))
    import torch.distributed._symmetric_memory as symmetric  # registers the operators
    symmetric.enable_symm_mem_for_group(dist.group.WORLD.group_name)
    measure(options, rank, dist.group.WORLD)
    dist.destroy_process_group()


def main():
    parser = argparse.ArgumentParser(description="PyTorch's side of compare_overlap.sh.")
    parser.add_argument("--out", required=True)
    parser.add_argument("--pes", type=int, default=2)
    parser.add_argument("--repetitions", type=int, default=11)
    parser.add_argument("--like", required=True, nargs="+")
    options = parser.parse_args()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    processes.spawn(run, args=(options, port), nprocs=options.pes)


if __name__ == "__main__":
    main()
