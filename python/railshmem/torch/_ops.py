# SPDX-License-Identifier: BSD-3-Clause
"""Operations of reductions: their names, and which element types they take."""
from __future__ import annotations

import torch

NAMES = ("sum", "prod", "min", "max", "and", "or", "xor", "avg", "premul")
_ALSO = {"band": "and", "bor": "or", "bxor": "xor"}

#: Types that are added up as float32 and rounded once, at the end.
ROUNDED = frozenset(getattr(torch, name) for name in ("float16", "bfloat16", "float8_e4m3fn", "float8_e5m2")
                    if hasattr(torch, name))


def checked(function: str, op: str, factor: float | None, dtype: torch.dtype) -> str:
    """Returns the operation's one name. ValueError and TypeError for what makes no sense with this element type."""
    op = _ALSO.get(op, op)
    if op not in NAMES:
        raise ValueError(f"{function}: op is {op!r}; accepted: {', '.join(NAMES)}")
    if (factor is not None) != (op == "premul"):
        raise ValueError(f"{function}: op is {op!r} and factor is {factor}; op='premul' has a factor, and no other op has")
    if dtype.is_complex:
        fits = op in ("sum", "prod", "avg", "premul")
    elif dtype.is_floating_point:
        fits = op not in ("and", "or", "xor")
    else:
        fits = op not in ("avg", "premul") and not (dtype == torch.bool and op == "sum")
    if not fits:
        raise TypeError(f"{function}: input has elements of {dtype}, which the operation {op} does not take")
    return op
