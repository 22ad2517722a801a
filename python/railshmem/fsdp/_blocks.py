# SPDX-License-Identifier: BSD-3-Clause
"""Which parts of a pool are free: first fit, by offsets. Equal calls in one order give equal offsets on all PEs."""
from __future__ import annotations

ALIGNMENT = 512  # bytes; that of torch's CUDA allocator


class Blocks:
    """The free parts of nbytes bytes."""

    def __init__(self, nbytes: int):
        self._free = [(0, nbytes // ALIGNMENT * ALIGNMENT)]  # offset and end, ascending and apart

    def take(self, nbytes: int) -> int | None:
        """Returns the lowest offset at which nbytes are free, and takes them; None where there is none."""
        need = max(-(-nbytes // ALIGNMENT), 1) * ALIGNMENT
        for index, (begin, end) in enumerate(self._free):
            if end - begin >= need:
                self._free[index:index + 1] = [(begin + need, end)] if end - begin > need else []
                return begin
        return None

    def give_back(self, offset: int, nbytes: int) -> None:
        """Frees what take(nbytes) returned as offset."""
        end = offset + max(-(-nbytes // ALIGNMENT), 1) * ALIGNMENT
        merged: list[tuple[int, int]] = []
        for part in sorted([*self._free, (offset, end)]):
            if merged and merged[-1][1] == part[0]:
                merged[-1] = (merged[-1][0], part[1])
            else:
                merged.append(part)
        self._free = merged
