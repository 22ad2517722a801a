# SPDX-License-Identifier: BSD-3-Clause
"""Ranks without which a buffer's low-latency calls go on."""
from __future__ import annotations

import torch

from railshmem.deep_ep._lanes import FUNCTION, Lanes
from railshmem.moe import Exchange


class Shrink:
    """The calls of a Buffer with enable_shrink=True. They go into the current stream, behind the buffer's calls."""

    def low_latency_update_mask_buffer(self, rank_to_mask: int, mask: bool = False) -> None:
        """Masks a rank, another than this one, or takes it back; see Exchange.mask() and unmask() for who must agree on it.

        Low-latency calls go on without a masked rank. Waits mask ranks, too: see Buffer.mask_after_ms. Raises RuntimeError for a
        buffer without enable_shrink, ValueError for a rank that there is not.
        """
        lanes, keeper = self._keeper(f"{FUNCTION}.low_latency_update_mask_buffer")
        if mask:
            self._run(lambda: keeper.mask(rank_to_mask), False, ())
        else:
            self._run(lambda: lanes.unmask(rank_to_mask), False, ())

    def low_latency_query_mask_buffer(self, mask_status: torch.Tensor) -> None:
        """Writes to mask_status, [ranks], int32, 1 for each rank that is masked here and 0 for the others. Raises as above."""
        _, keeper = self._keeper(f"{FUNCTION}.low_latency_query_mask_buffer")
        self._run(lambda: keeper.masked(mask_status), False, (mask_status,))

    def low_latency_clean_mask_buffer(self) -> None:
        """Takes all ranks back, as low_latency_update_mask_buffer() does with one. Raises as it does."""
        lanes, _ = self._keeper(f"{FUNCTION}.low_latency_clean_mask_buffer")
        self._run(lambda: lanes.unmask(None), False, ())

    def clean_low_latency_buffer(self, num_max_dispatch_tokens_per_rank: int, hidden: int, num_experts: int) -> None:
        """Cleans nothing: the words in the memory are numbered. With enable_shrink ranks that are not masked wait for each other."""
        keeper = self._require(f"{FUNCTION}.clean_low_latency_buffer").keeper
        if keeper is not None:
            self._run(keeper.meet, False, ())

    def _keeper(self, function: str) -> tuple[Lanes, Exchange]:
        lanes = self._require(function)
        if lanes.keeper is None:
            raise RuntimeError(f"{function}: this buffer was made without enable_shrink=True")
        return lanes, lanes.keeper
