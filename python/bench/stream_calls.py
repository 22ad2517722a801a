# SPDX-License-Identifier: BSD-3-Clause
"""Times short calls of railshmem.torch in the order of a stream, between two PEs. Rows have the names that shmem_gpu_perf
gives to the calls of C.

    oshrun -n 2 python python/bench/stream_calls.py
    oshrun -n 2 shmem_gpu_perf put_on_cpu put_signal_on_cpu fcollect_on_cpu reduce_on_cpu --sizes 8,8K
    oshrun -n 2 shmem_gpu_perf put_on_stream put_signal_on_stream fcollect_on_stream reduce_on_stream --sizes 8,8K

..._on_cpu: microseconds that a call keeps the CPU. ..._on_stream: microseconds of one of many calls that follow each other;
put_on_stream has a quiet behind each put in its rows of latency, one behind all puts in those of bandwidth; put_signal_on_stream
is there and back.
"""
import argparse

import job
import torch

import railshmem
import railshmem.torch as rt

SIZES = (8, 8 << 10)
HOST_CALLS = 50  # few enough for any queue of a stream; as shmem_gpu_perf


class Calls:
    """Tensors of nbytes, and the calls on them."""

    def __init__(self, nbytes, device):
        self.device, self.me, self.npes = device, railshmem.my_pe(), railshmem.n_pes()
        self.other = (self.me + 1) % self.npes
        words, floats = max(nbytes // 8, 1), max(nbytes // 4, 1)
        block = max(nbytes // self.npes // 8, 1)
        self.dest, self.source = (rt.zeros(words, dtype=torch.int64, device=device) for _ in range(2))
        self.sum, self.addend = (rt.zeros(floats, device=device) for _ in range(2))
        self.gathered = rt.zeros(block * self.npes, dtype=torch.int64, device=device)
        self.block = rt.zeros(block, dtype=torch.int64, device=device)
        self.signal, self.unheeded = (rt.zeros(1, dtype=torch.int64, device=device) for _ in range(2))
        self.turn = 0

    def put(self):
        rt.put(self.dest, self.source, self.other)

    def put_and_quiet(self):
        rt.put(self.dest, self.source, self.other)
        rt.quiet(self.device)

    def put_signal(self):
        rt.put_signal(self.dest, self.source, self.unheeded, 1, self.other)

    def there_and_back(self):
        self.turn += 1
        if self.me == 0:
            rt.put_signal(self.dest, self.source, self.signal, self.turn, self.other)
        rt.wait_signal(self.signal, ">=", self.turn)
        if self.me != 0:
            rt.put_signal(self.dest, self.source, self.signal, self.turn, self.other)

    def all_gather(self):
        rt.all_gather(self.gathered, self.block)

    def all_reduce(self):
        rt.all_reduce(self.sum, self.addend)

    def free(self):
        for tensor in (self.dest, self.source, self.sum, self.addend, self.gathered, self.block, self.signal, self.unheeded):
            rt.free(tensor)


def measure(nbytes, options, rows):
    calls = Calls(nbytes, options.device)
    gathered = calls.gathered.numel() * 8
    alone = railshmem.my_pe() == 0  # as in shmem_gpu_perf, PE 0 alone puts
    for bench, size, call, all_of_them in (("put_on_cpu", nbytes, calls.put, False), ("put_signal_on_cpu", nbytes, calls.put_signal, False),
                                           ("fcollect_on_cpu", gathered, calls.all_gather, True),
                                           ("reduce_on_cpu", nbytes, calls.all_reduce, True)):
        time = job.host_time(options.device, HOST_CALLS, call if alone or all_of_them else nothing, options.repetitions)
        rows.add(bench, time, bytes=size, metric="latency")
    for bench, size, call, all_of_them in (("put_on_stream", nbytes, calls.put_and_quiet, False),
                                           ("put_signal_on_stream", nbytes, calls.there_and_back, True),
                                           ("fcollect_on_stream", gathered, calls.all_gather, True),
                                           ("reduce_on_stream", nbytes, calls.all_reduce, True)):
        time = job.stream_time(options.device, options.calls, call if alone or all_of_them else nothing, options.repetitions)
        rows.add(bench, time, bytes=size, metric="latency")
    time = job.stream_time(options.device, 1, lambda: puts(calls, options.puts) if alone else None, options.repetitions) / options.puts
    rows.add("put_on_stream", nbytes / time * 1e-3, "GB/s", bytes=nbytes, metric="bandwidth")
    calls.free()


def puts(calls, count):
    for _ in range(count):
        calls.put()
    rt.quiet(calls.device)


def nothing():
    """What a PE that only receives does."""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    job.add_options(parser)
    parser.add_argument("--calls", type=int, default=200, help="that follow each other on the stream; default: 200")
    parser.add_argument("--puts", type=int, default=2000, help="before one quiet, for the bandwidth; default: 2000")
    parser.add_argument("--repetitions", type=int, default=21, help="of which the median counts; default: 21")
    options = parser.parse_args()
    job.start(options.device)
    if railshmem.n_pes() != 2:
        raise SystemExit(f"stream_calls.py is for 2 PEs, and this job has {railshmem.n_pes()}; run oshrun -n 2")
    rows = job.Rows(options.out)
    for nbytes in SIZES:
        measure(nbytes, options, rows)
    railshmem.finalize()


if __name__ == "__main__":
    main()
