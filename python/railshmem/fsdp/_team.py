# SPDX-License-Identifier: BSD-3-Clause
"""A team of the ranks of any process group."""
from __future__ import annotations

import torch.distributed as dist

import railshmem
from railshmem import _core


class GroupTeam:
    """The members of a process group as a team of their own, with their PEs by rank."""

    def __init__(self, group: dist.ProcessGroup):
        """Collective over the group; exchanges objects by it. RuntimeError where the library does not run."""
        if not railshmem.is_initialized():
            raise RuntimeError("railshmem.fsdp: the library does not run; call railshmem.init(), or init_process_group() with "
                               "the backend railshmem")
        self._group, self._group_name = group, group.group_name
        self.rank, self.size = dist.get_rank(group), dist.get_world_size(group)
        offers: list = [None] * self.size
        dist.all_gather_object(offers, (railshmem.my_pe(), _core.team_unique_id()), group=group)
        self.pes = [pe for pe, _ in offers]
        self.team = _core.team_of_id(offers[0][1], self.size, self.rank)

    def are_of(self, group: dist.ProcessGroup) -> bool:
        """Returns whether this is the team of that group."""
        return group is self._group or group.group_name == self._group_name

    def close(self) -> None:
        """Destroys the team. Collective over the group."""
        self.team.destroy()
