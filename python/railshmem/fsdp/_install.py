# SPDX-License-Identifier: BSD-3-Clause
"""Putting the collectives into a model, with pools of the right size."""
from __future__ import annotations

import math

import torch
import torch.distributed as dist
from torch.distributed.fsdp import FSDPModule
from torch.distributed.tensor import DTensor

from railshmem.distributed import _runtime
from railshmem.fsdp._all_gather import AllGather
from railshmem.fsdp._pool import Pool
from railshmem.fsdp._reduce_scatter import ReduceScatter


class Installation:
    """What install() made: all_gather, reduce_scatter, and the pools all_gather_pool and reduce_scatter_pool or None."""

    def __init__(self, group: dist.ProcessGroup, device: torch.device, gather_nbytes: int, scatter_nbytes: int,
                 reduce_scatter: bool):
        self.all_gather_pool = Pool(gather_nbytes, device)
        self.all_gather = AllGather(group, self.all_gather_pool)
        self.reduce_scatter_pool: Pool | None = None
        self.reduce_scatter: ReduceScatter | None = None
        if reduce_scatter:
            self.reduce_scatter_pool = Pool(scatter_nbytes, device) if device.type == "cuda" else None
            self.reduce_scatter = ReduceScatter(group, self.reduce_scatter_pool)
        self._closed = False
        _runtime.before_leaving(self.close)

    def close(self) -> None:
        """Frees pools and teams; the model must not be used any more. Collective over all PEs of the job.

        destroy_process_group() does it where the backend railshmem has started the library.
        """
        if self._closed:
            return
        self._closed = True
        _runtime.not_before_leaving(self.close)
        if self.all_gather_pool.device.type == "cuda":
            torch.cuda.synchronize(self.all_gather_pool.device)
        for made in (self.all_gather, self.reduce_scatter, self.all_gather_pool, self.reduce_scatter_pool):
            if made is not None:
                made.close()


def install(model: torch.nn.Module, group: dist.ProcessGroup, *, in_flight: int = 3,
            reduce_scatter: bool = True) -> Installation:
    """Sets the all-gather, and unless reduce_scatter is False the reduce-scatter, of every FSDPModule in the model.

    model went through fully_shard(). group is the one that parameters are sharded over: mesh.get_group(), or of a mesh of two
    dimensions that of the inner one. The pools hold the in_flight largest modules at once: the one in use, the one whose
    copy-out may still run, and the one that is fetched ahead; add one for each further module that is prefetched. What does
    not fit gets ordinary memory.

    Collective over all PEs of the job, with models alike. Raises TypeError for a model without FSDPModules, RuntimeError where
    the library does not run, MemoryError on all PEs where the heap is full.
    """
    modules = [module for module in model.modules() if isinstance(module, FSDPModule)]
    if not modules:
        raise TypeError("railshmem.fsdp.install: no module of the model went through fully_shard(); call that first")
    if in_flight < 1:
        raise ValueError(f"railshmem.fsdp.install: in_flight is {in_flight}; it must be 1 or more")
    size = dist.get_world_size(group)
    sizes = sorted((_unsharded_nbytes(module, size) for module in modules), reverse=True)
    nbytes = max(sum(sizes[:in_flight]), 1)
    installation = Installation(group, _device_of(model), nbytes, nbytes, reduce_scatter)
    for module in modules:
        module.set_custom_all_gather(installation.all_gather)
        if installation.reduce_scatter is not None:
            module.set_custom_reduce_scatter(installation.reduce_scatter)
    return installation


def _parameters_of(module: torch.nn.Module) -> list[torch.Tensor]:
    """The parameters that FSDP2 gathers with this module: those of its submodules that are no FSDPModules."""
    found = list(module.parameters(recurse=False))
    for child in module.children():
        if not isinstance(child, FSDPModule):
            found += _parameters_of(child)
    return found


def _unsharded_nbytes(module: torch.nn.Module, size: int) -> int:
    """The bytes of all parameters, each padded to equal shards, and room for alignment."""
    nbytes = 0
    for parameter in _parameters_of(module):
        if isinstance(parameter, DTensor):
            rows, *rest = parameter.shape or (1,)
            nbytes += -(-rows // size) * size * math.prod(rest) * parameter.dtype.itemsize
    return -(-nbytes // 512) * 512 + 512


def _device_of(model: torch.nn.Module) -> torch.device:
    parameter = next(parameter for parameter in model.parameters() if isinstance(parameter, DTensor))
    return parameter.device
