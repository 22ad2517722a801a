# SPDX-License-Identifier: BSD-3-Clause
"""Collectives of a team, on tensors.

Every member calls, in one order, with equal sizes, types and arguments; no team stands for all PEs. Memory of another
member is touched only when that member has come to the call. Results have the same bits on all members that get them.

CUDA tensors: any memory of this PE's GPU. The call is put into torch's current stream, or the torch.cuda.Stream stream=,
and returns at once; graphs may capture it. No two collectives of a team run at once: a stream that uses a team waits for
the stream that used it before. With async_op=True the call goes into a stream of the library's own, behind what the current
stream was given before, and the torch.distributed.Work that is returned has wait(), which lets the then current stream wait
for it; the team's later calls wait for it by themselves. Errors that the CPU cannot see end the job with a message.
With spare_sms=True, on all members, the call leaves the multiprocessors to kernels beside it, from 1 MiB for each member on:
copy engines move data, and no more than one block waits for members. See SHMEMX_COLL_SPARE_SMS.

CPU tensors: symmetric ones, at corresponding places on all members. The call is over when it returns, also with
async_op=True, whose Work is complete. All raise ValueError and TypeError for tensors that do not fit, before anything happens.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any, Union

import torch

from railshmem import _core
from railshmem.torch import _host, _work
from railshmem.torch._side import pending as _pending, stream_of

Tensors = Union[torch.Tensor, "list[torch.Tensor]"]
_Team = _core.Team
_Stream = torch.cuda.Stream
_Result = Any  # torch.distributed.Work or None, where torch has torch.distributed

# The usual call, of CUDA tensors on the current stream, is one of these alone: each name that is looked up in Python on the
# way costs some 30 ns, a helper 100 ns, and an argument by name as much. They return False for tensors of the CPU.
_on_stream = _core.coll_on_stream
_broadcast_on_stream = _core.broadcast_on_stream
_all_to_all_v_on_stream = _core.all_to_all_v_on_stream


def all_gather(output: Tensors, input: torch.Tensor, team: _Team | None = None, async_op: bool = False,
               stream: _Stream | None = None, spare_sms: bool = False) -> _Result:
    """Joins the inputs of all members in output, by their numbers.

    output has n_pes times the elements of input, or is a list of n_pes tensors of its size. input may be this member's block
    of output. On the CPU a tensor output is symmetric; tensors of a list may be any.
    """
    function = "railshmem.torch.all_gather"
    if not (async_op or _pending) and _on_stream("all_gather", output, input, team, stream and stream.cuda_stream, spare_sms,
                                                 None, None):
        return None
    if _first(function, input).is_cuda:
        return _beside(function, output, input, team, async_op, stream, _on_stream, ("all_gather", output, input, team),
                       (spare_sms, None, None))
    _no_stream(function, stream)
    _host.all_gather(function, output, input, team)
    return _work.done() if async_op else None


def reduce_scatter(output: torch.Tensor, input: Tensors, op: str = "sum", factor: float | None = None,
                   team: _Team | None = None, async_op: bool = False, stream: _Stream | None = None,
                   spare_sms: bool = False) -> _Result:
    """Combines the inputs of all members, and gives member k block k of the result in output.

    input has n_pes times the elements of output, or is a list of n_pes tensors of its size. output may be this member's
    block of input. op and factor are those of all_reduce().
    """
    function = "railshmem.torch.reduce_scatter"
    if not (async_op or _pending) and _on_stream("reduce_scatter", output, input, team, stream and stream.cuda_stream, spare_sms,
                                                 op, factor):
        return None
    first = _first(function, input)
    if first.is_cuda:
        return _beside(function, output, input, team, async_op, stream, _on_stream, ("reduce_scatter", output, input, team),
                       (spare_sms, op, factor))
    op = _core.checked_op(function, op, factor, first)
    _no_stream(function, stream)
    _host.reduce_scatter(function, output, input, op, factor, team)
    return _work.done() if async_op else None


def all_reduce(output: torch.Tensor, input: torch.Tensor | None = None, op: str = "sum", factor: float | None = None,
               team: _Team | None = None, async_op: bool = False, stream: _Stream | None = None,
               spare_sms: bool = False) -> _Result:
    """Combines the inputs of all members element by element, in output on every member; in place without input.

    op is "sum", "prod" (not the sum of bool), "min", "max" (not complex), "and", "or", "xor" (integers and bool; also "band",
    "bor", "bxor"), "avg" (the sum divided by the number of members) or "premul" (the sum of factor times each element; both of
    floating-point and complex types). Integers wrap. Floating-point types of 16 and 8 bits are added up as float32 and
    rounded once; results beyond the largest number of 8 bits become that number.
    """
    function = "railshmem.torch.all_reduce"
    input = output if input is None else input
    if not (async_op or _pending) and _on_stream("all_reduce", output, input, team, stream and stream.cuda_stream, spare_sms,
                                                 op, factor):
        return None
    first = _first(function, input)
    if first.is_cuda:
        return _beside(function, output, input, team, async_op, stream, _on_stream, ("all_reduce", output, input, team),
                       (spare_sms, op, factor))
    op = _core.checked_op(function, op, factor, first)
    _no_stream(function, stream)
    _host.all_reduce(function, output, input, op, factor, team)
    return _work.done() if async_op else None


def all_to_all(output: Tensors, input: Tensors, output_split_sizes: list[int] | None = None,
               input_split_sizes: list[int] | None = None, team: _Team | None = None, async_op: bool = False,
               stream: _Stream | None = None, spare_sms: bool = False) -> _Result:
    """Sends block k of input to member k, and puts the block from member k in block k of output.

    Without split sizes a block is one n_pes-th of a tensor, or a tensor of a list; all blocks have one size. Split sizes
    count rows (elements of dimension 0): input_split_sizes[k] rows go to member k, output_split_sizes[k] come from it; with
    one of the two, the other side has equal blocks. output and input are apart on the CPU. There, calls with split sizes of
    different teams must not be made at once by several threads.
    """
    function = "railshmem.torch.all_to_all"
    splits = output_split_sizes is not None or input_split_sizes is not None
    counts = _counts(function, output, output_split_sizes, input, input_split_sizes, team) if splits else None
    if counts:
        give, before, after = _all_to_all_v_on_stream, (output, input, *counts, team), (spare_sms,)
    else:
        give, before, after = _on_stream, ("all_to_all", output, input, team), (spare_sms, None, None)
    if not (async_op or _pending) and give(*before, stream and stream.cuda_stream, *after):
        return None
    if _first(function, input).is_cuda:
        return _beside(function, output, input, team, async_op, stream, give, before, after)
    _no_stream(function, stream)
    if counts:
        _host.all_to_all_v(function, output, input, *counts, team)
    else:
        _host.all_to_all(function, output, input, team)
    return _work.done() if async_op else None


def broadcast(tensor: torch.Tensor, root: int, team: _Team | None = None, async_op: bool = False,
              stream: _Stream | None = None, spare_sms: bool = False) -> _Result:
    """Copies the tensor of member root, a number in the team, to the tensor of every member."""
    function = "railshmem.torch.broadcast"
    if not (async_op or _pending) and _broadcast_on_stream(tensor, root, team, stream and stream.cuda_stream, spare_sms):
        return None
    if _first(function, tensor).is_cuda:
        return _beside(function, tensor, tensor, team, async_op, stream, _broadcast_on_stream, (tensor, root, team), (spare_sms,))
    _no_stream(function, stream)
    _host.broadcast(function, tensor, root, team)
    return _work.done() if async_op else None


def _beside(function: str, output: Tensors, input: Tensors, team: _Team | None, async_op: bool, stream: _Stream | None,
            give: Callable, before: tuple, after: tuple) -> _Result:
    """The call where it is asynchronous, or another one is under way: give, with the number of a stream between the others."""
    tensors = [tensor for side in (output, input) for tensor in (side if isinstance(side, list) else [side])]
    device, key = tensors[-1].device, _core.team_key(function, team)
    on = stream or torch.cuda.current_stream(device)
    if async_op and stream is None:
        on = stream_of(device)
        on.wait_stream(torch.cuda.current_stream(device))
    if key in _pending:
        on.wait_event(_pending[key])
    give(*before, on.cuda_stream, *after)
    _pending.pop(key, None)  # only now: the call may have raised
    if not async_op:
        return None
    for tensor in tensors:
        tensor.record_stream(on)  # torch must not give the memory to others before the call is over
    return _work.behind(on, key, tuple(tensors))


def _first(function: str, tensors: Tensors) -> torch.Tensor:
    first = tensors[0] if isinstance(tensors, list) and tensors else tensors
    if not isinstance(first, torch.Tensor):
        raise TypeError(f"{function}: input is {type(first).__name__}; it must be a tensor, or a list of tensors, one for each "
                        "member of the team")
    return first


def _no_stream(function: str, stream: _Stream | None) -> None:
    if stream is not None:
        raise TypeError(f"{function}: the tensors are in the memory of the CPU, where no stream orders anything; leave out "
                        "stream")


def _counts(function: str, output: torch.Tensor, output_splits: list[int] | None, input: torch.Tensor,
            input_splits: list[int] | None, team: _Team | None) -> tuple[list[int], list[int]]:
    """Split sizes of both sides in elements."""
    _, pes = _core.members(function, team)
    found = []
    for name, tensor, splits in (("output", output, output_splits), ("input", input, input_splits)):
        if isinstance(tensor, list):
            raise TypeError(f"{function}: {name} is a list, and split sizes are for one tensor")
        rows = tensor.shape[0] if tensor.dim() else 1
        row = tensor.numel() // rows if rows else 0
        if splits is None and rows % len(pes):
            raise ValueError(f"{function}: {name} has {rows} rows, which is no multiple of the team's {len(pes)} PEs; pass "
                             f"{name}_split_sizes")
        sizes = [rows // len(pes)] * len(pes) if splits is None else list(splits)
        if len(sizes) != len(pes) or sum(sizes) != rows or min(sizes) < 0:
            raise ValueError(f"{function}: {name}_split_sizes are {sizes}; for a team of {len(pes)} PEs and {rows} rows they "
                             f"must be {len(pes)} numbers whose sum is {rows}")
        found.append([size * row for size in sizes])
    return found[0], found[1]
