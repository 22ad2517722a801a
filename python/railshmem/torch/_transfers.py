# SPDX-License-Identifier: BSD-3-Clause
"""Puts, gets, signals, and what orders them, on tensors.

On CUDA tensors a call is put into torch's current stream, or the torch.cuda.Stream stream=, and returns at once: graphs may
capture it. Once the stream has executed it, a put's source may be changed, and a get's data is there; quiet() or barrier()
behind it completes puts at their target. On CPU tensors the call is over when it returns: put() and put_signal() when source
may be changed, get() with the data.

All raise ValueError for a PE that the job does not have, for a tensor that is not symmetric or not contiguous, and for unequal
sizes; TypeError for unequal element types and devices; RuntimeError outside of init() and finalize().
"""
from __future__ import annotations

import torch

from railshmem import _core
from railshmem.torch import _gpu
from railshmem.torch._tensors import default_device
from railshmem.torch._types import current_stream

_Team = _core.Team
_Stream = torch.cuda.Stream


def put(dest: torch.Tensor, source: torch.Tensor, pe: int, stream: _Stream | None = None) -> None:
    """Copies source to the copy of dest on PE pe. dest is symmetric; source is any tensor of its size, type and device."""
    _core.put("railshmem.torch.put", dest, source, pe, stream and stream.cuda_stream)


def get(dest: torch.Tensor, source: torch.Tensor, pe: int, stream: _Stream | None = None) -> None:
    """Copies the copy of source on PE pe to dest. source is symmetric; dest is any tensor of its size, type and device."""
    _core.get("railshmem.torch.get", dest, source, pe, stream and stream.cuda_stream)


def put_signal(dest: torch.Tensor, source: torch.Tensor, signal: torch.Tensor, value: int, pe: int, op: str = "set",
               stream: _Stream | None = None) -> None:
    """Does put(dest, source, pe), and then updates signal on PE pe: to value (op "set") or by value ("add").

    signal is one symmetric uint64 or int64 on dest's device, as in signals[2:3]; value is not negative. Who sees the signal
    there by wait_signal() sees the data.
    """
    _core.put_signal("railshmem.torch.put_signal", dest, source, signal, value, pe, op, stream and stream.cuda_stream)


def signal_op(signal: torch.Tensor, value: int, pe: int, op: str = "set", stream: _Stream | None = None) -> None:
    """Updates the symmetric uint64 or int64 signal on PE pe: to value (op "set") or by value ("add")."""
    _core.signal_op("railshmem.torch.signal_op", signal, value, pe, op, stream and stream.cuda_stream)


def wait_signal(signal: torch.Tensor, cmp: str, value: int, stream: _Stream | None = None) -> int | None:
    """Waits until this PE's signal compares true with value; cmp is "==", "!=", ">", ">=", "<" or "<=".

    The data of the put_signal() that brought the value is there then. On the CPU other threads run during the wait, and the
    signal is returned. On a CUDA device the stream waits, and None is returned at once. Numbers compare as uint64. A wait that
    takes longer than SHMEM_WAIT_TIMEOUT seconds, or whose peers have died, ends the process with a message.
    """
    return _core.wait_signal("railshmem.torch.wait_signal", signal, cmp, value, stream and stream.cuda_stream)


def quiet(device: torch.device | str | int | None = None, stream: _Stream | None = None) -> None:
    """Completes every put and signal that this PE issued, at its target.

    device is torch's default device unless given. "cpu": waits, for what the CPU issued. "cuda": the heap's GPU, where the
    stream waits, for what this PE's streams and kernels have issued.
    """
    if stream is None and device in _gpu.names and _core.quiet_on_stream("railshmem.torch.quiet", None):
        return
    on = _stream_number("railshmem.torch.quiet", device, stream)
    if on is None:
        _core.quiet()
    else:
        _core.quiet_on_stream("railshmem.torch.quiet", on)


def barrier(team: _Team | None = None, device: torch.device | str | int | None = None,
            stream: _Stream | None = None) -> None:
    """Does quiet(), and waits until every member of the team (all PEs without one) has come here. Collective.

    device is torch's default device unless given. "cpu": the CPU waits. "cuda": the heap's GPU, where the stream waits, and with it
    what is given to it later; the members' streams meet.
    """
    if stream is None and device in _gpu.names and _core.barrier_on_stream("railshmem.torch.barrier", team, None):
        return
    on = _stream_number("railshmem.torch.barrier", device, stream)
    if on is not None:
        _core.barrier_on_stream("railshmem.torch.barrier", team, on)
    elif team is None:
        _core.barrier_all()
    else:
        _core.quiet()
        team.sync()


def _stream_number(function: str, device: torch.device | str | int | None, stream: _Stream | None) -> int | None:
    """Returns None for the CPU."""
    if stream is not None:
        return stream.cuda_stream
    device = default_device() if device is None else torch.device(device)
    kind = device.type
    if kind == "cpu":
        return None
    if kind != "cuda":
        raise ValueError(f"{function}: device is {device}; accepted: cpu, cuda")
    if not torch.cuda.is_initialized():  # is_available() takes longer than the call
        if not torch.cuda.is_available():
            raise RuntimeError(f"{function}: torch finds no CUDA device; pass device='cpu'")
        torch.cuda.init()
    return current_stream(torch.cuda.current_device() if device.index is None else device.index)
