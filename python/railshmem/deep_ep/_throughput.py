# SPDX-License-Identifier: BSD-3-Clause
"""Calls for many tokens: a rank gets each token once, in rows by source rank, whatever the experts.

To the library, ranks are experts here: an exchange of as many experts as ranks, one on each, brings a token once to each rank that
it names, and sums up what comes back.
"""
from __future__ import annotations

import torch

from railshmem import Team, _core
from railshmem.deep_ep import _streams
from railshmem.deep_ep._layout import Rows
from railshmem.moe import Exchange, Layout, _checks, _memory
from railshmem.torch import all_gather, all_to_all

FUNCTION = "railshmem.deep_ep.Buffer"
MOST_RANKS = _checks.MOST_TOPK
_ALIGN = 256


def nbytes_of(size: int, hidden: int, max_tokens: int, fp8: bool) -> int:
    """Returns the symmetric memory that calls of these sizes take, in a group of `size` ranks."""
    one = _core.moe_workspace_of(FUNCTION, size, size, size, hidden, max_tokens, False, fp8, True, 0)
    return (one + _ALIGN - 1) // _ALIGN * _ALIGN


class Route:
    """Which tokens go where: what a dispatch leaves for its combine, and for later dispatches."""

    def __init__(self, in_rank: torch.Tensor, max_tokens: int):
        self.in_rank, self.tokens, self.max_tokens = in_rank, in_rank.shape[0], max_tokens
        #: [tokens, ranks]: the ranks as experts
        self.chosen = torch.where(in_rank, in_rank.new_ones(in_rank.shape, dtype=torch.int64).cumsum(1) - 1, -1)
        self.ones = in_rank.new_ones(in_rank.shape, dtype=torch.float32)  #: weights of the sums
        self.received = 0  #: rows here, or as many as there is room for
        self.rows: Rows | None = None


class Lane:
    """An exchange, and the route of its last dispatch."""

    def __init__(self, exchange: Exchange):
        self.exchange, self.combines = exchange, 0
        self.route: Route | None = None

    def may_combine(self, route: Route) -> bool:
        return self.route is route and self.combines < _checks.MOST_COMBINES


class Throughput:
    """The exchanges of a buffer for many tokens, in symmetric memory of their own."""

    def __init__(self, team: Team, nbytes: int, device: torch.device):
        """Takes nbytes of symmetric memory. Collective over all PEs."""
        self._team, self._size, self._me, self._nbytes, self._device = team, team.n_pes(), team.my_pe(), nbytes, device
        self._memory = _memory.symmetric(FUNCTION, nbytes, f"{nbytes} bytes of {FUNCTION}", device) if nbytes else None
        self._used = 0
        self._lanes: dict[tuple[int, bool, int], Lane] = {}  # by hidden, fp8, multiprocessors

    def gather(self, mine: torch.Tensor) -> torch.Tensor:
        """Returns everybody's tensors of one shape, [ranks, ...]."""
        everybody = _memory.empty((self._size, *mine.shape), dtype=mine.dtype, device=self._device)
        all_gather(everybody, mine, team=self._team)
        return everybody

    def swap(self, parts: torch.Tensor) -> torch.Tensor:
        """Gives part k to rank k; returns what the ranks gave to this one, [ranks, ...]."""
        theirs = _memory.empty(parts.shape, dtype=parts.dtype, device=self._device)
        all_to_all(theirs, parts, team=self._team)
        return theirs

    def dispatch(self, function: str, x: torch.Tensor, scales: torch.Tensor | None, route: Route, num_sms: int) -> \
            tuple[torch.Tensor, torch.Tensor | None, Layout]:
        """Returns the rows of a route, their scales, and where they came from. Collective over the team."""
        lane = self._lane(function, x.shape[1], scales is not None, route.max_tokens, num_sms)
        exchange = lane.exchange
        room = exchange.room(layout=True, rows=max(route.received, 1))
        exchange.dispatch(x, route.chosen, x_scales=scales, into=room)
        lane.route, lane.combines = route, 0
        found = None if scales is None else room.scales[0, :route.received].contiguous()
        return room.rows[0, :route.received], found, room.layout

    def combine(self, function: str, x: torch.Tensor, route: Route, num_sms: int) -> torch.Tensor:
        """Returns the sums of the rows of each token of a route. Collective over the team."""
        lane = next((lane for (hidden, _, _), lane in self._lanes.items() if hidden == x.shape[1] and lane.may_combine(route)), None)
        if lane is None:  # other routes came since: this one goes first once more, with any data
            anything = _memory.empty((route.tokens, x.shape[1]), dtype=torch.bfloat16, device=self._device)
            self.dispatch(function, anything, None, route, num_sms)
            lane = self._lanes[(x.shape[1], False, num_sms)]
        lane.combines += 1
        rows = x if x.shape[0] else _memory.empty((1, x.shape[1]), dtype=torch.bfloat16, device=self._device)
        return lane.exchange.combine(rows.unsqueeze(0), route.ones)

    def _lane(self, function: str, hidden: int, fp8: bool, max_tokens: int, num_sms: int) -> Lane:
        """Makes an exchange where there is none that is large enough; the CPU waits then."""
        key = hidden, fp8, num_sms
        lane = self._lanes.get(key)
        if lane is None or lane.exchange.max_tokens < max_tokens:
            if _streams.is_captured():
                raise RuntimeError(f"{function}: a graph cannot capture the first call for {max_tokens} tokens of {hidden} channels, which "
                                   "makes the CPU wait; make one before")
            lane = self._lanes[key] = Lane(self._make(function, hidden, fp8, max_tokens, num_sms))
        return lane

    def _make(self, function: str, hidden: int, fp8: bool, max_tokens: int, num_sms: int) -> Exchange:
        _checks.sizes(self._size, self._size, self._size, hidden, max_tokens, torch.bfloat16, fp8, "float", num_sms)
        most = 1 << (max_tokens - 1).bit_length()  # so that it grows seldom
        for tokens in (most, max_tokens):
            needed = nbytes_of(self._size, hidden, tokens, fp8)
            if self._used + needed > self._nbytes:
                self._forget()
            if needed <= self._nbytes:
                break
        else:
            raise ValueError(f"{function}: num_nvl_bytes is {self._nbytes}, and {max_tokens} tokens of {hidden} channels"
                             f"{' of 8 bits' if fp8 else ''} of each rank take {needed}; see Config.get_nvl_buffer_size_hint()")
        part = self._memory[self._used:self._used + needed]
        self._used += needed
        return Exchange(self._size, self._size, hidden, tokens, fp8=fp8, x_scaled=fp8, late_weights=True, team=self._team, workspace=part,
                        multiprocessors=num_sms)

    def _forget(self) -> None:
        """Frees the exchanges, so that others get their memory. Collective over the team; the CPU waits."""
        for lane in self._lanes.values():
            lane.exchange.free()
        self._lanes.clear()
        self._used = 0
        self._team.sync()  # nobody writes to this memory any more

    def free(self) -> None:
        """Frees all. Collective over all PEs."""
        for lane in self._lanes.values():
            lane.exchange.free()
        self._lanes.clear()
        if self._memory is not None:
            _core.free(FUNCTION, self._memory)
            self._memory = None
