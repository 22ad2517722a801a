# SPDX-License-Identifier: BSD-3-Clause
"""Atomic operations on one element of a symmetric array on PE pe: int32, int64, uint32 or uint64, as in a[3:4].

They are atomic with respect to each other, not to plain loads and stores. Those that return a value return when they are
complete; the others are completed by quiet() or barrier_all(). Sums wrap. All raise OverflowError for a value that does
not fit the element type, and what put() raises.
"""
from __future__ import annotations

from typing import TYPE_CHECKING

from railshmem import _core

if TYPE_CHECKING:
    from numpy.typing import NDArray


def atomic_fetch(a: NDArray, pe: int) -> int:
    """Returns the element, as it is on PE pe at some moment of the call."""
    return _core.atomic_fetch(a, pe)


def atomic_set(a: NDArray, value: int, pe: int) -> None:
    """Sets the element to value."""
    _core.atomic_set(a, value, pe)


def atomic_add(a: NDArray, value: int, pe: int) -> None:
    """Adds value to the element."""
    _core.atomic_add(a, value, pe)


def atomic_fetch_add(a: NDArray, value: int, pe: int) -> int:
    """Adds value to the element, and returns what it was before."""
    return _core.atomic_fetch_add(a, value, pe)


def atomic_swap(a: NDArray, value: int, pe: int) -> int:
    """Sets the element to value, and returns what it was before."""
    return _core.atomic_swap(a, value, pe)


def atomic_compare_swap(a: NDArray, condition: int, value: int, pe: int) -> int:
    """Sets the element to value where it equals condition; returns what it was before."""
    return _core.atomic_compare_swap(a, condition, value, pe)
