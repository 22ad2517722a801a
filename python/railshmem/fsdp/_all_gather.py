# SPDX-License-Identifier: BSD-3-Clause
"""The all-gather of FSDP2."""
from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import torch
import torch.distributed as dist
from torch.distributed.fsdp._fully_shard import _fsdp_api

from railshmem.distributed._device import DeviceCollectives
from railshmem.distributed._lane import Lane
from railshmem.distributed._work import HostWork
from railshmem.fsdp._host_gather import HostGather
from railshmem.fsdp._pool import Pool
from railshmem.fsdp._team import GroupTeam

#: How long wait() of an asynchronous call on CPU tensors waits at most.
TIMEOUT = timedelta(hours=1)


class AllGather(_fsdp_api.AllGather):
    """An all-gather for FSDPModule.set_custom_all_gather(), on memory of a pool.

    One object serves all modules that are sharded over its group. A call with another group, as FSDP2 makes it for
    reshard_after_forward=N, goes by that group's own backend.
    """

    def __init__(self, group: dist.ProcessGroup, pool: Pool):
        """Collective over all PEs of the job: each names the group that it is in. The caller keeps and closes the pool."""
        self._pool = pool
        self._members = GroupTeam(group)
        self._host = HostGather(self._members, pool) if pool.device.type == "cpu" else None
        self._device = None
        if self._host is None:
            self._device = DeviceCollectives(self._members.team, self._members.rank, self._members.size)
        self._lane = Lane("all-gather")

    def allocate(self, size: Sequence[int | torch.SymInt], *, dtype: torch.dtype, device: torch.device) -> torch.Tensor:
        """Returns a tensor of the pool's memory, or an ordinary one where none is free. Local."""
        return self._pool.lease([int(extent) for extent in size], dtype, device)

    def __call__(self, output_tensor: torch.Tensor, input_tensor: torch.Tensor, group: dist.ProcessGroup,
                 async_op: bool = False) -> dist.Work | None:
        """Joins the inputs of all members in output_tensor, by rank; input_tensor may be a part of it.

        CUDA tensors: in the order of torch's current stream; with async_op on another one, for which the work's wait() makes
        the then current stream wait. A peer writes into output_tensor when this member's stream has come to the call.
        """
        if not self._members.are_of(group) or output_tensor.device.type != self._pool.device.type:
            return dist.all_gather_into_tensor(output_tensor, input_tensor, group=group, async_op=async_op)
        if output_tensor.is_cuda:
            def gather(engine: DeviceCollectives) -> None:
                engine.all_gather_into(output_tensor, input_tensor)
            if async_op:
                return self._device.run([output_tensor], [input_tensor], [gather], False)
            return self._device.run_here(output_tensor.device, gather)
        work = HostWork("all-gather of FSDP", [output_tensor], TIMEOUT)
        return self._lane.carry_out(work, lambda: self._host(output_tensor, input_tensor), async_op)

    def close(self) -> None:
        """Ends the object when its calls are done. Collective over all PEs of the job."""
        self._lane.close()
        if self._device is not None:
            self._device.close()
        if self._host is not None:
            self._host.close()
        self._members.close()
