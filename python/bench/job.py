# SPDX-License-Identifier: BSD-3-Clause
"""What the programs of this folder share: how a job begins under oshrun or torchrun, how calls are timed, where rows go."""
import json
import os
import pathlib
import statistics
import tempfile
import time

import torch
import torch.distributed as dist

import railshmem


def add_options(parser):
    parser.add_argument("--device", choices=["cuda", "cpu"], default="cuda")
    parser.add_argument("--out", help="file that PE 0 appends rows to, one JSON object a line")


def start(device):
    """Starts the library on a GPU of this PE, or on the CPU, for a program that oshrun started."""
    gpu = None
    if device == "cuda":
        if not torch.cuda.is_available():
            raise SystemExit("torch finds no CUDA device; pass --device cpu")
        gpu = int(os.environ.get("RAILSHMEM_LAUNCHER_PE", 0)) % torch.cuda.device_count()
    railshmem.init(device=gpu)


def start_ranks(device, backend):
    """Starts the library and torch.distributed with this backend, under oshrun or torchrun."""
    if "RAILSHMEM_LAUNCHER_PE" not in os.environ:
        gpu = int(os.environ["LOCAL_RANK"]) if device == "cuda" else None
        if gpu is not None:
            torch.cuda.set_device(gpu)
        dist.init_process_group(backend)
        railshmem.init(group=dist.group.WORLD, device=gpu)
        return
    start(device)
    # All PEs are children of one launcher, so its number names one file.
    store = pathlib.Path(tempfile.gettempdir()) / f"railshmem-bench-store-{os.getppid()}"
    dist.init_process_group(backend, init_method=f"file://{store}", rank=railshmem.my_pe(), world_size=railshmem.n_pes())


class Rows:
    """Rows of results, printed and appended to a file by PE 0."""

    def __init__(self, path):
        self._file = open(path, "a", encoding="utf-8") if path and railshmem.my_pe() == 0 else None

    def add(self, bench, value, unit="us", **rest):
        if railshmem.my_pe() != 0:
            return
        row = {"bench": bench, "value": value, "unit": unit, **rest}
        print(json.dumps(row), flush=True)
        if self._file:
            self._file.write(json.dumps(row) + "\n")
            self._file.flush()


def synchronize(device):
    if device == "cuda":
        torch.cuda.synchronize()


def stream_time(device, calls, call, repetitions):
    """Median microseconds of one of `calls` calls that follow each other: between two events of the stream on a GPU, by the
    clock on a CPU. Collective."""
    for _ in range(max(calls // 10, 1)):
        call()
    synchronize(device)
    railshmem.barrier_all()
    found = []
    for _ in range(repetitions):
        found.append(_between_events(calls, call) if device == "cuda" else _host_time(calls, call))
    synchronize(device)
    railshmem.barrier_all()
    return statistics.median(found) / calls * 1e6


def host_time(device, calls, call, repetitions):
    """Median microseconds that one of `calls` calls keeps the CPU, which waits for nothing between them."""
    found = []
    for _ in range(repetitions + 1):
        found.append(_host_time(calls, call))
        synchronize(device)
    railshmem.barrier_all()
    return statistics.median(found[1:]) / calls * 1e6  # the first one warms up


def _between_events(calls, call):
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    for _ in range(calls):
        call()
    end.record()
    torch.cuda.synchronize()
    return begin.elapsed_time(end) * 1e-3


def _host_time(calls, call):
    began = time.perf_counter()
    for _ in range(calls):
        call()
    return time.perf_counter() - began
