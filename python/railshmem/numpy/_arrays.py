# SPDX-License-Identifier: BSD-3-Clause
"""Symmetric arrays: making, freeing, and looking into a peer's."""
from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from railshmem import _core
from railshmem._names import name_of

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray


def empty(shape: int | tuple[int, ...], dtype: DTypeLike = np.float64) -> NDArray:
    """Returns a symmetric array on the host heap, with whatever was in that memory.

    Collective over all PEs, with equal arguments, in one order; ends with a barrier. Raises MemoryError on every PE where
    the heap (SHMEM_SYMMETRIC_SIZE) is full, and TypeError for an element type of Python objects.
    """
    return _make(shape, dtype, zero=False)


def zeros(shape: int | tuple[int, ...], dtype: DTypeLike = np.float64) -> NDArray:
    """Returns a symmetric array of zeroes, which are in place on every PE. Otherwise like empty()."""
    return _make(shape, dtype, zero=True)


def free(a: NDArray) -> None:
    """Frees the array that empty() or zeros() returned. Collective, in one order; begins with a barrier.

    The array, its parts and what peer() returned for it must not be touched afterwards. Raises ValueError where the array
    is not symmetric, is only the end of one, or was freed.
    """
    _core.free("railshmem.numpy.free", a)


def peer(a: NDArray, pe: int) -> NDArray:
    """Returns the copy of the symmetric array a on PE pe as an array, for plain loads and stores. Local.

    Orders nothing: use barrier_all(), signals or atomic operations. Raises RuntimeError where the memory of that PE is
    not mapped, as between nodes; put() and get() always work.
    """
    return np.ndarray(a.shape, a.dtype, buffer=_core.peer_bytes("railshmem.numpy.peer", a, pe))


def _make(shape: int | tuple[int, ...], dtype: DTypeLike, zero: bool) -> NDArray:
    dtype = np.dtype(dtype)
    if dtype.hasobject:
        raise TypeError(f"railshmem.numpy.empty: dtype is {dtype}; Python objects have no meaning on other PEs, so pass a "
                        "type of numbers")
    extents = shape if isinstance(shape, tuple) else (shape,)
    if any(extent < 0 for extent in extents):
        raise ValueError(f"railshmem.numpy.empty: shape is {shape}; extents must not be negative")
    nbytes = math.prod(int(extent) for extent in extents) * dtype.itemsize
    name = name_of(f"{dtype}{list(extents)}", depth=2)
    return np.ndarray(extents, dtype, buffer=_core.allocate("railshmem.numpy.empty", nbytes, zero, name))
