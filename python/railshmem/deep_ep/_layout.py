# SPDX-License-Identifier: BSD-3-Clause
"""Who gets which tokens: counts that follow from the experts that tokens chose, and rows from their sources."""
from __future__ import annotations

from typing import NamedTuple

import torch


class Choice(NamedTuple):
    """Where the tokens of this rank go."""

    per_rank: torch.Tensor  #: [ranks], int32: tokens for each rank
    per_expert: torch.Tensor  #: [experts], int32: how often each expert is named
    in_rank: torch.Tensor  #: [tokens, ranks], bool: whether a token goes to a rank


def choice_of(topk_idx: torch.Tensor, experts: int, ranks: int) -> Choice:
    """topk_idx: [tokens, top-k], int64; -1 is no expert."""
    none = topk_idx < 0
    rank = torch.where(none, ranks, topk_idx // (experts // ranks))
    in_rank = topk_idx.new_zeros((topk_idx.shape[0], ranks + 1), dtype=torch.bool).scatter_(1, rank, True)[:, :ranks].contiguous()
    named = torch.where(none, experts, topk_idx).reshape(-1)
    ones = topk_idx.new_ones(named.shape, dtype=torch.int32)
    per_expert = topk_idx.new_zeros((experts + 1,), dtype=torch.int32).scatter_add_(0, named, ones)[:experts].contiguous()
    return Choice(in_rank.sum(0, dtype=torch.int32), per_expert, in_rank)


class Rows:
    """The ranks and tokens that received rows came from. All tensors are on the GPU; the CPU waits for nothing."""

    def __init__(self, counts: torch.Tensor, sources: torch.Tensor, rows: int):
        """counts: [ranks], rows from each. sources: [rows or more], the token of each row at its rank; rows behind the last one
        have any."""
        ends = counts.cumsum(0)
        row = counts.new_ones((rows,)).cumsum(0) - 1
        self.valid = row < ends[-1]  #: [rows], bool
        self.rank = torch.searchsorted(ends, row, right=True).clamp_(max=counts.shape[0] - 1)  #: [rows]
        self.token = torch.where(self.valid, sources[:rows].long(), 0)  #: [rows]

    def back(self, values: torch.Tensor, ranks: int, max_tokens: int) -> torch.Tensor:
        """Each row's values at its token's place, [ranks, max tokens, ...]; zeros where no row came from. Rows behind the last one go nowhere."""
        home = values.new_zeros((ranks * max_tokens + 1, *values.shape[1:]))
        place = torch.where(self.valid, self.rank * max_tokens + self.token, ranks * max_tokens)
        return home.index_copy_(0, place, values)[:-1].view(ranks, max_tokens, *values.shape[1:])
