# SPDX-License-Identifier: BSD-3-Clause
"""Symmetric memory of this PE's GPU as tensors, by the library's own calls."""
import ctypes
import math

import torch


class _Block:
    def __init__(self, address, shape, typestr):
        self.__cuda_array_interface__ = {"shape": shape, "typestr": typestr, "data": (address, False), "version": 3}


class Memory:
    """Collective, like the calls: every PE allocates and closes in one order."""

    def __init__(self):
        self._library = ctypes.CDLL("librailshmem.so.0")  # the one that the package has loaded
        self._library.shmem_calloc.restype = ctypes.c_void_p
        self._library.shmem_calloc.argtypes = [ctypes.c_size_t, ctypes.c_size_t]
        self._library.shmem_free.argtypes = [ctypes.c_void_p]
        self._addresses = []

    def zeros(self, shape, typestr="<i8"):
        """A tensor; typestr is that of numpy: "<i8", "<f4", "|i1"."""
        address = self._library.shmem_calloc(math.prod(shape), int(typestr[2:]))
        if not address:
            raise MemoryError(f"no symmetric memory for {shape} of {typestr}")
        self._addresses.append(address)
        return torch.as_tensor(_Block(address, shape, typestr), device="cuda")

    def close(self):
        torch.cuda.synchronize()
        while self._addresses:
            self._library.shmem_free(self._addresses.pop())
