# SPDX-License-Identifier: BSD-3-Clause
"""Calls for many tokens: a rank gets each token once, in rows by source rank, whatever the experts."""
from __future__ import annotations

from typing import NamedTuple

import torch

from railshmem import Team, _core
from railshmem.deep_ep import _nodes, _streams
from railshmem.deep_ep._layout import Rows
from railshmem.moe import _checks, _memory
from railshmem.torch import all_to_all

FUNCTION = "railshmem.deep_ep.Buffer"
_ALIGN = 256
_LEAST_HIDDEN = 8


def words_of(hidden: int) -> int:
    """Words that may travel with a token: scales, and number and weight of the experts that it names."""
    return hidden // _checks.CHANNELS_OF_SCALE + 2 * _checks.MOST_TOPK


def nbytes_of(size: int, hidden: int, max_tokens: int, between_nodes: bool = False) -> int:
    """Returns the symmetric memory that calls of these sizes take, in a group of `size` ranks."""
    return _aligned(_core.moe_bulk_workspace_of(FUNCTION, size, between_nodes, hidden, max_tokens, words_of(hidden)))


def _aligned(nbytes: int) -> int:
    return (nbytes + _ALIGN - 1) // _ALIGN * _ALIGN


class Route:
    """Which tokens go where. Of a dispatch, for its combine and later dispatches."""

    def __init__(self, numbers: torch.Tensor, begins: torch.Tensor, prefixes: torch.Tensor, received: int, max_tokens: int,
                 named: list[int]):
        """received: rows here, or more. max_tokens: of any rank, or more. named: how often each expert here is."""
        self.tokens, self.received, self.max_tokens, self.named = numbers.shape[0], received, max_tokens, named
        self.numbers = numbers  #: [tokens, ranks]
        self.begins = begins  #: [ranks + 1]
        self.prefixes = prefixes  #: [ranks, ranks]: tokens from ranks up to the row's one to the column's rank
        self.sources: torch.Tensor | None = None  #: of the rows, since the dispatch
        self._rows: Rows | None = None

    def tensors(self) -> tuple[torch.Tensor, ...]:
        """Returns what calls read."""
        return self.numbers, self.begins, self.prefixes, *(() if self.sources is None else (self.sources,))

    def rows(self) -> Rows:
        """Returns where the rows came from."""
        if self._rows is None:
            self._rows = Rows(self.begins, self.sources, self.received)
        return self._rows


class Choice(NamedTuple):
    """Where the tokens of this rank go."""

    per_rank: torch.Tensor  #: [ranks], int32: tokens for each rank
    per_node: torch.Tensor | None  #: [nodes], int32: tokens for each node; None where there is one
    per_expert: torch.Tensor  #: [experts], int32: how often each expert is named
    in_rank: torch.Tensor  #: [tokens, ranks], bool: whether a token goes to a rank


class Arrived(NamedTuple):
    """What a dispatch brings."""

    rows: torch.Tensor  #: [received, hidden]
    words: torch.Tensor | None  #: [received, words], int32
    sources: torch.Tensor  #: [received], int32: the number of each row's token at its rank


class Throughput:
    """Handles of the library for many tokens, in symmetric memory of a buffer."""

    def __init__(self, team: Team, num_nvl_bytes: int, num_rdma_bytes: int, device: torch.device):
        """Takes symmetric memory: between nodes num_rdma_bytes, too. Collective over all PEs."""
        self._team, self._size, self._device = team, team.n_pes(), device
        #: [ranks, nodes]: who is where; None where all ranks are on one node.
        self.nodes = _nodes.of_ranks(FUNCTION, team, device)
        self._nbytes, self._name = num_nvl_bytes, "num_nvl_bytes"
        if self.nodes is not None and num_rdma_bytes:
            self._nbytes, self._name = num_nvl_bytes + num_rdma_bytes, "num_nvl_bytes + num_rdma_bytes"
        nbytes = self._nbytes
        self._memory = _memory.symmetric(FUNCTION, nbytes, f"{nbytes} bytes of {FUNCTION}", device) if nbytes else None
        self._used = 0
        self._handles: dict[tuple[int, int], tuple[int, _core.MoeBulk]] = {}  # by hidden and multiprocessors: max tokens, handle
        self._outgrown: list[_core.MoeBulk] = []
        # Counts cross before anybody knows how many tokens there are, so they have a handle of their own, without room for rows.
        counting = _core.moe_bulk_workspace(FUNCTION, team, _LEAST_HIDDEN, 1, 0)
        self._counting = _memory.symmetric(FUNCTION, counting, f"{counting} bytes of {FUNCTION}", device)
        self._counter = _core.MoeBulk(FUNCTION, team, _LEAST_HIDDEN, 1, 0, 0, self._counting)
        self._on_host: dict[int, torch.Tensor] = {}  # counts that the GPU writes, by their number

    def choice(self, function: str, topk_idx: torch.Tensor, experts: int) -> Choice:
        """topk_idx: [tokens, top-k], int64; -1 is no expert. Local."""
        per_rank, per_expert, in_rank = self._room(self._size), self._room(experts), self._room(topk_idx.shape[0], self._size, dtype=torch.bool)
        self._counter.count(function, topk_idx.contiguous(), topk_idx.shape[1], in_rank, per_rank, per_expert)
        per_node = None if self.nodes is None else (in_rank.float() @ self.nodes > 0).sum(0).int()
        return Choice(per_rank, per_node, per_expert, in_rank)

    def route(self, function: str, in_rank: torch.Tensor, per_expert: torch.Tensor, worst: int) -> Route:
        """in_rank and per_expert: of a choice. worst: room for so many rows; else the CPU waits for their number. Collective over the team."""
        numbers, begins, prefixes = self._room(*in_rank.shape), self._room(self._size + 1), self._room(self._size, self._size)
        on_host = None if worst else self._counts(3 + per_expert.shape[0] // self._size)
        self._counter.route(function, in_rank.contiguous(), per_expert.int().contiguous(), numbers, begins, prefixes, on_host)
        if worst:
            return Route(numbers, begins, prefixes, worst, -(-worst // self._size), [])
        _streams.finish()
        _, received, most, *named = on_host.tolist()
        return Route(numbers, begins, prefixes, received, max(1, most), named)

    def _counts(self, number: int) -> torch.Tensor:
        if number not in self._on_host:
            self._on_host[number] = _memory.counts(number)
        return self._on_host[number]

    def _room(self, *shape: int, dtype: torch.dtype = torch.int32) -> torch.Tensor:
        return _memory.empty(shape, dtype=dtype, device=self._device)

    def swap(self, parts: torch.Tensor) -> torch.Tensor:
        """Gives part k to rank k; returns what the ranks gave to this one, [ranks, ...]."""
        theirs = _memory.empty(parts.shape, dtype=parts.dtype, device=self._device)
        all_to_all(theirs, parts, team=self._team)
        return theirs

    def dispatch(self, function: str, x: torch.Tensor, words: torch.Tensor | None, route: Route, num_sms: int) -> Arrived:
        """words: [tokens, words], int32. Collective over the team."""
        handle = self._handle(function, x.shape[1], route.max_tokens, num_sms)
        arrived = Arrived(self._room(route.received, x.shape[1], dtype=x.dtype),
                          None if words is None else self._room(route.received, words.shape[1]), self._room(route.received))
        handle.dispatch(function, route.numbers, route.begins, x, words, 0 if words is None else words.shape[1], arrived.rows,
                        arrived.words, arrived.sources)
        return arrived

    def combine(self, function: str, x: torch.Tensor, route: Route, num_sms: int) -> torch.Tensor:
        """Returns the sums of the rows of each token of a route. Collective over the team."""
        handle = self._handle(function, x.shape[1], route.max_tokens, num_sms)
        out = self._room(route.tokens, x.shape[1], dtype=torch.bfloat16)
        handle.combine(function, route.numbers, route.begins, x, out)
        return out

    def _handle(self, function: str, hidden: int, max_tokens: int, num_sms: int) -> _core.MoeBulk:
        """Makes a handle if none is large enough; the CPU waits then."""
        most, handle = self._handles.get((hidden, num_sms), (0, None))
        if most >= max_tokens:
            return handle
        if _streams.is_captured():
            raise RuntimeError(f"{function}: a graph cannot capture the first call for {max_tokens} tokens of {hidden} channels, which makes "
                               "the CPU wait; make one before")
        enlarged = 1 << (max_tokens - 1).bit_length()  # so that it grows seldom
        most = next((tokens for tokens in (enlarged, max_tokens) if self._needed(hidden, tokens) <= self._nbytes), None)
        if most is None:
            raise ValueError(f"{function}: {self._name} is {self._nbytes}, and {max_tokens} tokens of {hidden} channels of each rank take "
                             f"{self._needed(hidden, max_tokens)}; see Config.get_nvl_buffer_size_hint()")
        needed = self._needed(hidden, most)
        if self._used + needed > self._nbytes:
            self._forget()
        part = self._memory[self._used:self._used + needed]
        self._used += needed
        if (hidden, num_sms) in self._handles:
            self._outgrown.append(self._handles[hidden, num_sms][1])  # its last calls may be under way
        handle = _core.MoeBulk(function, self._team, hidden, most, words_of(hidden), num_sms, part)
        self._handles[hidden, num_sms] = most, handle
        return handle

    def _needed(self, hidden: int, max_tokens: int) -> int:
        return _aligned(_core.moe_bulk_workspace(FUNCTION, self._team, hidden, max_tokens, words_of(hidden)))

    def _forget(self) -> None:
        """Frees the handles, so that others get their memory. Collective over the team; the CPU waits."""
        self._destroy()
        self._used = 0
        self._team.sync()  # nobody writes to this memory any more

    def _destroy(self) -> None:
        _memory.settle(self._device)
        for handle in [*self._outgrown, *(handle for _, handle in self._handles.values())]:
            handle.destroy(FUNCTION)
        self._handles.clear()
        self._outgrown.clear()

    def free(self) -> None:
        """Frees all. Collective over all PEs."""
        self._destroy()
        self._counter.destroy(FUNCTION)
        _core.free(FUNCTION, self._counting)
        self._counting = None
        if self._memory is not None:
            _core.free(FUNCTION, self._memory)
            self._memory = None
