# SPDX-License-Identifier: BSD-3-Clause
"""Mixture of experts: tokens go to the PEs that have their experts, and the weighted sums of the results come back. Needs torch.

    exchange = railshmem.moe.Exchange(experts=64, topk=8, hidden=7168, max_tokens=128)
    received = exchange.dispatch(x, chosen, weights)        # x [tokens, 7168], chosen and weights [tokens, 8]
    results = my_experts(received.rows, received.counts)    # of the shape of received.rows
    out = exchange.combine(results)                         # [tokens, 7168]
    exchange.free()

GPUs of a node map each other's memory; between nodes tokens go by the network. Calls go into torch's current stream and return
at once; graphs may capture them. This is the layout of the worst case, in which no call waits for the CPU.

The calls are those of shmemx_moe.h, in librailshmem-moe.so; docs/moe.md shows who writes where.
"""
try:
    import torch as _torch  # noqa: F401
except ImportError as error:
    raise ImportError("railshmem.moe needs PyTorch, which this Python does not have; pip install torch") from error

from railshmem.moe._exchange import Exchange, Layout, Received

__all__ = ["Exchange", "Layout", "Received"]
