# SPDX-License-Identifier: BSD-3-Clause
"""Memory of torch's CUDA allocator: from the symmetric heap, or registered so that collectives need no copy."""
from __future__ import annotations

import torch

from railshmem import _core
from railshmem._names import name_of
from railshmem.torch import _gpu

#: Torch's allocator asks for memory by multiples of this many bytes.
_SEGMENT = 2 << 20
_NOWHERE = (1 << 64) - 1


def mem_pool(nbytes: int, device: torch.device | str | int | None = None, no_split: bool = True) -> torch.cuda.MemPool:
    """Returns a torch.cuda.MemPool whose memory, nbytes rounded up to 2 MiB, is on the symmetric heap of the GPU.

    Collective over all PEs, with equal nbytes, in one order. Tensors that torch makes within torch.cuda.use_mem_pool(pool) lie
    there; making and dropping them is local, and graphs may be captured meanwhile. Torch takes at least 2 MiB for a tensor, and
    20 MiB for one of 1 to 10 MiB, unless no_split=False lets tensors share these. A pool that is full raises
    torch.OutOfMemoryError on that PE.

    PEs that make and drop tensors of equal sizes in one order get them at equal offsets, and only such tensors are symmetric:
    check_symmetric(t) tells. Collectives take any. The memory is given back by finalize(), behind which no tensor of the
    pool may be touched. Raises MemoryError on every PE where the heap has no room, RuntimeError where it is not in GPU memory.
    """
    function = "railshmem.torch.mem_pool"
    if nbytes < 1:
        raise ValueError(f"{function}: nbytes is {nbytes}; it must be a number of bytes, 1 or more")
    device = _gpu.take(torch.device("cuda" if device is None else device), function)
    size = (nbytes + _SEGMENT - 1) // _SEGMENT * _SEGMENT
    with torch.cuda.device(device):
        number, _ = _core.make_pool(function, size, name_of(f"mem_pool({nbytes})", depth=1))
    allocator = torch.cuda.memory.CUDAPluggableAllocator(_core.__file__, f"railshmem_pool_take_{number}",
                                                         "railshmem_pool_give_back")
    pool = torch.cuda.MemPool(allocator.allocator(), **({"no_split": True} if no_split else {}))
    pool.railshmem_allocator = allocator  # lives as long as the pool
    return pool


def check_symmetric(t: torch.Tensor) -> None:
    """Raises an exception on every PE unless all PEs' t are at one place of the symmetric heap. Collective over all PEs.

    ValueError where this PE's t is not on the symmetric heap at all, else RuntimeError.
    """
    function = "railshmem.torch.check_symmetric"
    elsewhere = None
    try:
        offset, block = _core.place_of(function, t)
    except ValueError as error:  # the others are told before it is raised
        elsewhere, offset, block = error, _NOWHERE, _NOWHERE
    told = _core.exchange_words(function, [offset, block] * _core.n_pes(), None)
    if elsewhere is not None:
        raise elsewhere
    for pe in range(_core.n_pes()):
        if told[2 * pe] == _NOWHERE:
            raise RuntimeError(f"{function}: the tensor of PE {pe} is not on the symmetric heap; its own message says more")
        if (told[2 * pe], told[2 * pe + 1]) != (told[0], told[1]):
            raise RuntimeError(
                f"{function}: PE {pe} has the tensor at byte {told[2 * pe]} of block {told[2 * pe + 1]}, and PE 0 at byte {told[0]} "
                f"of block {told[1]}; make and drop tensors of equal sizes in one order on all PEs")


def register(t: torch.Tensor) -> None:
    """Lets collectives on streams use the memory of this CUDA tensor without a copy. Local.

    For memory of torch's own allocator (also with expandable_segments). Symmetric tensors need it not. unregister(t) before
    the tensor is dropped. Raises RuntimeError where the memory cannot be shared or overlaps with registered memory, TypeError
    for a CPU tensor.
    """
    _core.register_memory("railshmem.torch.register", t)


def unregister(t: torch.Tensor) -> None:
    """Undoes register(t), after waiting for this PE's GPU; so not while a graph is captured. Local.

    Raises RuntimeError where t is not registered. Graphs that captured a collective on t keep it registered until they are
    destroyed, and its memory must live as long.
    """
    _core.unregister_memory("railshmem.torch.unregister", t)
