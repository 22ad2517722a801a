# SPDX-License-Identifier: BSD-3-Clause
"""Processes that another library has brought together: how they become a job or a team."""
from __future__ import annotations

import sys
from typing import Any

from railshmem import _core


def membership(group: Any, mpi_comm: Any) -> tuple[bytes, int, int]:
    """Returns the name of a new job, this process's rank in it and its size, over a torch.distributed group or a
    communicator of mpi4py. Collective over that."""
    if mpi_comm is not None:
        rank, size = mpi_comm.Get_rank(), mpi_comm.Get_size()
        return mpi_comm.bcast(_core.unique_id() if rank == 0 else None, root=0), rank, size
    rank, size = _place_in(group, "railshmem.init")
    return _from_first(group, _core.unique_id() if rank == 0 else None), rank, size


def team_of(group: Any) -> _core.Team:
    """Returns the team of the processes of a torch.distributed group. Collective over the group."""
    rank, size = _place_in(group, "railshmem.Team.from_group")
    return _core.team_of_id(_from_first(group, _core.team_unique_id() if rank == 0 else None), size, rank)


def _place_in(group: Any, function: str) -> tuple[int, int]:
    distributed = _distributed(function)
    rank = distributed.get_rank(group)
    if rank < 0:
        raise RuntimeError(f"{function}: this process is not in the group; only its members call")
    return rank, distributed.get_world_size(group)


def _from_first(group: Any, value: object) -> Any:
    """Broadcasts what the first process of the group has."""
    distributed = _distributed("railshmem.init")
    values = [value]
    distributed.broadcast_object_list(values, src=distributed.get_global_rank(group, 0), group=group)
    return values[0]


def _distributed(function: str) -> Any:
    torch = sys.modules.get("torch")
    if torch is None or not torch.distributed.is_available() or not torch.distributed.is_initialized():
        raise RuntimeError(f"{function}: torch.distributed has no process group; call init_process_group() first")
    return torch.distributed
