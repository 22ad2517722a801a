# SPDX-License-Identifier: BSD-3-Clause
"""The exchanges of a buffer, in a part of symmetric memory that it hands out."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch

from railshmem import Team, _core
from railshmem.deep_ep import _nodes
from railshmem.moe import Exchange, _checks, _memory

FUNCTION = "railshmem.deep_ep.Buffer"
IN_FLIGHT = 2  #: dispatches whose results may be held at once, as DeepEP says
_ALIGN = 256


class Sizes(NamedTuple):
    """What tells calls apart that cannot share an exchange."""

    max_tokens: int
    hidden: int
    experts: int
    topk: int
    fp8: bool
    scale_type: str = "float"


    def nbytes(self, workspace: Callable[..., int], *members: object) -> int:
        """Returns how much of a buffer such calls take, if workspace(function, *members, ...) says what an exchange does."""
        one = workspace(FUNCTION, *members, self.experts, self.topk, self.hidden, self.max_tokens, False, self.fp8, True,
                        _checks.SCALE_TYPES.index(self.scale_type))
        return IN_FLIGHT * ((one + _ALIGN - 1) // _ALIGN * _ALIGN)


def size_hint(max_tokens: int, hidden: int, size: int, experts: int) -> int:
    """Returns what a buffer needs for calls of these sizes with and without 8-bit floats, all types of scales, and any top-k."""
    between = _nodes.are_between(size)
    if experts % max(size, 1):
        raise ValueError(f"{FUNCTION}: num_experts is {experts}, which {size} ranks do not divide")
    scaled = [name for name in _checks.SCALE_TYPES if hidden % _checks.channels_of_word(name) == 0]
    kinds = [(False, "float"), *((True, name) for name in scaled)]
    return sum(Sizes(max_tokens, hidden, experts, _checks.MOST_TOPK, fp8, name).nbytes(_core.moe_workspace_of, size, between)
               for fp8, name in kinds)


class Lane:
    """An exchange, the dispatch that it had last, and memory for results that are to be combined."""

    def __init__(self, exchange: Exchange):
        self.exchange, self.dispatches, self.results = exchange, 0, None

    def room_for_results(self) -> torch.Tensor:
        """Returns memory for combine()'s rows, the lane's own."""
        if self.results is None:
            shape = self.exchange.local_experts, self.exchange.capacity, self.exchange.hidden
            self.results = _memory.empty(shape, dtype=self.exchange.dtype, device=self.exchange.device)
        return self.results


class Lanes:
    """Lanes by sizes, IN_FLIGHT for each, used in turn."""

    def __init__(self, team: Team, nbytes: int, mask_after_ms: int | None):
        """Takes nbytes of symmetric memory. Collective over all PEs. mask_after_ms: None where all ranks are there forever."""
        self.device = _memory.take_gpu(FUNCTION)
        self._team, self._size, self._nbytes, self._used = team, team.n_pes(), nbytes, 0
        self._memory = _memory.symmetric(FUNCTION, nbytes, f"{nbytes} bytes of {FUNCTION}", self.device) if nbytes else None
        #: Has the mask of ranks; None without one. Its workspace is symmetric memory of its own.
        self.keeper: Exchange | None = None
        self._maskable: dict[str, Any] = {}
        if mask_after_ms is not None:
            if self._memory is not None:
                self._memory.zero_()
                _memory.settle(self.device)  # before the keeper is made, which all ranks make together
            self.keeper = Exchange(self._size, 1, 8, 1, team=team, maskable=True, mask_after_ms=mask_after_ms)
            self._maskable = dict(maskable=True, mask_after_ms=mask_after_ms, mask_of=self.keeper, zeroed=True)
        self._lanes: dict[Sizes, list[Lane]] = {}
        self._turns: dict[Sizes, int] = {}

    def of(self, sizes: Sizes) -> list[Lane] | None:
        """Returns the lanes for these sizes, or None where make() has not made them."""
        return self._lanes.get(sizes)

    def make(self, sizes: Sizes) -> list[Lane]:
        """Makes lanes. Collective over the team, or local with masks; the CPU waits. ValueError where no memory is left for them."""
        _checks.sizes(self._size, sizes.experts, sizes.topk, sizes.hidden, sizes.max_tokens, torch.bfloat16, sizes.fp8,
                      sizes.scale_type, 0)
        needed = sizes.nbytes(_core.moe_workspace, self._team)
        if self._used + needed > self._nbytes:
            raise ValueError(f"{FUNCTION}: num_rdma_bytes is {self._nbytes}, of which {self._used} are in use for calls of other "
                             f"sizes, and {sizes} takes {needed}; see get_low_latency_rdma_size_hint()")
        parts = self._memory[self._used:self._used + needed].view(IN_FLIGHT, -1)
        self._lanes[sizes] = [Lane(Exchange(sizes.experts, sizes.topk, sizes.hidden, sizes.max_tokens, fp8=sizes.fp8,
                                            scale_type=sizes.scale_type, late_weights=True, team=self._team, workspace=part,
                                            **self._maskable)) for part in parts]
        self._used += needed
        return self._lanes[sizes]

    def next(self, sizes: Sizes) -> Lane:
        """Returns the lane whose turn it is; all members call in one order."""
        turn = self._turns[sizes] = (self._turns.get(sizes, -1) + 1) % IN_FLIGHT
        return self._lanes[sizes][turn]

    def exchanges(self) -> list[Exchange]:
        """Returns all exchanges, behind them the keeper of their mask."""
        return [lane.exchange for lanes in self._lanes.values() for lane in lanes] + ([self.keeper] if self.keeper else [])

    def unmask(self, rank: int | None) -> None:
        """Takes a rank back, or all without one. The first lanes are next, since who was away has taken fewer turns."""
        for exchange in self.exchanges():
            exchange.unmask(rank)
        self._turns.clear()

    def free(self) -> None:
        """Frees all. Collective over all PEs."""
        for exchange in self.exchanges():
            exchange.free()
        self._lanes.clear()
        if self._memory is not None:
            _core.free(FUNCTION, self._memory)
            self._memory = None
