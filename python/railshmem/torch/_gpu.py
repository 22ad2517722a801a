# SPDX-License-Identifier: BSD-3-Clause
"""The GPU whose memory holds the symmetric heap of this PE."""
from __future__ import annotations

import torch

from railshmem import _core

#: All that quiet() and barrier() may be given for the heap's GPU, so that they need not make a torch.device of it.
names: set[torch.device | str | int] = set()


def choose(device: torch.device | str | int) -> torch.device:
    """Makes this CUDA device torch's current one, with its context; before the library starts. Returns it with its number."""
    device = torch.device("cuda", device) if isinstance(device, int) else torch.device(device)
    if device.type != "cuda":
        raise ValueError(f"railshmem.init: device is {device}; pass a CUDA device, or leave it out for a job on CPUs")
    if not torch.cuda.is_available():
        raise RuntimeError("railshmem.init: torch finds no CUDA device; leave out device for a job on CPUs")
    index = torch.cuda.current_device() if device.index is None else device.index
    torch.cuda.set_device(index)
    torch.cuda.synchronize()  # makes the context, which the library looks for
    return torch.device("cuda", index)


def take(device: torch.device, function: str) -> torch.device:
    """Returns device with its number, if the heap in GPU memory is there or can be taken there; else RuntimeError.

    Collective at the first call. A device without a number is torch's current one.
    """
    if not torch.cuda.is_available():
        raise RuntimeError(f"{function}: torch finds no CUDA device; pass device='cpu' for a tensor on the host heap")
    index = torch.cuda.current_device() if device.index is None else device.index
    with torch.cuda.device(index):
        torch.cuda.current_stream().synchronize()  # makes the context that the heap is taken from
        at = _core.take_gpu(function, index)
    if at != index:
        raise RuntimeError(f"{function}: device is cuda:{index}, and the symmetric heap of this PE is on cuda:{at}; pass "
                           "that device, or choose another by railshmem.init(device=...)")
    names.clear()
    names.update({"cuda", torch.device("cuda"), f"cuda:{index}", torch.device("cuda", index), index})
    return torch.device("cuda", index)
