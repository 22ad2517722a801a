# SPDX-License-Identifier: BSD-3-Clause
"""Functions for Triton kernels: a kernel puts, gets, signals and waits by itself. Triton 3.4 or newer, on NVIDIA GPUs.

    import railshmem.triton as rt, triton.language as tl

    @rt.jit
    def give(dest, source, signal, nbytes, pe):
        rt.put_signal(dest, source, nbytes, signal, 1, rt.SIGNAL_SET, pe)

rt.jit is triton.jit that also links the device library and tells the library of each module that Triton loads. Kernels of
triton.jit are not touched. Functions of triton.jit may call the functions below when a kernel of rt.jit calls them.

A program (one instance of the kernel, of any num_warps) makes each call once, whole: its threads meet first, so everything
that the program stored before is there for the call. Arguments are scalars: pointers into symmetric memory, sizes in bytes,
PE numbers. Other programs are other callers: where all of a grid run a call, each makes it, so guard with tl.program_id.
"""
try:
    import triton as _triton
except ImportError as error:
    raise ImportError("railshmem.triton needs the package triton, version 3.4 or newer: pip install triton") from error
if tuple(int(part) for part in _triton.__version__.split(".")[:2]) < (3, 4):
    raise ImportError(f"railshmem.triton needs triton 3.4 or newer; this is {_triton.__version__}")

from railshmem.triton._atomics import (atomic_add, atomic_compare_swap, atomic_fetch, atomic_fetch_add, atomic_set,
                                       atomic_swap)
from railshmem.triton._constants import (CMP_EQ, CMP_GE, CMP_GT, CMP_LE, CMP_LT, CMP_NE, SIGNAL_ADD, SIGNAL_SET)
from railshmem.triton._functions import (barrier_all, fence, get, get_nbi, my_pe, n_pes, ptr, put, put_nbi, put_signal,
                                         put_signal_nbi, quiet, signal_fetch, signal_op, signal_wait_until, sync_all)
from railshmem.triton._jit import extern_libs, jit

__all__ = ["CMP_EQ", "CMP_GE", "CMP_GT", "CMP_LE", "CMP_LT", "CMP_NE", "SIGNAL_ADD", "SIGNAL_SET", "atomic_add",
           "atomic_compare_swap", "atomic_fetch", "atomic_fetch_add", "atomic_set", "atomic_swap", "barrier_all",
           "extern_libs", "fence", "get", "get_nbi", "jit", "my_pe", "n_pes", "ptr", "put", "put_nbi", "put_signal",
           "put_signal_nbi", "quiet", "signal_fetch", "signal_op", "signal_wait_until", "sync_all"]
