# SPDX-License-Identifier: BSD-3-Clause
"""Collectives of a group on CUDA tensors, in the order of streams."""
from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
import torch.distributed as dist

from railshmem import Team
from railshmem import torch as rt
from railshmem.distributed import _streams
from railshmem.distributed._memory import gathered, hand_over, scattered
from railshmem.distributed._operations import Operation, on_device
from railshmem.distributed._work import DeviceWork
from railshmem.torch._types import current_stream

_Tensors = Sequence[torch.Tensor]


class DeviceCollectives:
    """The collectives of one team on CUDA tensors of any memory. All members call in one order.

    The engine of railshmem.torch runs them, and spares multiprocessors: training has products beside its collectives. No two
    calls of a team may run at once, so a stream that uses the team waits for the stream that used it before.
    """

    def __init__(self, team: Team, rank: int, size: int):
        self._team, self._rank, self._size = team, rank, size
        self._last: torch.cuda.Stream | None = None  # that used the team last,
        self._event: torch.cuda.Event | None = None  # what it has behind that call; None: nothing,
        self._captured = False  # and whether a graph captured the call
        self._side: dict[torch.device, tuple[torch.cuda.Stream, torch.cuda.Event]] = {}

    def run(self, outputs: list[torch.Tensor], inputs: list[torch.Tensor], actions: list[Callable],
            caller_waits: bool) -> dist.Work:
        """Gives actions to torch's current stream, or to a stream of the group's own unless the caller waits anyway."""
        device = (outputs or inputs)[0].device
        current = _streams.current(device)
        if caller_waits:
            with torch.cuda.device(device):
                return self._run_in(current, outputs, device, actions)
        stream = self._side_stream(device, current)
        with _streams.Within(stream, current):
            work = self._run_in(stream, outputs, device, actions)
        for tensor in [*outputs, *inputs]:
            tensor.record_stream(stream)  # torch must not give their memory to others before the call is over
        return work

    def run_here(self, device: torch.device, action: Callable) -> None:
        """Gives one action to torch's current stream, for a caller that needs no Work."""
        captured = torch.cuda.is_current_stream_capturing()
        if self._last is None or self._last.cuda_stream != current_stream(device.index):
            stream = _streams.current(device)
            self._wait_for_last(stream, captured)
            self._last = stream
        action(self)
        self._event, self._captured = None, captured

    def close(self) -> None:
        """Waits for the calls that were given to streams."""
        if self._last is not None and not self._captured:
            (self._event or self._last).synchronize()

    def all_gather(self, outputs: _Tensors, source: torch.Tensor) -> None:
        """Copies the source of each member to the output of its rank."""
        if source.numel():
            with scattered(outputs) as parts:
                rt.all_gather(list(parts), gathered(source), team=self._team, spare_sms=True)

    def all_gather_into(self, output: torch.Tensor, source: torch.Tensor) -> None:
        """Joins the sources of all members in output, by rank."""
        if source.numel():
            whole = gathered(output)
            rt.all_gather(whole, gathered(source), team=self._team, spare_sms=True)
            hand_over(whole, output)

    def all_reduce(self, tensor: torch.Tensor, operation: Operation) -> None:
        """Combines the tensors of all members element by element, in each."""
        if tensor.numel():
            whole = gathered(tensor)
            rt.all_reduce(whole, team=self._team, spare_sms=True, **on_device(operation, whole.dtype))
            hand_over(whole, tensor)

    def reduce(self, tensor: torch.Tensor, operation: Operation, root: int) -> None:
        """Combines the tensors of all members in that of the member root; the others keep theirs."""
        self.all_reduce(tensor if self._rank == root else tensor.detach().clone(), operation)

    def reduce_scatter(self, output: torch.Tensor, inputs: _Tensors, operation: Operation) -> None:
        """Combines inputs[k] of all members in the output of member k."""
        if output.numel():
            whole = gathered(output)
            rt.reduce_scatter(whole, [gathered(tensor) for tensor in inputs], team=self._team, spare_sms=True,
                              **on_device(operation, whole.dtype))
            hand_over(whole, output)

    def reduce_scatter_from(self, output: torch.Tensor, source: torch.Tensor, operation: Operation) -> None:
        """Combines part k of the sources of all members in the output of member k."""
        if output.numel():
            whole = gathered(output)
            rt.reduce_scatter(whole, gathered(source), team=self._team, spare_sms=True,
                              **on_device(operation, whole.dtype))
            hand_over(whole, output)

    def broadcast(self, tensor: torch.Tensor, root: int) -> None:
        """Copies the tensor of the member root to all members."""
        if tensor.numel():
            whole = gathered(tensor)
            rt.broadcast(whole, root, team=self._team, spare_sms=True)
            hand_over(whole, tensor)

    def gather(self, outputs: _Tensors, source: torch.Tensor, root: int) -> None:
        """Copies the source of each member to the output of its rank on the member root; others have no outputs."""
        whole = source.new_empty((self._size, source.numel()))
        self.all_gather_into(whole, source)
        for output, row in zip(outputs, whole):
            output.detach().copy_(row.view(output.shape))

    def scatter(self, output: torch.Tensor, inputs: _Tensors, root: int) -> None:
        """Copies inputs[k] of the member root to the output of member k; others have no inputs."""
        if output.numel():
            rows = output.new_empty((self._size, output.numel()))
            for row, source in zip(rows, inputs):
                row.copy_(source.detach().reshape(-1))
            dest = torch.empty_like(rows)
            rt.all_to_all(dest, rows, team=self._team, spare_sms=True)
            output.detach().copy_(dest[root].view(output.shape))

    def all_to_all(self, outputs: _Tensors, inputs: _Tensors) -> None:
        """Sends inputs[k] to member k, and puts what member k sends into outputs[k]; sizes may differ by pair."""
        sent, received = [tensor.numel() for tensor in inputs], [tensor.numel() for tensor in outputs]
        # A member that sends or receives nothing has a buffer, too: an element that it sends to itself.
        one = inputs[0].new_zeros(1)
        parts = [gathered(tensor).view(-1) for tensor in inputs]
        source = torch.cat([*parts[:self._rank + 1], one, *parts[self._rank + 1:]])
        sent[self._rank] += 1
        received[self._rank] += 1
        dest = source.new_empty(sum(received))
        rt.all_to_all(dest, source, received, sent, team=self._team)
        for tensor, part in zip(outputs, dest.split(received)):
            tensor.detach().copy_(part[:tensor.numel()].view(tensor.shape))

    def all_to_all_single(self, output: torch.Tensor, source: torch.Tensor, outputs: _Tensors, inputs: _Tensors) -> None:
        """Does all_to_all() for the parts of two contiguous tensors, without a copy where none of them is empty."""
        if output.numel() == 0 or source.numel() == 0:
            self.all_to_all(outputs, inputs)
        else:
            rt.all_to_all(output.view(-1), source.view(-1), [tensor.numel() for tensor in outputs],
                          [tensor.numel() for tensor in inputs], team=self._team)

    def _run_in(self, stream: torch.cuda.Stream, outputs: list[torch.Tensor], device: torch.device,
                actions: list[Callable]) -> DeviceWork:
        captured = torch.cuda.is_current_stream_capturing()
        self._wait_for_last(stream, captured)
        for action in actions:
            action(self)
        work = DeviceWork(outputs, device, stream)
        self._last, self._event, self._captured = stream, work.event, captured
        return work

    def _side_stream(self, device: torch.device, current: torch.cuda.Stream) -> torch.cuda.Stream:
        if device not in self._side:
            self._side[device] = torch.cuda.Stream(device), torch.cuda.Event()
        stream, fork = self._side[device]
        fork.record(current)
        stream.wait_event(fork)
        return stream

    def _wait_for_last(self, stream: torch.cuda.Stream, captured: bool) -> None:
        # What a graph captures is ordered within the graph; a graph and the calls around it by who launches it.
        if self._last is None or self._last == stream or self._captured != captured:
            return
        if self._event is not None:
            stream.wait_event(self._event)
        else:
            stream.wait_stream(self._last)
