# SPDX-License-Identifier: BSD-3-Clause
"""Times a put_signal there and back between the Triton kernels of two PEs, by size and number of warps.

    oshrun -n 2 python python/bench/triton_ping_pong.py
    oshrun -n 2 shmem_gpu_perf put_signal_pingpong --scope warp,block --threads 128 --sizes 8,1K,16K

Both put with put_signal_nbi, and wait for the signal. threads: those of the block; one warp is shmem_gpu_perf's scope warp.
"""
import argparse
import statistics

import job
import torch
import triton  # noqa: F401  (named first where it is missing)

import railshmem
import railshmem.torch as rt
import railshmem.triton as rtl

SIZES, WARPS = (8, 1 << 10, 16 << 10), (1, 4, 8)


@rtl.jit
def ping_pong(word, source, signal, nbytes, first, times):
    """PE 0 sends, PE 1 answers, `times` times; the last value of the signal is first + times on both. One program."""
    me = rtl.my_pe()
    for i in range(times):
        number = first + i + 1
        if me == 0:
            rtl.put_signal_nbi(word, source, nbytes, signal, number, rtl.SIGNAL_SET, 1)
        rtl.signal_wait_until(signal, rtl.CMP_GE, number)
        if me != 0:
            rtl.put_signal_nbi(word, source, nbytes, signal, number, rtl.SIGNAL_SET, 0)
    rtl.quiet()


def round_trip(nbytes, warps, options):
    """Median microseconds."""
    word, source, signal = (rt.zeros(words, dtype=torch.int64, device="cuda") for words in (nbytes // 8, nbytes // 8, 1))
    source.fill_(1)
    found, times = [], options.times
    for launch in range(options.launches + 1):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        torch.cuda.synchronize()
        railshmem.barrier_all()
        begin.record()
        ping_pong[(1, )](word, source, signal, nbytes, launch * times, times, num_warps=warps)
        end.record()
        torch.cuda.synchronize()
        found.append(begin.elapsed_time(end) * 1000 / times)
    well = bool((word == 1).all()) and signal.item() == (options.launches + 1) * times
    railshmem.barrier_all()
    for tensor in (word, source, signal):
        rt.free(tensor)
    return statistics.median(found[1:]), well  # the first one compiles


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", help="file that PE 0 appends rows to, one JSON object a line")
    parser.add_argument("--times", type=int, default=2000, help="round trips of a launch; default: 2000")
    parser.add_argument("--launches", type=int, default=11, help="of which the median counts; default: 11")
    options = parser.parse_args()
    job.start("cuda")
    if railshmem.n_pes() != 2:
        raise SystemExit(f"triton_ping_pong.py is for 2 PEs, and this job has {railshmem.n_pes()}; run oshrun -n 2")
    rows = job.Rows(options.out)
    for nbytes in SIZES:
        for warps in WARPS:
            time, well = round_trip(nbytes, warps, options)
            rows.add("put_signal_pingpong", time, bytes=nbytes, threads=32 * warps, metric="latency", validated=well)
    railshmem.finalize()


if __name__ == "__main__":
    main()
