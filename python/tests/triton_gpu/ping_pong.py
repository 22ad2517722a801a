# SPDX-License-Identifier: BSD-3-Clause
"""Half the time of a put_signal round trip between the Triton kernels of two PEs, by size: a program, not a test.

    SHMEM_HEAP_KIND=device oshrun -n 2 python ping_pong.py

PE 0 prints a table of bytes and microseconds (median of 9 launches of 1000 round trips each).
"""
import pathlib
import statistics
import sys

import torch
from memory import Memory

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "triton"))
import kernels  # noqa: E402

import railshmem  # noqa: E402

TIMES, LAUNCHES = 1000, 9


def microseconds(nbytes, allocate, num_warps):
    word, source, signal = (allocate((words, )) for words in (nbytes // 8, nbytes // 8, 1))
    found = []
    for launch in range(LAUNCHES + 1):
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        railshmem.barrier_all()
        start.record()
        kernels.ping_pong[(1, )](word, source, signal, nbytes, launch * TIMES, TIMES, num_warps=num_warps)
        end.record()
        torch.cuda.synchronize()
        found.append(start.elapsed_time(end) * 1000 / TIMES / 2)
    return statistics.median(found[1:])  # the first one compiles


def main():
    railshmem.init()
    torch.cuda.set_device(railshmem.my_pe() % torch.cuda.device_count())
    torch.zeros(1, device="cuda")
    memory = Memory()
    for nbytes in (8, 64, 1024, 16384, 262144):
        times = [microseconds(nbytes, memory.zeros, warps) for warps in (1, 4, 8)]
        if railshmem.my_pe() == 0:
            print(f"{nbytes:8d} bytes " + " ".join(f"{warps} warps {time:7.2f} us" for warps, time in zip((1, 4, 8), times)), flush=True)
    memory.close()
    railshmem.finalize()


if __name__ == "__main__":
    main()
