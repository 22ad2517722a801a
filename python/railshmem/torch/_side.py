# SPDX-License-Identifier: BSD-3-Clause
"""Streams of the library's own, where asynchronous collectives run, and what is under way there."""
from __future__ import annotations

import torch

#: By the key of a team: the event behind its last asynchronous collective, for which no stream has waited yet. No two
#: collectives of a team may run at once.
pending: dict[int, torch.cuda.Event] = {}

_streams: dict[int, torch.cuda.Stream] = {}


def stream_of(device: torch.device) -> torch.cuda.Stream:
    """Returns the stream for asynchronous collectives of this GPU."""
    if device.index not in _streams:
        _streams[device.index] = torch.cuda.Stream(device)
    return _streams[device.index]
