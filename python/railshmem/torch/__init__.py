# SPDX-License-Identifier: BSD-3-Clause
"""Symmetric PyTorch tensors on the CPU and on CUDA devices, and communication with them. Needs torch.

A symmetric tensor is made by empty() or zeros() on every PE. Where a call names a symmetric tensor and a PE, it means that
PE's copy. Tensors, and parts of tensors that are passed, are contiguous. Element types and devices of both sides are equal.

Calls with CUDA tensors are put into a stream, torch's current one unless stream= names another: they return at once, and
happen when all that the stream was given before has ended. Graphs may capture them. Calls with CPU tensors are over when
they return; they take symmetric tensors.

Nothing is freed by the garbage collector: freeing is collective. The memory of a tensor is gone after free() or
finalize(); calls of this package then raise ValueError or RuntimeError, but torch itself must not touch the tensor.
"""
try:
    import torch as _torch  # noqa: F401
except ImportError as error:
    raise ImportError("railshmem.torch needs PyTorch, which this Python does not have; pip install torch") from error

from railshmem.torch import _types  # noqa: F401  (tells the module what tensors are)
from railshmem.torch._collectives import all_gather, all_reduce, all_to_all, broadcast, reduce_scatter
from railshmem.torch._pools import check_symmetric, mem_pool, register, unregister
from railshmem.torch._tensors import empty, free, peer, zeros
from railshmem.torch._transfers import barrier, get, put, put_signal, quiet, signal_op, wait_signal

__all__ = ["all_gather", "all_reduce", "all_to_all", "barrier", "broadcast", "check_symmetric", "empty", "free", "get", "mem_pool",
           "peer", "put", "put_signal", "quiet", "reduce_scatter", "register", "signal_op", "unregister", "wait_signal", "zeros"]
