# SPDX-License-Identifier: BSD-3-Clause
"""Symmetric tensors: making, freeing, and looking into a peer's."""
from __future__ import annotations

import math

import torch

from railshmem import _core
from railshmem._names import name_of
from railshmem.torch import _gpu
from railshmem.torch._types import ELEMENTS

_get_default_device = getattr(torch, "get_default_device", None)  # since torch 2.3


def empty(*size: int | tuple[int, ...], dtype: torch.dtype | None = None,
          device: torch.device | str | int | None = None) -> torch.Tensor:
    """Returns a symmetric tensor with whatever was in that memory.

    size is given as torch.empty takes it. dtype is torch's default type unless given. device is torch's default device
    unless given: "cpu" for the host heap (SHMEM_SYMMETRIC_SIZE), "cuda" for the heap in GPU memory
    (SHMEM_DEVICE_HEAP_MAX); all PEs pass one kind of device.

    Collective over all PEs, with equal arguments, in one order; ends with a barrier. Raises MemoryError on every PE where
    the heap is full; RuntimeError for "cuda" where the heap is in host memory (SHMEM_HEAP_KIND, init(device=...)), or
    where its memory is another GPU's; ValueError and TypeError for sizes, types and devices without meaning.
    """
    return _make(size, dtype, device, zero=False)


def zeros(*size: int | tuple[int, ...], dtype: torch.dtype | None = None,
          device: torch.device | str | int | None = None) -> torch.Tensor:
    """Returns a symmetric tensor of zeroes, which are in place on every PE. Otherwise like empty()."""
    return _make(size, dtype, device, zero=True)


def free(t: torch.Tensor) -> None:
    """Frees the tensor that empty() or zeros() returned. Collective, in one order; begins with a barrier.

    Waits for what streams do with a CUDA tensor. The tensor, its parts and what peer() returned for it must not be touched
    afterwards. Raises ValueError where the tensor is not symmetric, is only the end of one, or was freed.
    """
    if getattr(t, "is_cuda", False):
        torch.cuda.synchronize(t.device)
    _core.free("railshmem.torch.free", t)


def peer(t: torch.Tensor, pe: int) -> torch.Tensor:
    """Returns the copy of the symmetric tensor t on PE pe as a tensor, which is read and written in place. Local.

    A CUDA tensor is on t's device, whose kernels reach the peer's memory. Orders nothing: use barriers or signals.
    Raises RuntimeError where the memory of that PE is not mapped, as between nodes; put() and get() always work.
    """
    address, nbytes = _core.peer_address("railshmem.torch.peer", t, pe)
    return _shaped(_bytes(address, nbytes, t.device), t.dtype, t.shape)


def _make(size: tuple, dtype: torch.dtype | None, device: torch.device | str | int | None, zero: bool) -> torch.Tensor:
    shape = torch.Size(size[0] if len(size) == 1 and isinstance(size[0], (tuple, list)) else size)
    if any(extent < 0 for extent in shape):
        raise ValueError(f"railshmem.torch.empty: size is {tuple(shape)}; extents must not be negative")
    dtype = torch.get_default_dtype() if dtype is None else dtype
    if dtype not in ELEMENTS:
        raise TypeError(f"railshmem.torch.empty: dtype is {dtype}, which this package does not move; pass torch.uint8 and "
                        "use view()")
    device = default_device() if device is None else torch.device(device)
    nbytes = math.prod(shape) * ELEMENTS[dtype][1]
    name = name_of(f"{str(dtype).removeprefix('torch.')}{list(shape)}", depth=2)
    if device.type == "cpu":
        memory = _core.allocate("railshmem.torch.empty", nbytes, zero, name)
        return _shaped(torch.frombuffer(memory, dtype=torch.uint8)[:nbytes], dtype, shape)
    if device.type != "cuda":
        raise ValueError(f"railshmem.torch.empty: device is {device}; accepted: cpu, cuda")
    return _make_on_device(nbytes, dtype, shape, device, zero, name)


def default_device() -> torch.device:
    """Returns the device of tensors for which none is named."""
    return _get_default_device() if _get_default_device else torch.device("cpu")


def _make_on_device(nbytes: int, dtype: torch.dtype, shape: torch.Size, device: torch.device, zero: bool,
                    name: str) -> torch.Tensor:
    device = _gpu.take(device, "railshmem.torch.empty")
    with torch.cuda.device(device):
        flat = _bytes(_core.allocate_on_device("railshmem.torch.empty", nbytes, name), nbytes, device)
        if zero:
            flat.zero_()
            torch.cuda.current_stream().synchronize()
            _core.barrier_all()  # a peer may write as soon as it has returned
    return _shaped(flat, dtype, shape)


def _shaped(flat: torch.Tensor, dtype: torch.dtype, shape: torch.Size) -> torch.Tensor:
    return flat.view(dtype).view(shape)


def _bytes(address: int, nbytes: int, device: torch.device) -> torch.Tensor:
    """Returns this memory as a tensor of bytes, which does not own it."""
    flat = torch.from_dlpack(_core.bytes_on(address, max(nbytes, 1), device.index if device.type == "cuda" else -1))
    return flat[:nbytes]
