# SPDX-License-Identifier: BSD-3-Clause
"""railshmem.numba, linked as LTO-IR: nvJitLink makes the functions part of the kernel. For kernels of cuda.jit(lto=True)."""
from railshmem.numba import _declarations
from railshmem.numba._address import at
from railshmem.numba._constants import CMP_EQ, CMP_GE, CMP_GT, CMP_LE, CMP_LT, CMP_NE, SIGNAL_ADD, SIGNAL_SET

globals().update(_declarations.functions("ltoir"))

__all__ = ["CMP_EQ", "CMP_GE", "CMP_GT", "CMP_LE", "CMP_LT", "CMP_NE", "SIGNAL_ADD", "SIGNAL_SET", "at", *_declarations.NAMES]
