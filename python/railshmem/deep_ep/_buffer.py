# SPDX-License-Identifier: BSD-3-Clause
"""DeepEP's Buffer."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from railshmem.deep_ep import _job, _streams
from railshmem.deep_ep._config import Config
from railshmem.deep_ep._event import EventHandle, EventOverlap
from railshmem.deep_ep._lanes import FUNCTION, Lane, Lanes, Sizes, size_hint
from railshmem.deep_ep._many import ManyTokens
from railshmem.deep_ep._shrink import Shrink
from railshmem.deep_ep._throughput import Throughput
from railshmem.moe import _checks, _memory

_DISPATCH, _COMBINE = (f"{FUNCTION}.low_latency_{name}" for name in ("dispatch", "combine"))


class Handle(tuple):
    """What low_latency_dispatch() returns for its combine: (sources, ranges, max tokens, hidden, experts).

    sources [local experts, ranks * max tokens], int32: the number of each row's token at its rank. ranges [local experts,
    ranks], int64: the first row from each rank * 2^32 + how many came from it.
    """

    lane: Lane
    number: int  #: of the dispatch among the lane's


class Buffer(Shrink, ManyTokens):
    """Dispatch and combine for the ranks of a group. GPUs of a node map each other's memory; between nodes data goes by the network.

    All ranks make the calls in one order. A call goes into torch's current stream, or with async_finish into the buffer's own.
    At most two dispatches may wait for their combine at once. Nothing is freed by the garbage collector: call destroy().
    """

    num_sms: int = 20
    #: Of buffers with enable_shrink that are made from now on: a low-latency call that has waited so many milliseconds for a rank that
    #: does not wait itself masks it. Less than SHMEM_WAIT_TIMEOUT. 0: only low_latency_update_mask_buffer() masks. This package's own.
    mask_after_ms: int = 100_000

    def __init__(self, group: Any = None, num_nvl_bytes: int = 0, num_rdma_bytes: int = 0, low_latency_mode: bool = False,
                 num_qps_per_rank: int = 24, allow_nvlink_for_low_latency_mode: bool = True, allow_mnnvl: bool = False,
                 explicitly_destroy: bool = False, enable_shrink: bool = False, comm: Any = None, *,
                 use_fabric: bool = False) -> None:
        """Makes a buffer for a torch.distributed group of any backend, or for comm, a communicator of mpi4py.

        num_rdma_bytes: symmetric memory that low-latency calls take their workspaces from; get_low_latency_rdma_size_hint() says how
        much. Calls of other sizes (max tokens, hidden, experts, top-k, 8-bit floats or not) take further parts. num_nvl_bytes:
        symmetric memory for dispatch() and combine(), see Config.get_nvl_buffer_size_hint(). Between nodes, without
        low_latency_mode, these take num_rdma_bytes more. num_qps_per_rank, allow_mnnvl, use_fabric and explicitly_destroy change
        nothing. Torch's current device is the buffer's.

        Starts the library where it does not run: collective over the group. Where it runs, the call is collective over all
        PEs, each with its group. enable_shrink: low-latency calls go on without ranks that are masked.
        Raises ValueError where NVLink is refused, which is not there yet; MemoryError where the heap is full; RuntimeError as
        railshmem.moe.Exchange.
        """
        if (group is None) == (comm is None):
            raise ValueError(f"{FUNCTION}: pass group or comm, one of the two")
        if not allow_nvlink_for_low_latency_mode:
            raise ValueError(f"{FUNCTION}: allow_nvlink_for_low_latency_mode is False; ranks write to each other's memory, by NVLink")
        self.group = comm if group is None else group
        self.num_nvl_bytes, self.num_rdma_bytes, self.low_latency_mode = num_nvl_bytes, num_rdma_bytes, low_latency_mode
        self.explicitly_destroy, self.enable_shrink = explicitly_destroy, enable_shrink
        self._team, self._owns_team = _job.enter(group, comm)
        self.rank, self.group_size = self._team.my_pe(), self._team.n_pes()
        self._lanes: Lanes | None = Lanes(self._team, num_rdma_bytes, Buffer.mask_after_ms if enable_shrink else None)
        self._throughput = Throughput(self._team, num_nvl_bytes, 0 if low_latency_mode else num_rdma_bytes, self._lanes.device)
        self._stream = _streams.new(self._lanes.device)
        self._last: EventHandle | None = None  # behind the last call in that stream

    def destroy(self) -> None:
        """Frees the buffer, when its GPU has done what it was given; graphs that captured its calls are destroyed before.

        Collective over all PEs. Where the first buffer started the library, the last one leaves it.
        """
        lanes, self._lanes = self._require(f"{FUNCTION}.destroy"), None
        lanes.free()
        self._throughput.free()
        _job.leave(self._team, self._owns_team)

    @staticmethod
    def is_sm90_compiled() -> bool:
        """Returns True: there are 8-bit floats."""
        return True

    @staticmethod
    def set_num_sms(new_num_sms: int) -> None:
        """Sets the number of multiprocessors that dispatch() and combine() occupy at most where they get no config, an even one."""
        if new_num_sms % 2 or new_num_sms < 2:
            raise ValueError(f"{FUNCTION}.set_num_sms: new_num_sms is {new_num_sms}; it must be even, and 2 or more")
        Buffer.num_sms = new_num_sms

    @staticmethod
    def capture() -> EventOverlap:
        """Returns an event behind what torch's current stream has been given."""
        return EventOverlap(EventHandle())

    @staticmethod
    def get_low_latency_rdma_size_hint(num_max_dispatch_tokens_per_rank: int, hidden: int, num_ranks: int,
                                       num_experts: int) -> int:
        """Returns the num_rdma_bytes that calls of these sizes need, with and without 8-bit floats. Also before there is a group."""
        return size_hint(num_max_dispatch_tokens_per_rank, hidden, num_ranks, num_experts)

    @staticmethod
    def get_dispatch_config(num_ranks: int) -> Config:
        """Returns the configuration that dispatch() has without one."""
        return Config(Buffer.num_sms)

    @staticmethod
    def get_combine_config(num_ranks: int) -> Config:
        """Returns the configuration that combine() has without one."""
        return Config(Buffer.num_sms)

    def get_comm_stream(self) -> torch.cuda.Stream:
        """Returns the stream of calls with async_finish."""
        self._require(f"{FUNCTION}.get_comm_stream")
        return self._stream

    def prepare_low_latency(self, num_max_dispatch_tokens_per_rank: int, hidden: int, num_experts: int, num_topk: int,
                            use_fp8: bool = True, scale_type: str = "float") -> None:
        """Takes the memory for calls of these sizes, which their first dispatch does otherwise; graphs cannot capture that.

        Collective over the group. This package's own. Raises ValueError where num_rdma_bytes is too small.
        """
        self._prepare(f"{FUNCTION}.prepare_low_latency",
                      Sizes(num_max_dispatch_tokens_per_rank, hidden, num_experts, num_topk, bool(use_fp8), scale_type))

    def low_latency_dispatch(self, x: torch.Tensor, topk_idx: torch.Tensor, num_max_dispatch_tokens_per_rank: int,
                             num_experts: int, cumulative_local_expert_recv_stats: torch.Tensor | None = None,
                             dispatch_wait_recv_cost_stats: torch.Tensor | None = None, use_fp8: bool = True,
                             round_scale: bool = False, use_ue8m0: bool = False, async_finish: bool = False,
                             return_recv_hook: bool = False) -> \
            tuple[tuple[torch.Tensor, torch.Tensor] | torch.Tensor, torch.Tensor, Handle, EventOverlap, Callable[[], None] | None]:
        """Sends tokens to their experts. Returns (recv_x, recv_count, handle, event, hook).

        x: [tokens, hidden], bfloat16. topk_idx: [tokens, top-k], int64; -1 is no expert. recv_x: [local experts, ranks * max
        tokens, hidden], bfloat16; with use_fp8 a pair of float8_e4m3fn and scales, float32 [local experts, ranks * max tokens,
        hidden / 128], whose rows lie side by side in memory. round_scale: scales are powers of two; use_ue8m0: [..., hidden / 512],
        int32, four exponents each. recv_count: [local experts], int32: valid rows, which come first,
        in the order of ranks and of their tokens. cumulative_local_expert_recv_stats: [local experts], int32, to which
        recv_count is added.

        With return_recv_hook the call only sends, and hook() receives, in the then current stream, which must come behind the
        call's. With async_finish the call goes into the buffer's stream, and event.current_stream_wait() waits for it. x and
        topk_idx stay as they are until then.

        The first call with new sizes makes the CPU wait and cannot be captured by a graph; see prepare_low_latency(). Raises
        ValueError and TypeError for arguments that do not fit, also for dispatch_wait_recv_cost_stats, which is not there yet.
        """
        self._check_ways(_DISPATCH, async_finish, return_recv_hook, dispatch_wait_recv_cost_stats=dispatch_wait_recv_cost_stats)
        if use_ue8m0 and not (use_fp8 and round_scale):
            raise ValueError(f"{_DISPATCH}: use_ue8m0 is given without use_fp8 and round_scale; exponents are those of rounded scales")
        scale_type = "float" if not (use_fp8 and round_scale) else "ue8m0" if use_ue8m0 else "power"
        for name, tensor in (("x", x), ("topk_idx", topk_idx)):
            if not isinstance(tensor, torch.Tensor) or tensor.dim() != 2:
                raise TypeError(f"{_DISPATCH}: {name} must be a tensor of two dimensions")
        sizes = Sizes(num_max_dispatch_tokens_per_rank, x.shape[1], num_experts, topk_idx.shape[1], bool(use_fp8), scale_type)
        stats = cumulative_local_expert_recv_stats
        if stats is not None:
            _checks.shape(_DISPATCH, "cumulative_local_expert_recv_stats", stats, (num_experts // self.group_size,))
        lanes = self._prepare(_DISPATCH, sizes)
        lane = lanes.next(sizes)
        room = lane.exchange.room(layout=True)

        def count() -> None:
            if stats is not None:
                stats.add_(room.layout.totals)

        def send() -> None:
            lane.exchange.dispatch(x, topk_idx, into=room, hook=return_recv_hook)
            if not return_recv_hook:
                count()

        def receive() -> None:
            lane.exchange.complete()
            count()

        event = self._run(send, async_finish, (x, topk_idx, stats, room))
        lane.dispatches += 1
        handle = Handle((room.layout.sources, room.layout.ranges, sizes.max_tokens, sizes.hidden, sizes.experts))
        handle.lane, handle.number = lane, lane.dispatches
        return (room.rows, room.scales) if use_fp8 else room.rows, room.layout.totals, handle, event, \
            receive if return_recv_hook else None

    def low_latency_combine(self, x: torch.Tensor, topk_idx: torch.Tensor, topk_weights: torch.Tensor, handle: Handle,
                            use_logfmt: bool = False, zero_copy: bool = False, async_finish: bool = False,
                            return_recv_hook: bool = False, out: torch.Tensor | None = None,
                            combine_wait_recv_cost_stats: torch.Tensor | None = None) -> \
            tuple[torch.Tensor, EventOverlap, Callable[[], None] | None]:
        """Brings the experts' results back, as weighted sums. Returns (combined_x, event, hook).

        x: [local experts, ranks * max tokens, hidden], bfloat16, each result in the place of the row that came; with zero_copy
        they are in get_next_low_latency_combine_buffer() instead. topk_idx: that of the dispatch, whose experts count.
        topk_weights: [tokens, top-k], float32. handle: of the dispatch, which all ranks combine equally often. combined_x: [tokens, hidden], bfloat16, out
        where that is given; sums are made in float32, in an order that depends on the routing alone, and rounded once.

        async_finish and return_recv_hook are those of low_latency_dispatch(); the sending half waits until the other ranks send
        their weights. Raises RuntimeError for a handle that is not of the last two dispatches of its sizes;
        ValueError and TypeError for arguments that do not fit, also for combine_wait_recv_cost_stats, which is not there yet.
        use_logfmt, which lets results be rounded to 10 bits on their way, changes nothing: they are not rounded here.
        """
        self._check_ways(_COMBINE, async_finish, return_recv_hook, combine_wait_recv_cost_stats=combine_wait_recv_cost_stats)
        lane = self._lane_of(_COMBINE, handle)
        _checks.shape(_COMBINE, "topk_idx", topk_idx, topk_weights.shape)
        results = lane.room_for_results() if zero_copy else x
        if out is None:  # here, so that the memory is the current stream's
            shape = topk_weights.shape[0], lane.exchange.hidden
            out = _memory.empty(shape, dtype=torch.bfloat16, device=lane.exchange.device)

        def send() -> None:
            lane.exchange.combine(results, topk_weights, out=out, hook=return_recv_hook)

        event = self._run(send, async_finish, (results, topk_weights, out))
        return out, event, lane.exchange.complete if return_recv_hook else None

    def get_next_low_latency_combine_buffer(self, handle: Handle) -> torch.Tensor:
        """Returns where results for low_latency_combine(..., zero_copy=True) of this handle go.

        [local experts, ranks * max tokens, hidden], bfloat16, without contents. A combine reads x in its place, so this saves no
        copy here.
        """
        return self._lane_of(f"{FUNCTION}.get_next_low_latency_combine_buffer", handle).room_for_results()

    def _require(self, function: str) -> Lanes:
        if self._lanes is None:
            raise RuntimeError(f"{function}: this buffer was destroyed; make a new one")
        return self._lanes

    def _prepare(self, function: str, sizes: Sizes) -> Lanes:
        lanes = self._require(function)
        if lanes.of(sizes) is None:
            if _streams.is_captured():
                raise RuntimeError(f"{function}: a graph cannot capture the first call with {sizes}, which makes the CPU wait; make "
                                   "one before, or call prepare_low_latency()")
            lanes.make(sizes)
        return lanes

    def _lane_of(self, function: str, handle: Handle) -> Lane:
        self._require(function)
        if not isinstance(handle, Handle):
            raise TypeError(f"{function}: handle is {type(handle).__name__}; pass what low_latency_dispatch() returned")
        if handle.number != handle.lane.dispatches:
            raise RuntimeError(f"{function}: two dispatches of these sizes came after the one of this handle; no more than two may "
                               "wait for their combine")
        return handle.lane

    @staticmethod
    def _check_ways(function: str, async_finish: bool, return_recv_hook: bool, **absent: object) -> None:
        if async_finish and return_recv_hook:
            raise ValueError(f"{function}: async_finish and return_recv_hook are given; pass one of them")
        for name, value in absent.items():
            if value is not None and value is not False:
                raise ValueError(f"{function}: {name} is given, which is not there yet; leave it out")

    def _run(self, call: Callable[[], None], async_finish: bool, tensors: tuple) -> EventOverlap:
        """Makes the call, in the current stream or the buffer's own, behind the call before."""
        if async_finish:
            with _streams.use(self._stream):
                call()
                self._last = EventHandle()
            return EventOverlap(self._last, tensors)
        last, self._last = self._last, None
        if last is not None and not last.was_awaited and last.is_captured == _streams.is_captured():
            last.current_stream_wait()
        call()
        return EventOverlap()
