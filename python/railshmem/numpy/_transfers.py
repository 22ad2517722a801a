# SPDX-License-Identifier: BSD-3-Clause
"""Puts, gets and signals.

put() and put_signal() return when source may be changed; quiet() or barrier_all() completes them at the target. Two puts
to one PE are ordered by fence() only. get() returns with the data. All raise ValueError for a PE that the job does not
have, for an array that is not symmetric, not contiguous or read-only, and for unequal sizes; TypeError for unequal
element types; RuntimeError outside of init() and finalize().
"""
from __future__ import annotations

from typing import TYPE_CHECKING

from railshmem import _core

if TYPE_CHECKING:
    from numpy.typing import NDArray


def put(dest: NDArray, source: NDArray, pe: int) -> None:
    """Copies source to the copy of dest on PE pe. dest is symmetric; source is any array of its size and type."""
    _core.put("railshmem.numpy.put", dest, source, pe)


def get(dest: NDArray, source: NDArray, pe: int) -> None:
    """Copies the copy of source on PE pe to dest. source is symmetric; dest is any array of its size and type."""
    _core.get("railshmem.numpy.get", dest, source, pe)


def put_signal(dest: NDArray, source: NDArray, signal: NDArray, value: int, pe: int, op: str = "set") -> None:
    """Does put(dest, source, pe), and then updates signal on PE pe: to value (op "set") or by value ("add").

    signal is one symmetric uint64, as in signals[2:3]. Who sees the signal there with wait_signal() sees the data.
    """
    _core.put_signal("railshmem.numpy.put_signal", dest, source, signal, value, pe, op)


def signal_op(signal: NDArray, value: int, pe: int, op: str = "set") -> None:
    """Updates the symmetric uint64 signal on PE pe: to value (op "set") or by value ("add"). Ordered by fence()."""
    _core.signal_op("railshmem.numpy.signal_op", signal, value, pe, op)
