# SPDX-License-Identifier: BSD-3-Clause
"""The ranks and tokens that received rows came from."""
from __future__ import annotations

import torch


class Rows:
    """The ranks and tokens that received rows came from. All tensors are on the GPU; the CPU waits for nothing."""

    def __init__(self, begins: torch.Tensor, sources: torch.Tensor, rows: int):
        """begins: [ranks + 1], the first row from each rank, and how many there are. sources: [rows or more], the token of each row at
        its rank; rows behind the last one have any."""
        ends = begins[1:]
        row = ends.new_ones((rows,), dtype=torch.int64).cumsum(0) - 1
        self.valid = row < ends[-1]  #: [rows], bool
        self.rank = torch.searchsorted(ends.long(), row, right=True).clamp_(max=ends.shape[0] - 1)  #: [rows]
        self.token = torch.where(self.valid, sources[:rows].long(), 0)  #: [rows]

    def back(self, values: torch.Tensor, ranks: int, max_tokens: int) -> torch.Tensor:
        """Each row's values at its token's place, [ranks, max tokens, ...]; zeros where no row came from. Rows behind the last one go nowhere."""
        home = values.new_zeros((ranks * max_tokens + 1, *values.shape[1:]))
        place = torch.where(self.valid, self.rank * max_tokens + self.token, ranks * max_tokens)
        return home.index_copy_(0, place, values)[:-1].view(ranks, max_tokens, *values.shape[1:])
