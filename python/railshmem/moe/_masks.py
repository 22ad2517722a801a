# SPDX-License-Identifier: BSD-3-Clause
"""Members without which an exchange goes on."""
from __future__ import annotations

import torch

from railshmem.moe import _checks, _memory

_NAME = "railshmem.moe.Exchange"


class Masks:
    """The calls of an Exchange that is maskable."""

    def mask(self, member: int) -> None:
        """Goes on without a member: this PE's calls send it nothing, its counts are 0, its experts are as if they were -1.

        member: its number in the team, another than rank. In stream order; graphs that were captured before see it. Local: all
        members that go on mask the same ones. What is masked by a wait (mask_after_ms) needs no call. Raises RuntimeError for an
        exchange that is not maskable, and ValueError for a member that there is not.
        """
        self._require_member(f"{_NAME}.mask", member)
        self._handle.mask(f"{_NAME}.mask", member)

    def unmask(self, member: int | None = None) -> None:
        """Takes a member back, or all without one, in stream order. Raises as mask().

        All members, also those that come back, call it between the same calls: they wait for their streams, meet, call it, wait
        for it and meet again. A member that comes back takes back all. combine() needs a new dispatch() then.
        """
        function = f"{_NAME}.unmask"
        self._require_whole(function)
        if member is not None:
            self._require_member(function, member)
        self._require_maskable(function)
        self._handle.unmask(function, -1 if member is None else member)
        self._tokens = None

    def masked(self, into: torch.Tensor | None = None) -> torch.Tensor:
        """Returns who is masked, in stream order: [size], int32, 1 for those that are. into: where it goes. Raises as mask()."""
        function = f"{_NAME}.masked"
        self._require_maskable(function)
        if into is None:
            into = _memory.empty((self.size,), dtype=torch.int32, device=self.device)
        else:
            _checks.shape(function, "into", into, (self.size,))
        self._handle.masked(function, into)
        return into

    def meet(self) -> None:
        """Waits, in stream order, until all members that are not masked have made this call; masks as other waits do.

        Collective over them, in one order with the other calls. Raises as mask().
        """
        self._require_whole(f"{_NAME}.meet")
        self._require_maskable(f"{_NAME}.meet")
        self._handle.meet(f"{_NAME}.meet")

    def _require_maskable(self, function: str) -> None:
        if not self.maskable:
            raise RuntimeError(f"{function}: this exchange was made without maskable=True")
        self._require_device(function)

    def _require_member(self, function: str, member: int) -> None:
        self._require_maskable(function)
        if not isinstance(member, int) or not 0 <= member < self.size or member == self.rank:
            raise ValueError(f"{function}: member is {member}; it must be another member than this PE, {self.rank}, of 0 to {self.size - 1}")
