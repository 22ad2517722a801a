# SPDX-License-Identifier: BSD-3-Clause
"""How messages name symmetric memory: by what it is, and the line of the program that made it."""
import sys


def name_of(what: str, depth: int) -> str:
    """Returns "float32[2, 3] of program.py:7" for what is float32[2, 3]; depth counts frames from the caller of this."""
    frame = sys._getframe(depth + 1)
    return f"{what} of {frame.f_code.co_filename}:{frame.f_lineno}"
