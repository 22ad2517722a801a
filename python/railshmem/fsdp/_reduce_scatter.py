# SPDX-License-Identifier: BSD-3-Clause
"""The reduce-scatter of FSDP2."""
from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
import torch.distributed as dist
from torch.distributed.fsdp._fully_shard import _fsdp_api

from railshmem import numpy as rn
from railshmem.distributed._device import DeviceCollectives
from railshmem.distributed._host import HostCollectives
from railshmem.distributed._lane import Lane
from railshmem.distributed._operations import operation_of, require_operands
from railshmem.distributed._work import HostWork
from railshmem.fsdp._all_gather import TIMEOUT
from railshmem.fsdp._host_gather import STAGING
from railshmem.fsdp._pool import Pool
from railshmem.fsdp._team import GroupTeam


class ReduceScatter(_fsdp_api.ReduceScatter):
    """A reduce-scatter for FSDPModule.set_custom_reduce_scatter().

    FSDP2 allocates an input and then an output for each call. Gradients are views of the output and live as long as they
    like, so only inputs lie in the pool. CPU tensors go through staging memory, and need no pool.
    """

    def __init__(self, group: dist.ProcessGroup, pool: Pool | None = None):
        """Collective over all PEs of the job: each names the group that it is in. The caller keeps and closes the pool."""
        self._pool = pool
        self._members = GroupTeam(group)
        self._host, self._device, self._staging = None, None, None
        if pool is not None and pool.device.type == "cuda":
            self._device = DeviceCollectives(self._members.team, self._members.rank, self._members.size)
        else:
            self._staging = rn.empty(max(STAGING, self._members.size ** 2 * 1024), np.uint8)
            self._host = HostCollectives(self._members.team, self._members.rank, self._members.size, self._staging)
        self._lane = Lane("reduce-scatter")
        self._input_is_next = True

    def allocate(self, size: Sequence[int | torch.SymInt], *, dtype: torch.dtype, device: torch.device) -> torch.Tensor:
        """Returns a tensor of the pool's memory for an input, and an ordinary one for an output. Local."""
        is_input, self._input_is_next = self._input_is_next, not self._input_is_next
        extents = [int(extent) for extent in size]
        if is_input and self._device is not None:
            return self._pool.lease(extents, dtype, device)
        return torch.empty(*extents, dtype=dtype, device=device)

    def __call__(self, output_tensor: torch.Tensor, input_tensor: torch.Tensor, group: dist.ProcessGroup,
                 op: dist.ReduceOp | dist.ReduceOp.RedOpType, async_op: bool = False) -> dist.Work | None:
        """Combines part k of the inputs of all members in the output_tensor of member k; streams as with AllGather."""
        self._input_is_next = True
        if not self._members.are_of(group) or output_tensor.is_cuda != (self._device is not None):
            return dist.reduce_scatter_tensor(output_tensor, input_tensor, op=op, group=group, async_op=async_op)
        operation = operation_of(op)
        require_operands("reduce-scatter of FSDP", operation, input_tensor.dtype)
        if output_tensor.is_cuda:
            def scatter(engine: DeviceCollectives) -> None:
                engine.reduce_scatter_from(output_tensor, input_tensor, operation)
            if async_op:
                return self._device.run([output_tensor], [input_tensor], [scatter], False)
            return self._device.run_here(output_tensor.device, scatter)
        work = HostWork("reduce-scatter of FSDP", [output_tensor], TIMEOUT)
        return self._lane.carry_out(
            work, lambda: self._host.reduce_scatter_from(output_tensor, input_tensor, operation), async_op)

    def close(self) -> None:
        """Ends the object when its calls are done. Collective over all PEs of the job."""
        self._lane.close()
        if self._device is not None:
            self._device.close()
        if self._staging is not None:
            rn.free(self._staging)
        self._members.close()
