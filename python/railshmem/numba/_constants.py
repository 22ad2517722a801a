# SPDX-License-Identifier: BSD-3-Clause
"""Numbers of the standard."""
CMP_EQ, CMP_NE, CMP_GT, CMP_GE, CMP_LT, CMP_LE = range(6)
SIGNAL_SET, SIGNAL_ADD = 0, 1
