# SPDX-License-Identifier: BSD-3-Clause
"""Settings of DeepEP's high-throughput kernels, which this package does not have yet: programs ask for them in any mode."""
from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True)
class Config:
    """Multiprocessors, and how many tokens are sent at once and have room: over NVLink, and between nodes. Nothing reads it yet."""

    num_sms: int = 20
    num_max_nvl_chunked_send_tokens: int = 6
    num_max_nvl_chunked_recv_tokens: int = 256
    num_max_rdma_chunked_send_tokens: int = 6
    num_max_rdma_chunked_recv_tokens: int = 256

    def get_nvl_buffer_size_hint(self, hidden_bytes: int, num_ranks: int) -> int:
        """Returns 0: a buffer needs no num_nvl_bytes."""
        return 0

    def get_rdma_buffer_size_hint(self, hidden_bytes: int, num_ranks: int) -> int:
        """Returns 0: without the high-throughput kernels, get_low_latency_rdma_size_hint() alone says how much is needed."""
        return 0
