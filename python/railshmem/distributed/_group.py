# SPDX-License-Identifier: BSD-3-Clause
"""The process group: what torch.distributed calls, as collectives of a team."""
from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from datetime import timedelta

import torch
import torch.distributed as dist

from railshmem.distributed import _checks
from railshmem.distributed._members import Members
from railshmem.distributed._operations import operation_of, require_operands
from railshmem.distributed._work import HostWork, JoinedWork

_Tensors = Sequence[torch.Tensor]


class ProcessGroup(dist.ProcessGroup):
    """A process group of torch.distributed over RailSHMEM, for CPU and CUDA tensors.

    Calls are those of torch.distributed.ProcessGroup. CPU tensors go through symmetric staging memory; the calls of a group
    happen in the order in which they were made. CUDA tensors are given to the stream that is current, or with async_op to a
    stream of the group. Mistakes raise ValueError and TypeError before anything is sent.
    """

    supports_splitting = False
    supports_coalescing = False
    supports_time_estimate = False

    def __init__(self, members: Members, timeout: timedelta):
        super().__init__(members.rank, members.size)
        self._members, self._timeout = members, timeout
        self._tags = members.joined << 32  # of this group, among those that share its members
        self._ended = False
        self._coalesced: list[dist.Work] | None = None
        self._names = {"name": "", "description": ""}

    def getBackendName(self) -> str:
        """Returns "railshmem"."""
        return "railshmem"

    name = _get_backend_name = getBackendName

    def __repr__(self) -> str:
        return f"<railshmem.distributed.ProcessGroup {self._names['name']}, rank {self.rank()} of {self.size()}>"

    # All-gather.

    def allgather(self, outputs: Sequence[_Tensors], inputs: _Tensors, opts=None) -> dist.Work:
        """Copies the input of each member to the output of its rank, on every member."""
        for parts, source in zip(outputs, inputs):
            _checks.parts("all_gather", parts, source, self.size())
        return self._call("all_gather", opts, [part for parts in outputs for part in parts], inputs, [
            lambda engine, parts=parts, source=source: engine.all_gather(parts, source)
            for parts, source in zip(outputs, inputs)])

    def allgather_coalesced(self, outputs: Sequence[_Tensors], inputs: _Tensors, opts=None) -> dist.Work:
        """Gathers inputs[k] of all members in outputs[r][k], by rank r."""
        return self.allgather([list(parts) for parts in zip(*outputs)], inputs, opts)

    def _allgather_base(self, output: torch.Tensor, input: torch.Tensor, opts=None) -> dist.Work:
        return self.allgather_into_tensor_coalesced([output], [input], opts)

    def allgather_into_tensor_coalesced(self, outputs: _Tensors, inputs: _Tensors, opts=None) -> dist.Work:
        """Joins inputs[k] of all members in outputs[k], by rank."""
        for output, source in zip(outputs, inputs):
            _checks.whole("all_gather_into_tensor", output, source, self.size())
        return self._call("all_gather_into_tensor", opts, outputs, inputs, [
            lambda engine, output=output, source=source: engine.all_gather_into(output, source)
            for output, source in zip(outputs, inputs)])

    # Reductions.

    def allreduce(self, tensors: _Tensors, opts=None) -> dist.Work:
        """Combines each tensor with those of all members, in place."""
        operation = operation_of(opts.reduceOp if opts else dist.ReduceOp.SUM)
        for tensor in tensors:
            require_operands("all_reduce", operation, tensor.dtype)
        return self._call("all_reduce", opts, tensors, [], [
            lambda engine, tensor=tensor: engine.all_reduce(tensor, operation) for tensor in tensors])

    allreduce_coalesced = allreduce

    def reduce(self, tensors: _Tensors, opts=None) -> dist.Work:
        """Combines the tensors of all members in that of the root; the others keep theirs."""
        operation = operation_of(opts.reduceOp)
        require_operands("reduce", operation, tensors[0].dtype)
        return self._call("reduce", opts, tensors, [], [
            lambda engine: engine.reduce(tensors[0], operation, opts.rootRank)])

    def reduce_scatter(self, outputs: _Tensors, inputs: Sequence[_Tensors], opts=None) -> dist.Work:
        """Combines inputs[.][k] of all members in the output of member k."""
        operation = operation_of(opts.reduceOp if opts else dist.ReduceOp.SUM)
        for output, parts in zip(outputs, inputs):
            _checks.parts("reduce_scatter", parts, output, self.size())
            require_operands("reduce_scatter", operation, output.dtype)
        return self._call("reduce_scatter", opts, outputs, [part for parts in inputs for part in parts], [
            lambda engine, output=output, parts=parts: engine.reduce_scatter(output, parts, operation)
            for output, parts in zip(outputs, inputs)])

    def _reduce_scatter_base(self, output: torch.Tensor, input: torch.Tensor, opts=None) -> dist.Work:
        return self.reduce_scatter_tensor_coalesced([output], [input], opts)

    def reduce_scatter_tensor_coalesced(self, outputs: _Tensors, inputs: _Tensors, opts=None) -> dist.Work:
        """Combines part k of inputs[i] of all members in outputs[i] of member k."""
        operation = operation_of(opts.reduceOp if opts else dist.ReduceOp.SUM)
        for output, source in zip(outputs, inputs):
            _checks.whole("reduce_scatter_tensor", source, output, self.size())
            require_operands("reduce_scatter_tensor", operation, output.dtype)
        return self._call("reduce_scatter_tensor", opts, outputs, inputs, [
            lambda engine, output=output, source=source: engine.reduce_scatter_from(output, source, operation)
            for output, source in zip(outputs, inputs)])

    # One root.

    def broadcast(self, tensors: _Tensors, opts=None) -> dist.Work:
        """Copies the tensors of the root to all members."""
        root = opts.rootRank if opts else 0
        _checks.member("broadcast", "root", root, self.size())
        return self._call("broadcast", opts, tensors, [], [
            lambda engine, tensor=tensor: engine.broadcast(tensor, root) for tensor in tensors])

    def gather(self, outputs: Sequence[_Tensors], inputs: _Tensors, opts=None) -> dist.Work:
        """Copies the input of each member to the output of its rank on the root; outputs is empty elsewhere."""
        parts = outputs[0] if self.rank() == opts.rootRank else []
        if parts:
            _checks.parts("gather", parts, inputs[0], self.size())
        return self._call("gather", opts, parts, inputs, [
            lambda engine: engine.gather(parts, inputs[0], opts.rootRank)])

    def scatter(self, outputs: _Tensors, inputs: Sequence[_Tensors], opts=None) -> dist.Work:
        """Copies inputs[0][k] of the root to the output of member k; inputs is empty elsewhere."""
        parts = inputs[0] if self.rank() == opts.rootRank else []
        if parts:
            _checks.parts("scatter", parts, outputs[0], self.size())
        return self._call("scatter", opts, outputs, parts, [
            lambda engine: engine.scatter(outputs[0], parts, opts.rootRank)])

    # All-to-all.

    def alltoall(self, outputs: _Tensors, inputs: _Tensors, opts=None) -> dist.Work:
        """Sends inputs[k] to member k, and puts what member k sends into outputs[k]."""
        _checks.one_each("all_to_all", outputs, inputs, self.size())
        return self._call("all_to_all", opts, outputs, inputs, [lambda engine: engine.all_to_all(outputs, inputs)])

    def alltoall_base(self, output: torch.Tensor, input: torch.Tensor, output_split_sizes: Sequence[int],
                      input_split_sizes: Sequence[int], opts=None) -> dist.Work:
        """Does alltoall() with parts of two tensors along their first dimension; without sizes, with equal ones."""
        outputs = _checks.split("all_to_all_single", "output", output, output_split_sizes, self.size())
        inputs = _checks.split("all_to_all_single", "input", input, input_split_sizes, self.size())
        return self._call("all_to_all_single", opts, [output], [input], [
            lambda engine: engine.all_to_all_single(output.detach(), input.detach(), outputs, inputs)])

    # Messages and order.

    def send(self, tensors: _Tensors, dstRank: int, tag: int) -> dist.Work:
        """Sends a tensor to a member; the work is done when the tensor may be changed."""
        _checks.member("send", "destination", dstRank, self.size())
        return self._noted(self._members.send(self._host_work("send", tensors), tensors[0], dstRank, self._tags + tag))

    def recv(self, tensors: _Tensors, srcRank: int, tag: int) -> dist.Work:
        """Receives a tensor of a member: the next one with this tag."""
        _checks.member("recv", "source", srcRank, self.size())
        return self._noted(self._members.receive(self._host_work("recv", tensors), tensors[0], srcRank, self._tags + tag))

    def recv_anysource(self, tensors: _Tensors, tag: int) -> dist.Work:
        """Receives a tensor with this tag of any member; the work's source_rank() names it."""
        return self._noted(self._members.receive(self._host_work("recv", tensors), tensors[0], None, self._tags + tag))

    def barrier(self, opts=None) -> dist.Work:
        """Waits until all members have called barrier(), and for what torch's current CUDA stream was given before."""
        if torch.cuda.is_available() and torch.cuda.is_initialized():
            torch.cuda.current_stream().synchronize()
        return self._on_host("barrier", opts, [], [lambda engine: engine.sync()])

    def _start_coalescing(self, device: torch.device) -> None:
        self._coalesced = []

    def _end_coalescing(self, device: torch.device) -> dist.Work:
        works, self._coalesced = self._coalesced, None
        return JoinedWork(works)

    # What torch asks a group for beside communication.

    def setGroupName(self, name: str) -> None:
        """Keeps the name that torch gives the group."""
        self._names["name"] = name

    def getGroupName(self) -> str:
        """Returns the name that torch gave the group."""
        return self._names["name"]

    def setGroupDesc(self, description: str) -> None:
        """Keeps the description that torch gives the group."""
        self._names["description"] = description

    def getGroupDesc(self) -> str:
        """Returns the description that torch gave the group."""
        return self._names["description"]

    @property
    def _device_types(self) -> list[torch.device]:
        return [torch.device(kind) for kind in ("cpu", "cuda")]

    def _get_backend(self, device: torch.device) -> ProcessGroup:
        return self

    def supports_tensor_alloc(self, device: torch.device) -> bool:
        """Returns False: tensors of any memory are taken; railshmem.torch.empty() makes symmetric ones."""
        return False

    def eager_connect_single_device(self, device: torch.device) -> None:
        """Does nothing: the members are connected."""

    def set_timeout(self, timeout: timedelta) -> None:
        """Sets how long a work's wait() waits at most, of calls from now on."""
        self._timeout = timeout

    _set_default_timeout = set_timeout

    def shutdown(self) -> None:
        """Ends the group when its calls are done; collective. With a process's last group, the library ends, too."""
        if not self._ended:
            self._ended = True
            self._members.leave(self._timeout)

    def abort(self) -> None:
        """Does shutdown(): the calls of others cannot be undone."""
        self.shutdown()

    # How calls run.

    def _call(self, name: str, opts, outputs: _Tensors, inputs: _Tensors, actions: list[Callable]) -> dist.Work:
        self._require_alive(name)
        if _checks.device_of(name, [*outputs, *inputs]) == "cpu":
            return self._on_host(name, opts, list(outputs), actions)
        caller_waits = opts is not None and not getattr(opts, "asyncOp", True)
        return self._noted(self._members.on_stream(list(outputs), list(inputs), actions, caller_waits))

    def _on_host(self, name: str, opts, outputs: list[torch.Tensor], actions: list[Callable]) -> dist.Work:
        work = self._host_work(name, outputs, opts)
        caller_waits = opts is not None and not getattr(opts, "asyncOp", True)
        return self._noted(self._members.on_host(work, functools.partial(_each, actions), caller_waits))

    def _require_alive(self, name: str) -> None:
        if self._ended:
            raise RuntimeError(f"railshmem: {name} of {self!r}, which was destroyed; make another group")

    def _host_work(self, name: str, tensors: _Tensors, opts=None) -> HostWork:
        self._require_alive(name)
        asked = opts.timeout if opts is not None else timedelta(0)
        return HostWork(f"{name} of {self!r}", list(tensors), asked if asked > timedelta(0) else self._timeout)

    def _noted(self, work: dist.Work) -> dist.Work:
        if self._coalesced is not None:
            self._coalesced.append(work)
        return work


def _each(actions: list[Callable], engine) -> None:
    for action in actions:
        action(engine)
