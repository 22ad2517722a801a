# SPDX-License-Identifier: BSD-3-Clause
"""The interface of DeepEP for its low-latency mode, on librailshmem-moe.so: for programs that import deep_ep. Needs torch.

    import railshmem.deep_ep as deep_ep
    buffer = deep_ep.Buffer(group, num_rdma_bytes=deep_ep.Buffer.get_low_latency_rdma_size_hint(128, 7168, size, 256),
                            low_latency_mode=True)
    recv_x, recv_count, handle, event, hook = buffer.low_latency_dispatch(x, topk_idx, 128, 256)
    combined_x, event, hook = buffer.low_latency_combine(results, topk_idx, topk_weights, handle)
    buffer.destroy()

The ranks of a group may be on several nodes. docs/moe.md has the table of what is there and what is not.
"""
try:
    import torch as _torch
except ImportError as error:
    raise ImportError("railshmem.deep_ep needs PyTorch, which this Python does not have; pip install torch") from error

from railshmem.deep_ep._buffer import Buffer
from railshmem.deep_ep._config import Config
from railshmem.deep_ep._event import EventHandle, EventOverlap

#: The type of topk_idx.
topk_idx_t = _torch.int64

__all__ = ["Buffer", "Config", "EventHandle", "EventOverlap", "topk_idx_t"]
