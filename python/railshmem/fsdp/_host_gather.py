# SPDX-License-Identifier: BSD-3-Clause
"""An all-gather on the CPU into leased memory, by puts that wait for credits.

Each member tells the others where its output is: the credit for one call. Who has a member's credit puts its block there, and
a signal behind it. So nobody writes into memory that its owner has not offered for this very call, however late members are.
"""
from __future__ import annotations

import numpy as np
import torch

from railshmem import numpy as rn
from railshmem.distributed._host import HostCollectives
from railshmem.distributed._memory import bytes_of, gathered, scattered
from railshmem.fsdp._pool import Pool
from railshmem.fsdp._team import GroupTeam

NOWHERE = -1  # told instead of an offset: the output is not memory of the pool
STAGING = 1 << 20  # bytes, for calls in which a member's output is NOWHERE


class HostGather:
    """The all-gathers of one group on CPU tensors. One thread at a time calls, on all members in one order."""

    def __init__(self, members: GroupTeam, pool: Pool):
        """Collective over all PEs of the job."""
        self._members, self._pool = members, pool
        size = members.size
        self._offers = rn.zeros(size, np.int64)  # [of]: where a member's output is
        self._credits = rn.zeros(size, np.uint64)  # [of]: the call for which it told so
        self._arrived = rn.zeros(size, np.uint64)  # [from]: the call of which a member's block is here
        self._staging = rn.empty(max(STAGING, size * size * 1024), np.uint8)
        self._fallback = HostCollectives(members.team, members.rank, size, self._staging)
        self._calls = 0

    def __call__(self, output: torch.Tensor, source: torch.Tensor) -> None:
        """Joins the sources of all members in output, by rank; source may be this member's part of output."""
        self._calls += 1
        offset = self._pool.offset_of(output) if output.is_contiguous() else None
        offers = self._exchange_offers(NOWHERE if offset is None else offset)
        if NOWHERE in offers:  # as all members see it
            self._fallback.all_gather_into(output, source)
            return
        with scattered([output]) as (whole,):
            self._put_all(bytes_of(whole), bytes_of(gathered(source)), offers)

    def _exchange_offers(self, offset: int) -> list[int]:
        me, mine = self._members.rank, np.array([offset], np.int64)
        for rank, pe in self._others():
            rn.put_signal(self._offers[me:me + 1], mine, self._credits[me:me + 1], self._calls, pe)
        offers = []
        for rank in range(self._members.size):
            if rank != me:
                rn.wait_signal(self._credits[rank:rank + 1], ">=", self._calls)
            offers.append(offset if rank == me else int(self._offers[rank]))
        return offers

    def _put_all(self, whole: np.ndarray, block: np.ndarray, offers: list[int]) -> None:
        me, begin = self._members.rank, self._members.rank * block.nbytes
        for rank, pe in self._others():
            there = self._pool.bytes_at(offers[rank] + begin, block.nbytes)
            rn.put_signal(there, block, self._arrived[me:me + 1], self._calls, pe)
        here = whole[begin:begin + block.nbytes]
        if here.ctypes.data != block.ctypes.data:
            here[:] = block
        for rank, _ in self._others():
            rn.wait_signal(self._arrived[rank:rank + 1], ">=", self._calls)

    def _others(self) -> list[tuple[int, int]]:
        """Ranks and PEs of the other members, from the next one on, so that not all begin with one."""
        size, me = self._members.size, self._members.rank
        ranks = [(me + step) % size for step in range(1, size)]
        return [(rank, self._members.pes[rank]) for rank in ranks]

    def close(self) -> None:
        """Frees the symmetric memory. Collective over all PEs of the job."""
        for array in (self._offers, self._credits, self._arrived, self._staging):
            rn.free(array)
