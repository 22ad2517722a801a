# SPDX-License-Identifier: BSD-3-Clause
"""Steps that the members of a team take all or none."""
from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from railshmem import _core

_Result = TypeVar("_Result")


def together(function: str, step: Callable[[], _Result], team: _core.Team | None = None) -> _Result:
    """Returns what step returns, which only this member sees fail. Raises on all members where it raised on one. Collective."""
    error = None
    try:
        result = step()
    except Exception as raised:
        error = raised
    if _core.agree(function, error is None, team):
        return result
    raise error or RuntimeError(f"{function}: another PE could not take part; its own message says why")
