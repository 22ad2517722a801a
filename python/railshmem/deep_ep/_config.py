# SPDX-License-Identifier: BSD-3-Clause
"""Settings of calls for many tokens."""
from __future__ import annotations

import dataclasses

from railshmem.deep_ep import _nodes, _throughput

#: Tokens of a rank that a buffer with num_nvl_bytes of the hint has room for.
HINTED_TOKENS = 4096


@dataclasses.dataclass(frozen=True)
class Config:
    """num_sms: multiprocessors that a call occupies at most; 0 is all. The other values change nothing: tokens are not sent in chunks."""

    num_sms: int = 20
    num_max_nvl_chunked_send_tokens: int = 6
    num_max_nvl_chunked_recv_tokens: int = 256
    num_max_rdma_chunked_send_tokens: int = 6
    num_max_rdma_chunked_recv_tokens: int = 256

    def get_nvl_buffer_size_hint(self, hidden_bytes: int, num_ranks: int) -> int:
        """Returns the num_nvl_bytes with which dispatch() takes 4096 tokens of each rank, of bfloat16 or 8 bits.

        hidden_bytes: of a token of bfloat16. Also before there is a group. Calls with more tokens name the bytes that they need.
        """
        return _throughput.nbytes_of(num_ranks, hidden_bytes // 2, HINTED_TOKENS)

    def get_rdma_buffer_size_hint(self, hidden_bytes: int, num_ranks: int) -> int:
        """Returns the num_rdma_bytes that dispatch() needs beside num_nvl_bytes where ranks are on several nodes, else 0.

        More ranks than LOCAL_WORLD_SIZE are on several nodes; without that variable, which torchrun sets, more than 8. Of a buffer with
        low_latency_mode num_rdma_bytes are for low-latency calls alone; then add these bytes to num_nvl_bytes.
        """
        if not _nodes.are_between(num_ranks):
            return 0
        near, far = (_throughput.nbytes_of(num_ranks, hidden_bytes // 2, HINTED_TOKENS, between) for between in (False, True))
        return far - near
