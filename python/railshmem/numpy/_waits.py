# SPDX-License-Identifier: BSD-3-Clause
"""Waits for this PE's own words until peers have updated them.

cmp is "==", "!=", ">", ">=", "<" or "<=". Other threads run during a wait. A wait that takes longer than SHMEM_WAIT_TIMEOUT
seconds, or whose peers have died, ends the process with a message.
"""
from __future__ import annotations

from typing import TYPE_CHECKING

from railshmem import _core

if TYPE_CHECKING:
    from numpy.typing import NDArray


def wait_signal(signal: NDArray, cmp: str, value: int) -> int:
    """Waits until this PE's signal, one symmetric uint64, compares true with value; returns what it was then.

    The data of the put_signal() that brought the value is there.
    """
    return _core.wait_signal("railshmem.numpy.wait_signal", signal, cmp, value)


def wait_until(a: NDArray, cmp: str, value: int) -> None:
    """Waits until this PE's a compares true with value: one symmetric int32, int64, uint32 or uint64, as in a[3:4]."""
    _core.wait_until("railshmem.numpy.wait_until", a, cmp, value)
