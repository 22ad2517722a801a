# SPDX-License-Identifier: BSD-3-Clause
"""Numbers of the standard, as kernels may name them."""
import triton.language as tl

CMP_EQ, CMP_NE, CMP_GT, CMP_GE, CMP_LT, CMP_LE = (tl.constexpr(number) for number in range(6))
SIGNAL_SET, SIGNAL_ADD = tl.constexpr(0), tl.constexpr(1)
