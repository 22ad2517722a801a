# SPDX-License-Identifier: BSD-3-Clause
"""Symmetric memory for the tensors of collectives, leased and returned without a word to other PEs."""
from __future__ import annotations

import math
import warnings
from collections.abc import Sequence

import numpy as np
import torch
from torch.utils.dlpack import from_dlpack

from railshmem import _core
from railshmem import torch as rt
from railshmem.torch._types import ELEMENTS

_CODES = {"int": 0, "uint": 1, "float": 2, "bfloat16": 4, "complex": 5, "bool": 6}
#: Code of DLPack and bits of the element types that torch's from_dlpack takes in every version; others come as bytes.
_PACKED = {dtype: (_CODES[kind], 8 * nbytes) for dtype, (kind, nbytes) in ELEMENTS.items()
           if kind in _CODES and str(dtype) not in ("torch.uint16", "torch.uint32", "torch.uint64")}


class Pool:
    """A part of the symmetric heap on one device, from which tensors are leased.

    A lease ends when the tensor's memory is referenced no more, as with torch's own allocators: later work on the stream that
    leases next must come behind the last use. Leasing is local. PEs that lease in one order get equal places; that is the
    fastest, and nothing breaks where it is not so.
    """

    def __init__(self, nbytes: int, device: torch.device | str):
        """Reserves nbytes on the host heap ("cpu") or the heap in this PE's GPU ("cuda").

        Collective over all PEs of the job, with equal nbytes. Raises MemoryError on all where the heap is full.
        """
        self.device = torch.device(device)
        self.nbytes = nbytes
        self._memory = rt.empty(nbytes, dtype=torch.uint8, device=self.device)
        self._host = self._memory.numpy() if self.device.type == "cpu" else None
        self._base = self._memory.data_ptr()
        self._leases = _core.Leases(self._base, nbytes, -1 if self._host is not None else self._memory.device.index)
        self._misses = 0

    def __repr__(self) -> str:
        return (f"<railshmem.fsdp.Pool of {self.nbytes} bytes on {self.device}, {self.leases} leases, {self._misses} requests "
                "that did not fit>")

    @property
    def leases(self) -> int:
        """How many tensors are leased now."""
        return self._leases.count

    @property
    def misses(self) -> int:
        """How many requests did not fit and got ordinary memory."""
        return self._misses

    def lease(self, size: Sequence[int], dtype: torch.dtype, device: torch.device) -> torch.Tensor:
        """Returns a tensor in the pool's memory, or an ordinary one where no part is free or device is not the pool's.

        Warns the first time that a request did not fit.
        """
        packed = _PACKED.get(dtype)
        capsule = None
        if torch.device(device).type == self.device.type and all(size):
            capsule = self._leases.take(size, *packed) if packed else self._leases.take([*size, dtype.itemsize], 1, 8)
        if capsule is None:
            self._count_miss(math.prod(size) * dtype.itemsize)
            return torch.empty(*size, dtype=dtype, device=device)
        tensor = from_dlpack(capsule)  # the lease ends when torch lets go of the tensor's storage
        return tensor if packed else tensor.view(dtype).view(*size)

    def offset_of(self, tensor: torch.Tensor) -> int | None:
        """Returns where in the pool a tensor begins, in bytes; None where it is not of the pool."""
        offset = tensor.data_ptr() - self._base
        return offset if tensor.device.type == self.device.type and 0 <= offset < self.nbytes else None

    def bytes_at(self, offset: int, nbytes: int) -> np.ndarray:
        """Returns a part of a pool on the CPU, as a symmetric array of bytes."""
        return self._host[offset:offset + nbytes]

    def close(self) -> None:
        """Frees the pool's memory. Collective over all PEs; tensors that are leased must not be touched any more."""
        self._host = None
        rt.free(self._memory)

    def _count_miss(self, nbytes: int) -> None:
        self._misses += 1
        if self._misses == 1 and nbytes:
            warnings.warn(f"railshmem.fsdp: {self!r} has no {nbytes} bytes left, so this tensor has ordinary memory, which is "
                          "slower; make the pool larger (install(..., in_flight=))", RuntimeWarning, stacklevel=4)
