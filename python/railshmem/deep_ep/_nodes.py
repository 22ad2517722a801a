# SPDX-License-Identifier: BSD-3-Clause
"""On which nodes the ranks are."""
from __future__ import annotations

import os

import torch

from railshmem import Team, _core
from railshmem.moe import _memory
from railshmem.torch import all_to_all

_USUAL = 8  #: GPUs of a node, where the launcher does not say how many ranks a node has


def are_between(size: int) -> bool:
    """Returns whether so many ranks are on several nodes, as far as the environment tells. Also before there is a group."""
    told = [os.environ.get(name) for name in ("LOCAL_WORLD_SIZE", "SHMEM_NODE_SIZE")]
    return size > min((int(number) for number in told if number and number.isdigit()), default=_USUAL)


def of_ranks(function: str, team: Team, device: torch.device) -> torch.Tensor | None:
    """Returns a table of ranks and nodes, [ranks, nodes], float32: 1 where the rank is on the node; None where there is one node.

    Collective over the team; the CPU waits.
    """
    count, mine = _core.moe_nodes(function, team)
    if count == 1:
        return None
    told, theirs = (_memory.empty((team.n_pes(),), dtype=torch.int32, device=device) for _ in range(2))
    told.fill_(mine)
    all_to_all(theirs, told, team=team)
    _memory.settle(device)
    return torch.stack([theirs == node for node in range(count)], 1).float()
