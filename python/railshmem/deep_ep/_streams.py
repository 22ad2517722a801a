# SPDX-License-Identifier: BSD-3-Clause
"""Torch's streams and events, as far as a buffer needs them."""
from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager

import torch


def new(device: torch.device) -> torch.cuda.Stream:
    return torch.cuda.Stream(device)


def use(stream: torch.cuda.Stream) -> AbstractContextManager:
    """In this context the stream is the current one; it waits for what was the current one before."""
    stream.wait_stream(torch.cuda.current_stream())
    return torch.cuda.stream(stream)


def record() -> torch.cuda.Event:
    """Returns an event behind what the current stream was given."""
    event = torch.cuda.Event()
    event.record(torch.cuda.current_stream())
    return event


def wait(event: torch.cuda.Event) -> None:
    """The current stream waits for the event."""
    torch.cuda.current_stream().wait_event(event)


def finish() -> None:
    """The CPU waits for what the current stream was given."""
    torch.cuda.current_stream().synchronize()


def share(tensors: Iterable[object]) -> None:
    """Memory of these tensors, which another stream's pool gave, is not handed out again before the current stream has used it."""
    for tensor in tensors:
        if isinstance(tensor, torch.Tensor) and not is_captured():
            tensor.record_stream(torch.cuda.current_stream())


def is_captured() -> bool:
    """Whether a graph captures the current stream."""
    return torch.cuda.is_current_stream_capturing()


def current_device() -> int:
    return torch.cuda.current_device()
