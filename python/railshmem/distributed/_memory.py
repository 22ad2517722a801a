# SPDX-License-Identifier: BSD-3-Clause
"""CPU tensors as bytes, and tensors that are not contiguous as copies that are."""
from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence

import numpy as np
import torch


def bytes_of(tensor: torch.Tensor) -> np.ndarray:
    """Returns the memory of a contiguous CPU tensor as an array of bytes."""
    return tensor.detach().reshape(-1).view(torch.uint8).numpy()


def gathered(tensor: torch.Tensor) -> torch.Tensor:
    """Returns the tensor where it is contiguous, or else a copy; without a pending conjugation, and no part of a graph."""
    if tensor.is_contiguous() and not (tensor.requires_grad or tensor.is_conj() or tensor.is_neg()):
        return tensor  # the usual case: four operations of torch fewer
    return tensor.detach().resolve_conj().resolve_neg().contiguous()


@contextlib.contextmanager
def scattered(tensors: Sequence[torch.Tensor]) -> Iterator[list[torch.Tensor]]:
    """Gives contiguous tensors to write to; what was written is in `tensors` afterwards."""
    buffers = [gathered(tensor) for tensor in tensors]
    yield buffers
    for tensor, buffer in zip(tensors, buffers):
        hand_over(buffer, tensor)


def hand_over(buffer: torch.Tensor, tensor: torch.Tensor) -> None:
    """Brings to a tensor what was written to gathered(tensor)."""
    if buffer is not tensor and buffer.data_ptr() != tensor.data_ptr():
        tensor.detach().copy_(buffer)
