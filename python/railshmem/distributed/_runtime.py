# SPDX-License-Identifier: BSD-3-Clause
"""The library under process groups: started with the first group, left with the last one; and memory for groups."""
from __future__ import annotations

import atexit
import os
import sys
from collections.abc import Callable
from datetime import timedelta

import numpy as np
import torch
import torch.distributed as dist

import railshmem
from railshmem import numpy as rn
from railshmem.distributed._agreement import agree

_LIMITS = {"region_nbytes": 2 << 20, "regions": 16}
_MIN_REGION = 64 << 10


def configure(*, region_nbytes: int | None = None, regions: int | None = None) -> None:
    """Sets how much symmetric host memory process groups use, before the first of them is made.

    Each group of this backend uses one region: for calls on CPU tensors, chunk by chunk, and for send and recv. A PE can be
    in as many groups at once as there are regions. All PEs pass equal values; the defaults are 16 regions of 2 MiB.
    Raises RuntimeError where groups exist, and ValueError for regions below 64 KiB.
    """
    if _current is not None:
        raise RuntimeError("railshmem.distributed.configure: process groups exist; call it before init_process_group()")
    if region_nbytes is not None:
        if region_nbytes < _MIN_REGION or region_nbytes % 4096:
            raise ValueError(f"railshmem.distributed.configure: region_nbytes is {region_nbytes}; it must be a multiple of "
                             f"4096 from {_MIN_REGION} on")
        _LIMITS["region_nbytes"] = region_nbytes
    if regions is not None:
        if regions < 1:
            raise ValueError(f"railshmem.distributed.configure: regions is {regions}; it must be 1 or more")
        _LIMITS["regions"] = regions


class Runtime:
    """What the groups of this process share. The GIL protects it."""

    def __init__(self, started_here: bool):
        """Collective over all PEs."""
        self._started_here = started_here
        self._region = _LIMITS["region_nbytes"]
        self._memory = rn.zeros(self._region * _LIMITS["regions"], np.uint8)
        self.free_regions = set(range(_LIMITS["regions"]))
        self.members: list = []  # of the groups of this process: Members

    def take(self, region: int) -> np.ndarray:
        """Returns the bytes of a region that the members of a new group agreed on."""
        self.free_regions.remove(region)
        return self._memory[region * self._region:(region + 1) * self._region]

    def give_back(self, region: int) -> None:
        """Takes the region back; with the last one, leaves the library, which is collective over all PEs."""
        global _current
        self.free_regions.add(region)
        if not self.members and _current is self:
            _current = None
            for close in list(reversed(_closers)):
                close()
            rn.free(self._memory)
            if self._started_here:
                railshmem.finalize()


_current: Runtime | None = None
_starts = 0
_closers: list[Callable[[], None]] = []


def runtime_for(store: dist.Store, rank: int, size: int, timeout: timedelta) -> Runtime:
    """Returns the runtime, started if none exists; then collective over the members, who must be all PEs."""
    global _current, _starts
    if _current is None:
        _starts += 1
        started_here = not railshmem.is_initialized()
        if started_here:
            _start(store, rank, size, timeout)
        if railshmem.n_pes() != size:
            raise RuntimeError(f"railshmem: the first process group has {size} members, and the job has {railshmem.n_pes()} "
                               "PEs; make a group of all PEs first, as by init_process_group()")
        _current = Runtime(started_here)
    return _current


def generation() -> int:
    """Returns how often this process has started a runtime: keys of an earlier one may still be in the store."""
    return _starts


def before_leaving(close: Callable[[], None]) -> None:
    """Has close() called, on all PEs, when the last group is destroyed; the last one first."""
    _closers.append(close)


def not_before_leaving(close: Callable[[], None]) -> None:
    """Undoes before_leaving()."""
    if close in _closers:
        _closers.remove(close)


def _start(store: dist.Store, rank: int, size: int, timeout: timedelta) -> None:
    """Starts the library over the members; the store carries its unique id, so no launcher is needed.

    The group's timeout is the deadline of the library's waits, unless SHMEM_WAIT_TIMEOUT is set. With GPUs, one becomes
    torch's current device, as railshmem.init(device=...) says.
    """
    os.environ.setdefault("SHMEM_WAIT_TIMEOUT", str(max(1, int(timeout.total_seconds()))))
    key = f"railshmem/{_starts}/start"
    mine = {"id": railshmem.unique_id().hex()} if rank == 0 else {}
    uid = agree(store, key, rank, size, mine, lambda offers: offers[0])["id"]
    railshmem.init(uid=bytes.fromhex(uid), rank=rank, size=size, device=_gpu())
    atexit.register(_leave_at_exit)


def _gpu() -> int | None:
    """Returns the GPU for the heap: torch's current one, or torchrun's where the program has not used CUDA yet; None on
    machines without."""
    if not torch.cuda.is_available():
        return None
    if not torch.cuda.is_initialized() and "LOCAL_RANK" in os.environ:
        return int(os.environ["LOCAL_RANK"]) % torch.cuda.device_count()
    return torch.cuda.current_device()


def _leave_at_exit() -> None:
    """Leaves the library where a program ends well without destroy_process_group(). After an exception it does not: then
    the other PEs end with a message."""
    failed = getattr(sys, "last_exc", None) or getattr(sys, "last_value", None)
    if _current is not None and not failed and dist.is_initialized():
        dist.destroy_process_group()
