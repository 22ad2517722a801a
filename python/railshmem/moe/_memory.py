# SPDX-License-Identifier: BSD-3-Clause
"""The GPU of the symmetric heap, symmetric memory there, and memory of torch's allocator for results."""
from __future__ import annotations

import torch

from railshmem import _core
from railshmem.torch import _gpu, _tensors


def take_gpu(function: str) -> torch.device:
    """Returns the device of the symmetric heap, which is torch's current one; collective at the first call."""
    return _gpu.take(torch.device("cuda"), function)


def symmetric(function: str, nbytes: int, name: str, device: torch.device) -> torch.Tensor:
    """Returns nbytes of symmetric memory as a tensor of bytes. Collective over all PEs."""
    with torch.cuda.device(device):
        return _tensors._bytes(_core.allocate_on_device(function, nbytes, name, align=256), nbytes, device)


def settle(device: torch.device) -> None:
    """Waits until the GPU has nothing to do."""
    torch.cuda.synchronize(device)


def is_current(device: torch.device) -> bool:
    return torch.cuda.current_device() == device.index


empty = torch.empty


def counts(number: int) -> torch.Tensor:
    """Returns int64 of the CPU that the GPU writes."""
    return torch.empty(number, dtype=torch.int64, device="cpu", pin_memory=True)
