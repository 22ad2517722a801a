# SPDX-License-Identifier: BSD-3-Clause
"""DeepEP's calls for many tokens, as in training and prefill: rows by source rank, in memory for what arrives."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from railshmem.deep_ep import _streams
from railshmem.deep_ep._config import Config
from railshmem.deep_ep._event import EventOverlap
from railshmem.deep_ep._throughput import FUNCTION, Arrived, Route, Throughput
from railshmem.moe import _checks

_LAYOUT, _DISPATCH, _COMBINE = (f"{FUNCTION}.{name}" for name in ("get_dispatch_layout", "dispatch", "combine"))


class RouteHandle(tuple):
    """What dispatch() returns for combine() and later dispatches: DeepEP's tuple, in which what has no tensor here is None.

    Six elements where all ranks are on one node. [0] [ranks, ranks], int32: tokens from ranks up to the row's one to the column's rank.
    [3] [rows], int32: the number of each row's token at its rank. [4] [tokens, ranks], bool: is_token_in_rank.

    Ten between nodes. [0] is_token_in_rank. [6] [ranks], int32: rows of ranks up to this one.
    """

    route: Route


class ManyTokens:
    """The part of Buffer for many tokens."""

    num_sms: int
    group_size: int
    rank: int
    _throughput: Throughput
    _require: Callable[[str], Any]
    _run: Callable[..., EventOverlap]

    def get_dispatch_layout(self, topk_idx: torch.Tensor, num_experts: int, previous_event: EventOverlap | None = None,
                            async_finish: bool = False, allocate_on_comm_stream: bool = False) -> \
            tuple[torch.Tensor, torch.Tensor | None, torch.Tensor, torch.Tensor, EventOverlap]:
        """Returns (num_tokens_per_rank, num_tokens_per_rdma_rank, num_tokens_per_expert, is_token_in_rank, event) for the experts of this
        rank's tokens.

        topk_idx: [tokens, top-k], int64; -1 is no expert. num_tokens_per_rank: [ranks], int32. num_tokens_per_rdma_rank: [nodes], int32;
        None where all ranks are on one node. num_tokens_per_expert: [num_experts], int32. is_token_in_rank: [tokens, ranks], bool. Local.
        previous_event: the call comes behind it. With async_finish the call goes
        into the buffer's stream. allocate_on_comm_stream changes nothing. Raises ValueError for arguments that do not fit.
        """
        self._require(_LAYOUT)
        if num_experts < 1 or num_experts % self.group_size:
            raise ValueError(f"{_LAYOUT}: num_experts is {num_experts}, which {self.group_size} ranks do not divide")
        if topk_idx.dim() != 2:
            raise ValueError(f"{_LAYOUT}: topk_idx has {topk_idx.dim()} dimensions; it must be [tokens, top-k]")
        choice, event = self._behind(lambda: self._throughput.choice(_LAYOUT, topk_idx.long(), num_experts), previous_event, async_finish,
                                     (topk_idx,))
        return choice.per_rank, choice.per_node, choice.per_expert, choice.in_rank, event

    def dispatch(self, x: torch.Tensor | tuple[torch.Tensor, torch.Tensor], handle: RouteHandle | None = None,
                 num_tokens_per_rank: torch.Tensor | None = None, num_tokens_per_rdma_rank: torch.Tensor | None = None,
                 is_token_in_rank: torch.Tensor | None = None, num_tokens_per_expert: torch.Tensor | None = None,
                 topk_idx: torch.Tensor | None = None, topk_weights: torch.Tensor | None = None, expert_alignment: int = 1,
                 num_worst_tokens: int = 0, config: Config | None = None, previous_event: EventOverlap | None = None,
                 async_finish: bool = False, allocate_on_comm_stream: bool = False) -> tuple:
        """Sends each token once to each rank that has experts of it. Returns (recv_x, recv_topk_idx, recv_topk_weights,
        num_recv_tokens_per_expert_list, handle, event).

        x: [tokens, hidden], bfloat16; or a pair of float8_e4m3fn and scales, float32 [tokens, hidden / 128]. is_token_in_rank and
        num_tokens_per_expert: of get_dispatch_layout(). topk_idx and topk_weights, [tokens, top-k]: travel with the tokens.
        recv_x: [rows, hidden], or a pair: rows of rank 0's tokens in their order, then rank 1's, and so on. recv_topk_idx: numbers of
        experts among this rank's, -1 for others'; recv_topk_weights: 0 for others'. The list has the rows of each expert of this rank,
        rounded up to multiples of expert_alignment, on the CPU, which waits for it.

        num_worst_tokens: room for so many rows and no wait of the CPU, so a graph may capture it; at least ranks * tokens of any rank, and
        equal on all ranks. Then the list is empty, and recv_topk_idx of rows behind the last one is -1.
        handle: of an earlier dispatch, whose tokens' routes these take; only x and config go with it, and only recv_x comes back.

        num_tokens_per_rank and num_tokens_per_rdma_rank follow from is_token_in_rank and are not read; the latter must be None where all
        ranks are on one node. config: num_sms limits the multiprocessors. previous_event, async_finish and allocate_on_comm_stream: as for get_dispatch_layout(); x and topk stay as
        they are until the event. Collective over the group. Raises ValueError and TypeError for arguments that do not fit, also where
        num_nvl_bytes is too small.
        """
        self._require(_DISPATCH)
        values, scales = x if isinstance(x, tuple) else (x, None)
        self._check_tokens(_DISPATCH, values, scales)
        num_sms = self._sms_of(config)
        if handle is not None:
            self._check_handle(_DISPATCH, handle)
            if topk_idx is not None or topk_weights is not None:
                raise ValueError(f"{_DISPATCH}: handle and topk_idx or topk_weights are given; a handle stands for tokens that travel alone")
            _checks.shape(_DISPATCH, "x", values, (handle.route.tokens, values.shape[1]))
            received, event = self._behind(lambda: self._sent(values, scales, (), handle.route, num_sms)[0], previous_event, async_finish,
                                           (values, scales, handle))
            return received, None, None, None, None, event
        for name, given in (("is_token_in_rank", is_token_in_rank), ("num_tokens_per_expert", num_tokens_per_expert)):
            if given is None:
                raise ValueError(f"{_DISPATCH}: {name} is missing; pass what get_dispatch_layout() returns, or a handle")
        if num_tokens_per_rdma_rank is not None and self._throughput.nodes is None:
            raise ValueError(f"{_DISPATCH}: num_tokens_per_rdma_rank is given; the ranks are on one node")
        _checks.shape(_DISPATCH, "is_token_in_rank", is_token_in_rank, (values.shape[0], self.group_size))
        if is_token_in_rank.dtype is not torch.bool:
            raise TypeError(f"{_DISPATCH}: is_token_in_rank has elements of {is_token_in_rank.dtype}; they must be of torch.bool")
        if num_tokens_per_expert.dim() != 1 or num_tokens_per_expert.shape[0] % self.group_size:
            raise ValueError(f"{_DISPATCH}: num_tokens_per_expert has the shape {list(num_tokens_per_expert.shape)}; it must be [experts], a "
                             f"multiple of {self.group_size}")
        if (topk_idx is None) != (topk_weights is None):
            raise ValueError(f"{_DISPATCH}: one of topk_idx and topk_weights is missing; pass both or none")
        if topk_idx is not None:
            _checks.shape(_DISPATCH, "topk_weights", topk_weights, topk_idx.shape)
            _checks.shape(_DISPATCH, "topk_idx", topk_idx, (values.shape[0], topk_idx.shape[-1]))
            if topk_idx.shape[1] > _checks.MOST_TOPK:
                raise ValueError(f"{_DISPATCH}: topk_idx has {topk_idx.shape[1]} experts of a token; it may have {_checks.MOST_TOPK}")
        if expert_alignment < 1:
            raise ValueError(f"{_DISPATCH}: expert_alignment is {expert_alignment}; it must be 1 or more")
        if num_worst_tokens and num_worst_tokens < self.group_size * values.shape[0]:
            raise ValueError(f"{_DISPATCH}: num_worst_tokens is {num_worst_tokens}; {self.group_size} ranks with {values.shape[0]} tokens, as here, "
                             f"may send {self.group_size * values.shape[0]}")

        def send() -> tuple:
            route = self._throughput.route(_DISPATCH, is_token_in_rank, num_tokens_per_expert, num_worst_tokens)
            per_expert = [-(-named // expert_alignment) * expert_alignment for named in route.named]
            topk = () if topk_idx is None else (topk_idx.int(), topk_weights.float().view(torch.int32))
            found, arrived, words = self._sent(values, scales, topk, route, num_sms)
            route.sources = arrived.sources
            if self._throughput.nodes is None:
                made = RouteHandle((route.prefixes, None, None, arrived.sources, is_token_in_rank, None))
            else:
                made = RouteHandle((is_token_in_rank, *[None] * 5, route.begins[1:], *[None] * 3))
            made.route = route
            if topk_idx is None:
                return found, None, None, per_expert, made
            local = num_tokens_per_expert.shape[0] // self.group_size
            return found, *self._topk_here(route, *words, local, num_worst_tokens != 0), per_expert, made

        result, event = self._behind(send, previous_event, async_finish, (values, scales, is_token_in_rank, num_tokens_per_expert, topk_idx, topk_weights))
        return *result, event

    def combine(self, x: torch.Tensor, handle: RouteHandle, topk_weights: torch.Tensor | None = None,
                bias: torch.Tensor | tuple | None = None, config: Config | None = None, previous_event: EventOverlap | None = None,
                async_finish: bool = False, allocate_on_comm_stream: bool = False) -> \
            tuple[torch.Tensor, torch.Tensor | None, EventOverlap]:
        """Brings rows back to their tokens' ranks and adds them up. Returns (combined_x, combined_topk_weights, event).

        x: [rows, hidden], bfloat16, in the places of the rows that came with the handle's dispatch. topk_weights: [rows, top-k], float32,
        added up too. bias: a tensor or a pair of [tokens, hidden], added to the rounded sums. combined_x: [tokens, hidden], bfloat16:
        sums of the ranks' rows, without weights, made in float32 in the order of ranks and rounded once.

        handle: of any dispatch. The other arguments, and what is raised: as for dispatch(). Collective over the group.
        """
        self._require(_COMBINE)
        self._check_handle(_COMBINE, handle)
        route = handle.route
        self._check_tokens(_COMBINE, x, None)
        _checks.shape(_COMBINE, "x", x, (route.received, x.shape[1]))
        if topk_weights is not None:
            _checks.shape(_COMBINE, "topk_weights", topk_weights, (route.received, topk_weights.shape[-1]))
        biases = () if bias is None else bias if isinstance(bias, tuple) else (bias,)
        num_sms = self._sms_of(config)

        def send() -> tuple[torch.Tensor, torch.Tensor | None]:
            out = self._throughput.combine(_COMBINE, x, route, num_sms)
            for one in biases:
                if one is not None:
                    out.add_(one)
            if topk_weights is None:
                return out, None
            home = self._throughput.swap(route.rows().back(topk_weights.float(), self.group_size, route.max_tokens))
            return out, home[:, :route.tokens].sum(0)

        (out, weights), event = self._behind(send, previous_event, async_finish, (x, topk_weights, bias, handle))
        return out, weights, event

    def _sent(self, values: torch.Tensor, scales: torch.Tensor | None, topk: tuple[torch.Tensor, ...], route: Route, num_sms: int) -> \
            tuple[torch.Tensor | tuple[torch.Tensor, torch.Tensor], Arrived, list[torch.Tensor]]:
        """Returns the rows as x was given, what arrived, and what travelled as topk. Scales and topk travel as words."""
        parts = [*(() if scales is None else (scales.contiguous().view(torch.int32),)), *topk]
        words = None if not parts else torch.cat(parts, 1) if len(parts) > 1 else parts[0].contiguous()
        arrived = self._throughput.dispatch(_DISPATCH, values, words, route, num_sms)
        if words is None:
            return arrived.rows, arrived, []
        found = list(arrived.words.split([part.shape[1] for part in parts], 1))
        if scales is None:
            return arrived.rows, arrived, found
        return (arrived.rows, found[0].contiguous().view(torch.float32)), arrived, found[1:]

    def _topk_here(self, route: Route, chosen: torch.Tensor, weights: torch.Tensor, local: int, worst: bool) -> tuple[torch.Tensor, torch.Tensor]:
        """Returns the numbers of experts among this rank's, and their weights. worst: not all rows have come."""
        here = torch.div(chosen, local, rounding_mode="floor") == self.rank
        if worst:
            here &= route.rows().valid[:, None]
        return torch.where(here, chosen - self.rank * local, -1).long(), torch.where(here, weights.contiguous().view(torch.float32), 0.0)

    def _behind(self, call: Callable[[], Any], previous_event: EventOverlap | None, async_finish: bool, tensors: tuple) -> tuple[Any, EventOverlap]:
        """Makes the call behind the event. Returns its result, and the event behind it."""
        results = []

        def run() -> None:
            if previous_event is not None and previous_event.event is not None:
                previous_event.current_stream_wait()
            results.append(call())
            if async_finish:  # here the buffer's stream is the current one
                _streams.share(_tensors_in(tensors))

        event = self._run(run, async_finish, tensors)
        if async_finish:
            _streams.share(_tensors_in(results[0]))
        return results[0], event

    def _sms_of(self, config: Config | None) -> int:
        return self.num_sms if config is None else config.num_sms

    def _check_tokens(self, function: str, x: torch.Tensor, scales: torch.Tensor | None) -> None:
        if not isinstance(x, torch.Tensor) or x.dim() != 2:
            raise TypeError(f"{function}: x must be a tensor of two dimensions, or for dispatch a pair of such and their scales")
        if scales is not None:
            _checks.shape(function, "the scales of x", scales, (x.shape[0], x.shape[1] // _checks.CHANNELS_OF_SCALE))

    @staticmethod
    def _check_handle(function: str, handle: object) -> None:
        if not isinstance(handle, RouteHandle):
            raise TypeError(f"{function}: handle is {type(handle).__name__}; pass what dispatch() returned")


def _tensors_in(value: object) -> list[torch.Tensor]:
    """Returns all tensors of nested tuples and lists, and those of the routes of handles."""
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, RouteHandle):
        return [*value.route.tensors(), *_tensors_in(tuple(value))]
    return [tensor for one in value for tensor in _tensors_in(one)] if isinstance(value, (tuple, list)) else []
