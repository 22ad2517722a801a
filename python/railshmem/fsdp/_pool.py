# SPDX-License-Identifier: BSD-3-Clause
"""Symmetric memory for the tensors of collectives, leased and returned without a word to other PEs."""
from __future__ import annotations

import math
import warnings
import weakref
from collections.abc import Sequence

import numpy as np
import torch

from railshmem import numpy as rn
from railshmem import torch as rt
from railshmem.fsdp._blocks import Blocks


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
        self._blocks = Blocks(nbytes)
        self._leases = 0
        self._misses = 0

    def __repr__(self) -> str:
        return (f"<railshmem.fsdp.Pool of {self.nbytes} bytes on {self.device}, {self._leases} leases, {self._misses} requests "
                "that did not fit>")

    @property
    def leases(self) -> int:
        """How many tensors are leased now."""
        return self._leases

    @property
    def misses(self) -> int:
        """How many requests did not fit and got ordinary memory."""
        return self._misses

    def lease(self, size: Sequence[int], dtype: torch.dtype, device: torch.device) -> torch.Tensor:
        """Returns a tensor in the pool's memory, or an ordinary one where no part is free or device is not the pool's.

        Warns the first time that a request did not fit.
        """
        nbytes = math.prod(size) * dtype.itemsize
        offset = self._blocks.take(nbytes) if torch.device(device).type == self.device.type and nbytes else None
        if offset is None:
            self._count_miss(nbytes)
            return torch.empty(*size, dtype=dtype, device=device)
        return self._leased(offset, nbytes).view(dtype).view(*size)

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

    def _leased(self, offset: int, nbytes: int) -> torch.Tensor:
        self._leases += 1
        if self._host is not None:
            holder = self.bytes_at(offset, nbytes).view(_Held)
            tensor = torch.from_numpy(holder)
        else:
            holder = _OnDevice(self._base + offset, nbytes)
            tensor = torch.as_tensor(holder, device=self._memory.device)
        # torch keeps the holder as long as any tensor shares this memory.
        weakref.finalize(holder, self._end, offset, nbytes).atexit = False
        return tensor

    def _end(self, offset: int, nbytes: int) -> None:
        self._leases -= 1
        self._blocks.give_back(offset, nbytes)

    def _count_miss(self, nbytes: int) -> None:
        self._misses += 1
        if self._misses == 1 and nbytes:
            warnings.warn(f"railshmem.fsdp: {self!r} has no {nbytes} bytes left, so this tensor has ordinary memory, which is "
                          "slower; make the pool larger (install(..., in_flight=))", RuntimeWarning, stacklevel=4)


class _Held(np.ndarray):
    """An array that can be watched, other than numpy's own."""


class _OnDevice:
    """A part of GPU memory as torch.as_tensor() takes it."""

    def __init__(self, address: int, nbytes: int):
        self.__cuda_array_interface__ = {"shape": (nbytes,), "typestr": "|u1", "data": (address, False), "version": 3}
