# SPDX-License-Identifier: BSD-3-Clause
"""Symmetric numpy arrays in host memory, and communication with them.

A symmetric array is made by empty() or zeros() on every PE. Where a call names a symmetric array and a PE, it means that
PE's copy. Arrays, and parts of arrays that are passed, are contiguous in C order. Element types of both sides are equal.

Nothing is freed by the garbage collector: freeing is collective. The memory of an array is gone after free() or
finalize(); calls of this package then raise ValueError or RuntimeError, but numpy itself must not touch the array.
"""
from railshmem.numpy._arrays import empty, free, peer, zeros
from railshmem.numpy._atomics import (atomic_add, atomic_compare_swap, atomic_fetch, atomic_fetch_add, atomic_set,
                                      atomic_swap)
from railshmem.numpy._collectives import all_gather, all_reduce, all_to_all, broadcast, reduce_scatter
from railshmem.numpy._transfers import get, put, put_signal, signal_op
from railshmem.numpy._waits import wait_signal, wait_until

__all__ = ["all_gather", "all_reduce", "all_to_all", "atomic_add", "atomic_compare_swap", "atomic_fetch",
           "atomic_fetch_add", "atomic_set", "atomic_swap", "broadcast", "empty", "free", "get", "peer", "put",
           "put_signal", "reduce_scatter", "signal_op", "wait_signal", "wait_until", "zeros"]
