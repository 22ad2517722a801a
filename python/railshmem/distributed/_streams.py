# SPDX-License-Identifier: BSD-3-Clause
"""Torch's current stream, asked for and changed at little cost: a call of the process group does so several times, and
torch.cuda makes an object each time."""
from __future__ import annotations

import torch

_known: dict[tuple[int, int, int], torch.cuda.Stream] = {}
_MOST_KNOWN = 256  # of programs that make streams all the time, the earlier ones are forgotten


def current(device: torch.device) -> torch.cuda.Stream:
    """Returns torch's current stream of a CUDA device with a number."""
    numbers = torch._C._cuda_getCurrentStream(device.index)
    stream = _known.get(numbers)
    if stream is None:
        if len(_known) == _MOST_KNOWN:
            _known.clear()
        stream = _known[numbers] = torch.cuda.current_stream(device)
    return stream


def _use(stream: torch.cuda.Stream) -> None:
    torch._C._cuda_setStream(stream_id=stream.stream_id, device_index=stream.device_index, device_type=stream.device_type)


class Within:
    """A context in which a stream is torch's current one; `before`, the current one of its device now, is so again afterwards."""

    __slots__ = ("_stream", "_before", "_device")

    def __init__(self, stream: torch.cuda.Stream, before: torch.cuda.Stream):
        self._stream, self._before, self._device = stream, before, -1

    def __enter__(self) -> None:
        self._device = torch._C._cuda_getDevice()
        _use(self._stream)

    def __exit__(self, *_: object) -> None:
        _use(self._before)
        if self._device != self._before.device_index:
            torch.cuda.set_device(self._device)
