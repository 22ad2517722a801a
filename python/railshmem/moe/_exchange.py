# SPDX-License-Identifier: BSD-3-Clause
"""Dispatch and combine of one layer of experts."""
from __future__ import annotations

from typing import Any, NamedTuple

import torch

from railshmem import Team, _core
from railshmem._names import name_of
from railshmem.moe import _checks, _memory
from railshmem.moe._masks import Masks

_MAKE, _DISPATCH, _COMBINE, _COMPLETE = (f"railshmem.moe.Exchange{name}" for name in ("", ".dispatch", ".combine", ".complete"))


class Layout(NamedTuple):
    """Where rows came from."""

    totals: torch.Tensor  #: [local experts], int32: rows of each expert
    ranges: torch.Tensor  #: [local experts, size], int64: the first row from each member * 2^32 + how many came from it
    sources: torch.Tensor  #: [local experts, capacity], int32: the number of each row's token at its member


class Received(NamedTuple):
    """What dispatch() brings. An expert's rows lie one behind the other: those of member 0's tokens, then member 1's, and so on.

    Memory behind an expert's last row has no meaning.
    """

    rows: torch.Tensor  #: [local experts, capacity, hidden], of dtype, or torch.float8_e4m3fn with fp8
    #: With fp8 [local experts, capacity, hidden // 128], float32; a value is row * scale. Of the type ue8m0 [.., hidden // 512],
    #: int32. An expert's rows lie side by side in memory.
    scales: torch.Tensor | None
    counts: torch.Tensor  #: [local experts, size], int32: how many rows came from each member
    layout: Layout | None = None  #: with layout=True


class Exchange(Masks):
    """Brings tokens to their experts and back. One dispatch at a time, with its combine; for one stream at a time.

    Member r of the team has the experts from r * experts / size on. `size`, `rank`, `local_experts`, `capacity` (rows that an
    expert has room for: size * max_tokens), `device` and what the constructor was given are attributes.

    All members make the calls of an exchange in one order. Nothing is freed by the garbage collector.
    """

    def __init__(self, experts: int, topk: int, hidden: int, max_tokens: int, dtype: torch.dtype = torch.bfloat16,
                 fp8: bool = False, *, scale_type: str = "float", x_scaled: bool = False, late_weights: bool = False,
                 team: Team | None = None, group: Any = None, workspace: torch.Tensor | None = None, multiprocessors: int = 0,
                 maskable: bool = False, mask_after_ms: int = 0, mask_of: Exchange | None = None, zeroed: bool = False):
        """Makes an exchange for `experts` experts of all members together (a multiple of size, at most 1024).

        topk: experts of a token at most, 1 to 32. hidden: channels of a token, a multiple of 8, of 128 with fp8; at most
        16384. max_tokens: of a member in one dispatch. dtype: of tokens and results, torch.bfloat16 or torch.float16. fp8:
        experts get 8-bit floats with a scale for each 128 channels. scale_type: "float", the largest of the channels / 448;
        "power", the next power of two; or "ue8m0", that power's exponent + 127 in a byte, four in an int32 from the lowest
        byte on, for which hidden is a multiple of 512. x_scaled: dispatch() is given 8-bit floats and their scales, which
        travel as they are; with fp8 and scales of the type "float". late_weights: combine() is given the weights instead of
        dispatch(), which costs it a message between members. team: who takes part, all PEs without it; or group, a
        process group of torch.distributed, of which the exchange makes a team of its own. multiprocessors: that a kernel
        occupies at most; 0 is all, and this alone may differ between members.

        maskable: the exchange can go on without members, see mask(). mask_after_ms: with maskable, a wait of so many
        milliseconds for a member that does not wait itself masks it; less than SHMEM_WAIT_TIMEOUT; 0: no wait does. mask_of:
        with maskable, an exchange of the same members that is maskable, too, and freed later, whose mask this one shares.

        workspace: symmetric CUDA memory of workspace_nbytes() bytes, at equal places on all members, for this exchange
        alone; then the call is collective over the team. Without it the exchange takes memory of the symmetric heap: the call
        is then collective over all PEs of the job, each for its team. zeroed: the workspace, which is passed, was set to 0
        on all members, and they have met since; then the call is local.

        Raises ValueError and TypeError for arguments that do not fit; MemoryError where the heap is full; FileNotFoundError
        where there is no librailshmem-moe.so; RuntimeError where the heap is not in GPU memory, a team with maskable is on
        several nodes, or GPUs of one node do not map each other (with a message on standard error).
        """
        if team is not None and group is not None:
            raise ValueError(f"{_MAKE}: team and group are given; pass one of them")
        self._group_team = None if group is None else Team.from_group(group)
        team = self._group_team or team or Team.world()
        self.size, self.rank = team.n_pes(), team.my_pe()
        _checks.sizes(self.size, experts, topk, hidden, max_tokens, dtype, fp8, scale_type, multiprocessors)
        self.experts, self.topk, self.hidden, self.max_tokens = experts, topk, hidden, max_tokens
        self.dtype, self.fp8, self.late_weights, self.multiprocessors = dtype, bool(fp8), bool(late_weights), multiprocessors
        self.scale_type, self.x_scaled = scale_type, bool(x_scaled)
        _checks.masks(maskable, mask_after_ms, mask_of)
        if mask_of is not None and not isinstance(mask_of, Exchange):
            raise TypeError(f"{_MAKE}: mask_of is {type(mask_of).__name__}; it must be an Exchange")
        if zeroed and workspace is None:
            raise ValueError(f"{_MAKE}: zeroed is given without workspace; it says that the workspace passed is 0")
        self.maskable, self.mask_after_ms, self._mask_of = bool(maskable), mask_after_ms, mask_of
        if x_scaled and (not fp8 or scale_type != "float"):
            raise ValueError(f"{_MAKE}: x_scaled is given without fp8=True and scale_type='float'")
        self.local_experts, self.capacity = experts // self.size, self.size * max_tokens
        self.device = _memory.take_gpu(_MAKE)
        nbytes = _core.moe_workspace(_MAKE, team, *self._sizes())
        self._owned = None
        if workspace is None:
            self._owned = workspace = _memory.symmetric(_MAKE, nbytes, name_of(f"a workspace of {_MAKE}", depth=1), self.device)
        self._handle = _core.MoeHandle(_MAKE, team, *self._sizes(), self.x_scaled, multiprocessors, workspace, self.maskable,
                                       mask_after_ms, mask_of and mask_of._handle, bool(zeroed))
        self._workspace = workspace
        self._tokens = None  # of the last dispatch
        self._combines = 0  # of the last dispatch
        self._sent: tuple | None = None  # tensors of the call whose receiving half is to come

    def __repr__(self) -> str:
        return (f"<railshmem.moe.Exchange of {self.experts} experts on {self.size} PEs, {self.max_tokens} tokens of {self.hidden} "
                f"{self.dtype}{' as fp8' if self.fp8 else ''}, top {self.topk}>")

    @staticmethod
    def workspace_nbytes(experts: int, topk: int, hidden: int, max_tokens: int, dtype: torch.dtype = torch.bfloat16,
                         fp8: bool = False, *, scale_type: str = "float", late_weights: bool = False,
                         team: Team | None = None) -> int:
        """Returns how many bytes of symmetric memory an exchange of these sizes needs on each member. Local.

        Raises as the constructor.
        """
        team = team or Team.world()
        _checks.sizes(team.n_pes(), experts, topk, hidden, max_tokens, dtype, fp8, scale_type, 0)
        return _core.moe_workspace(_MAKE, team, experts, topk, hidden, max_tokens, dtype is torch.float16, bool(fp8),
                                   bool(late_weights), _checks.SCALE_TYPES.index(scale_type))

    def room(self, layout: bool = False) -> Received:
        """Returns new tensors for what dispatch() brings; with layout=True also for a Layout. Local."""
        def make(*shape: int, dtype: torch.dtype) -> torch.Tensor:
            return _memory.empty(shape, dtype=dtype, device=self.device)

        local, capacity = self.local_experts, self.capacity
        groups = self.hidden // _checks.channels_of_word(self.scale_type)
        scale = torch.int32 if self.scale_type == "ue8m0" else torch.float32
        return Received(make(local, capacity, self.hidden, dtype=torch.float8_e4m3fn if self.fp8 else self.dtype),
                        make(local, groups, capacity, dtype=scale).transpose(1, 2) if self.fp8 else None,
                        make(local, self.size, dtype=torch.int32),
                        Layout(make(local, dtype=torch.int32), make(local, self.size, dtype=torch.int64),
                               make(local, capacity, dtype=torch.int32)) if layout else None)

    def dispatch(self, x: torch.Tensor, experts: torch.Tensor, weights: torch.Tensor | None = None, *,
                 x_scales: torch.Tensor | None = None, into: Received | None = None, hook: bool = False) -> Received:
        """Sends this member's tokens to their experts, and receives those for the experts here, in stream order.

        x: [tokens, hidden] of dtype, tokens from 0 to max_tokens; with x_scaled torch.float8_e4m3fn, and x_scales [tokens,
        hidden // 128], float32. experts: [tokens, topk], int64; -1 is no expert. An expert
        that a token names twice gets the token once, for the sum of both weights; a number that is no expert ends the job
        with a message. weights: [tokens, topk], float32, which combine() uses; without it all are 1. Not with late_weights.

        into: where results go, as room() makes it, and what is returned; without it new tensors, and no Layout. hook=True sends only:
        what is returned gets its contents by complete(), and until then x, experts and weights stay as they are.

        Collective over the team. A graph captures it together with its combine(); each launch reads x, experts and weights
        anew. Raises ValueError and TypeError for arguments that do not fit, RuntimeError for a call at the wrong time; then
        nothing has happened.
        """
        self._require_whole(_DISPATCH)
        tokens = _checks.tokens_of(_DISPATCH, x, self.hidden, self.max_tokens)
        _checks.shape(_DISPATCH, "experts", experts, (tokens, self.topk))
        if (x_scales is not None) != self.x_scaled:
            raise ValueError(f"{_DISPATCH}: x_scales is {'missing' if x_scales is None else 'given'}, and this exchange was made "
                             f"{'with' if self.x_scaled else 'without'} x_scaled")
        if x_scales is not None:
            _checks.shape(_DISPATCH, "x_scales", x_scales, (tokens, self.hidden // _checks.CHANNELS_OF_SCALE))
        if weights is not None:
            if self.late_weights:
                raise ValueError(f"{_DISPATCH}: weights is given, and this exchange was made with late_weights; give it to combine()")
            _checks.shape(_DISPATCH, "weights", weights, (tokens, self.topk))
        if into is None:
            received = self.room()
        else:
            received = into
            self._check_room(into)
        flat = None if received.scales is None else received.scales.transpose(1, 2)
        self._handle.dispatch(_DISPATCH, x, x_scales, experts, weights, received.rows, flat, received.counts,
                              *(received.layout or (None, None, None)), tokens, hook)
        self._tokens, self._combines = tokens, 0
        if hook:
            self._sent = (x, x_scales, experts, weights, received)
        return received

    def combine(self, results: torch.Tensor, weights: torch.Tensor | None = None, *, out: torch.Tensor | None = None,
                hook: bool = False) -> torch.Tensor:
        """Returns, for each token of the last dispatch(), the sum of weight * result over its experts, in stream order.

        results: [local experts, capacity, hidden] of dtype, each result in the place of the row that came. weights:
        with late_weights [tokens, topk], float32, for the experts that dispatch() was given; else None. The sum is made in
        float32, in an order that depends on the routing alone, and rounded once; a token without experts gets zeros. out:
        [tokens, hidden] of dtype; without it a new tensor. hook=True sends only: complete() fills out, and until then
        results and weights stay as they are. With late_weights the sending half waits for the other members to send.

        Collective over the team, once for each dispatch(); with late_weights up to 256 times, if all members do, with any
        results and weights. Raises as dispatch().
        """
        self._require_whole(_COMBINE)
        if self._tokens is None:
            raise RuntimeError(f"{_COMBINE}: no dispatch() came before; a combine follows its dispatch")
        most = _checks.MOST_COMBINES if self.late_weights else 1
        if self._combines == most:
            raise RuntimeError(f"{_COMBINE}: the dispatch before has {'its combine' if most == 1 else f'{most} combines'}; dispatch "
                               f"again{', or make the exchange with late_weights' if most == 1 else ''}")
        _checks.shape(_COMBINE, "results", results, (self.local_experts, self.capacity, self.hidden))
        if (weights is not None) != self.late_weights:
            raise ValueError(f"{_COMBINE}: weights is {'missing' if weights is None else 'given'}, and this exchange was made "
                             f"{'with' if self.late_weights else 'without'} late_weights")
        if weights is not None:
            _checks.shape(_COMBINE, "weights", weights, (self._tokens, self.topk))
        if out is None:
            out = _memory.empty((self._tokens, self.hidden), dtype=self.dtype, device=self.device)
        else:
            _checks.shape(_COMBINE, "out", out, (self._tokens, self.hidden))
        self._handle.combine(_COMBINE, results, weights, out, self._tokens, hook)
        self._combines += 1
        if hook:
            self._sent = (results, weights, out)
        return out

    def complete(self) -> None:
        """The receiving half of the last call, which was made with hook=True, in stream order. Raises as dispatch()."""
        if self._sent is None:
            raise RuntimeError(f"{_COMPLETE}: nothing is to be completed; the last call was made without hook=True, or is complete")
        self._require_device(_COMPLETE)
        self._handle.complete(_COMPLETE)
        self._sent = None

    def free(self) -> None:
        """Frees the exchange, when this GPU has done what it was given; graphs that captured its calls are destroyed before.

        Collective over all PEs where the exchange took the workspace itself, else local; collective over the group where it
        was made for one. A workspace that was passed stays, and may be used again when all members have called free().
        """
        function = "railshmem.moe.Exchange.free"
        _memory.settle(self.device)
        self._handle.destroy(function)
        self._sent = self._tokens = self._workspace = None
        if self._owned is not None:
            _core.free(function, self._owned)
            self._owned = None
        if self._group_team is not None:
            self._group_team.destroy()

    def _sizes(self) -> tuple:
        return (self.experts, self.topk, self.hidden, self.max_tokens, self.dtype is torch.float16, self.fp8, self.late_weights,
                _checks.SCALE_TYPES.index(self.scale_type))

    def _require_device(self, function: str) -> None:
        if not _memory.is_current(self.device):
            raise RuntimeError(f"{function}: torch's current device is not the exchange's, {self.device}; call "
                               "torch.cuda.set_device()")

    def _require_whole(self, function: str) -> None:
        if self._sent is not None:
            raise RuntimeError(f"{function}: the call before was made with hook=True; call complete() first")
        self._require_device(function)

    def _check_room(self, room: Received) -> None:
        if not isinstance(room, Received):
            raise TypeError(f"{_DISPATCH}: into is {type(room).__name__}; it must be what room() returns")
        local, capacity = self.local_experts, self.capacity
        _checks.shape(_DISPATCH, "into.rows", room.rows, (local, capacity, self.hidden))
        _checks.shape(_DISPATCH, "into.counts", room.counts, (local, self.size))
        if self.fp8:
            _checks.shape(_DISPATCH, "into.scales", room.scales, (local, capacity, self.hidden // _checks.channels_of_word(self.scale_type)))
        elif room.scales is not None:
            raise ValueError(f"{_DISPATCH}: into.scales is given, and this exchange was made without fp8")
