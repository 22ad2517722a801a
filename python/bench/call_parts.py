# SPDX-License-Identifier: BSD-3-Clause
"""Times the parts of what a short call of railshmem.torch in the order of a stream keeps the CPU, between two PEs.

    oshrun -n 2 python python/bench/call_parts.py

Rows of call_on_cpu, in microseconds: part "whole", the call; "python", what its function in Python adds to the module's; "module",
the module's reading and checking of tensors, without the library; "library", the function of C, called from here by ctypes,
less a call by ctypes of a function that does nothing. "library" and what shmem_gpu_perf shows for the call (put_on_cpu and others)
differ where this process makes the library slower than a program of C is. With --device cpu there are puts alone.
"""
import argparse
import ctypes
import statistics
import time

import job
import torch

import railshmem
import railshmem.torch as rt
from railshmem import _core

SIZES = (8, 8 << 10)
HOST_CALLS = 50  # as stream_calls.py
ADDRESS, SIZE, WORD, INT = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_uint64, ctypes.c_int
LIBRARY = ctypes.CDLL(_core.__file__)  # finds the library's names, too
SIGNAL_SET, TEAM_WORLD, ALLGATHER, ALLREDUCE, UINT8, FLOAT, SUM = 0, 1, 0, 2, 4, 8, 5


class Coll(ctypes.Structure):
    """shmemx_coll_t."""
    _fields_ = [("size", SIZE), ("team", ADDRESS), ("collective", INT), ("datatype", INT), ("op", INT), ("root", INT), ("max_blocks", INT),
                ("flags", INT), ("nelems", SIZE), ("source", ADDRESS), ("dest", ADDRESS), ("lists", ADDRESS * 6), ("factor", ctypes.c_double)]


def coll(collective, datatype, nelems, dest, source):
    return Coll(ctypes.sizeof(Coll), TEAM_WORLD, collective, datatype, SUM, 0, 0, 0, nelems, source.data_ptr(), dest.data_ptr(), (ADDRESS * 6)(), 1.0)


def of_library(name, types, *arguments):
    """The call of this name, and one with these arguments of a function that uses none."""
    found = []
    for function in (getattr(LIBRARY, name), LIBRARY["shmem_my_pe"]):
        function.argtypes = types
        function.restype = INT
        found.append(lambda function=function: function(*arguments))
    return found


def puts(tensors, on_gpu):
    """Name -> the whole call, that of the module, and the two of of_library()."""
    dest, source, signal = tensors
    other, nbytes = (railshmem.my_pe() + 1) % railshmem.n_pes(), dest.numel() * 8
    put, put_signal = "railshmem.torch.put", "railshmem.torch.put_signal"
    behind, stream = ("_on_stream", [torch.cuda.current_stream().cuda_stream]) if on_gpu else ("", [])
    streams = [ADDRESS] * len(stream)
    return {
        "put": (lambda: rt.put(dest, source, other), lambda: _core.put(put, dest, source, other, None),
                *of_library(f"shmemx_putmem{behind}" if on_gpu else "shmem_putmem", [ADDRESS, ADDRESS, SIZE, INT, *streams], dest.data_ptr(),
                            source.data_ptr(), nbytes, other, *stream)),
        "put_signal": (lambda: rt.put_signal(dest, source, signal, 1, other),
                       lambda: _core.put_signal(put_signal, dest, source, signal, 1, other, "set", None),
                       *of_library(f"shmemx_putmem_signal{behind}" if on_gpu else "shmem_putmem_signal",
                                   [ADDRESS, ADDRESS, SIZE, ADDRESS, WORD, INT, INT, *streams], dest.data_ptr(), source.data_ptr(), nbytes,
                                   signal.data_ptr(), 1, SIGNAL_SET, other, *stream))}


def collectives(tensors):
    gathered, block, total, addend = tensors
    stream = torch.cuda.current_stream().cuda_stream
    gather = coll(ALLGATHER, UINT8, block.numel() * 8, gathered, block)
    reduce = coll(ALLREDUCE, FLOAT, total.numel(), total, addend)
    on_stream, types = "shmemx_coll_on_stream", [ctypes.POINTER(Coll), ADDRESS]
    return {
        "all_gather": (lambda: rt.all_gather(gathered, block),
                       lambda: _core.coll_on_stream("all_gather", gathered, block, None, None, False, None, None),
                       *of_library(on_stream, types, ctypes.byref(gather), stream)),
        "all_reduce": (lambda: rt.all_reduce(total, addend),
                       lambda: _core.coll_on_stream("all_reduce", total, addend, None, None, False, "sum", None),
                       *of_library(on_stream, types, ctypes.byref(reduce), stream))}


def medians(device, calls, repetitions):
    """Of each call, in microseconds; the calls take turns, since machines are noisy."""
    found = [[] for _ in calls]
    for _ in range(repetitions + 1):
        for times, call in zip(found, calls):
            began = time.perf_counter()
            for _ in range(HOST_CALLS):
                call()
            times.append((time.perf_counter() - began) / HOST_CALLS * 1e6)
            job.synchronize(device)
    return [statistics.median(times[1:]) for times in found]  # the first one warms up


def measure(nbytes, options, rows):
    npes, words = railshmem.n_pes(), nbytes // 8
    block = max(words // npes, 1)
    ints = [rt.zeros(n, dtype=torch.int64, device=options.device) for n in (words, words, 1, block * npes, block)]
    floats = [rt.zeros(nbytes // 4, device=options.device) for _ in range(2)]
    on_gpu = options.device == "cuda"
    named = {**puts(ints[:3], on_gpu), **(collectives([*ints[3:], *floats]) if on_gpu else {})}
    for name, calls in named.items():
        railshmem.barrier_all()
        whole, module, library, nothing = medians(options.device, calls, options.repetitions)
        for part, value in (("whole", whole), ("python", whole - module), ("module", module - (library - nothing)),
                            ("library", library - nothing)):
            rows.add("call_on_cpu", value, call=name, part=part, bytes=nbytes)
    for tensor in (*ints, *floats):
        rt.free(tensor)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    job.add_options(parser)
    parser.add_argument("--repetitions", type=int, default=51, help="of which the median counts; default: 51")
    options = parser.parse_args()
    job.start(options.device)
    rows = job.Rows(options.out)
    for nbytes in SIZES:
        measure(nbytes, options, rows)
    railshmem.finalize()


if __name__ == "__main__":
    main()
