# SPDX-License-Identifier: BSD-3-Clause
"""Functions for kernels of numba.cuda (the package numba-cuda 0.30 or newer): a kernel puts, gets, signals and waits by itself.

    from numba import cuda
    import railshmem.numba as rn

    @cuda.jit
    def give(dest, source, signal, pe):
        rn.putmem_signal_block(rn.at(dest, 0), rn.at(source, 0), source.nbytes, rn.at(signal, 0), 1, rn.SIGNAL_SET, pe)

The functions have the names of the standard, and integers for arguments: addresses (at(array, index)), sizes in bytes, PE numbers. A name
that ends in _block is called by all threads of a block with equal arguments, which meet first; every other one by a thread for itself.
Nothing else is needed: a kernel that calls one is linked with the device library, and the library is told of its module at its first launch.

railshmem.numba links PTX, with any CUDA from 12.4 on. railshmem.numba.lto has these functions as LTO-IR, which nvJitLink makes part of the
kernel: for kernels of cuda.jit(lto=True), and a CUDA of the major version that built railshmem, not older. A kernel uses one of the two.
"""
from railshmem.numba import _declarations
from railshmem.numba._address import at
from railshmem.numba._constants import CMP_EQ, CMP_GE, CMP_GT, CMP_LE, CMP_LT, CMP_NE, SIGNAL_ADD, SIGNAL_SET

globals().update(_declarations.functions("ptx"))

__all__ = ["CMP_EQ", "CMP_GE", "CMP_GT", "CMP_LE", "CMP_LT", "CMP_NE", "SIGNAL_ADD", "SIGNAL_SET", "at", *_declarations.NAMES]
