# SPDX-License-Identifier: BSD-3-Clause
"""Collectives of a team, on symmetric arrays.

Every member calls, in one order, with equal sizes, types and arguments, and with corresponding arrays; no team stands for
all PEs. On return dest is complete and source may be changed on this PE; of the other members nothing is known. So a
barrier or sync() comes before dest is used anew where a member may still write to it. All raise ValueError and TypeError for
arrays that do not fit, before anything happens.
"""
from __future__ import annotations

from typing import TYPE_CHECKING

from railshmem import _core

if TYPE_CHECKING:
    from numpy.typing import NDArray


def all_gather(dest: NDArray, source: NDArray, team: _core.Team | None = None) -> None:
    """Joins the sources of all members in dest, by their numbers. dest has n_pes times the elements of source."""
    _core.all_gather("railshmem.numpy.all_gather", dest, source, team)


def all_to_all(dest: NDArray, source: NDArray, team: _core.Team | None = None) -> None:
    """Sends block k of source to member k, and puts the block from member k in block k of dest.

    A block is one n_pes-th of an array; dest and source have one size and are disjoint.
    """
    _core.all_to_all("railshmem.numpy.all_to_all", dest, source, team)


def broadcast(dest: NDArray, source: NDArray, root: int, team: _core.Team | None = None) -> None:
    """Copies the source of member root to dest on every member. dest and source may be one array."""
    _core.broadcast("railshmem.numpy.broadcast", dest, source, root, team)


def all_reduce(dest: NDArray, source: NDArray, op: str = "sum", team: _core.Team | None = None) -> None:
    """Combines the sources of all members element by element, in dest on every member.

    op is "sum" or "prod" (integers, float16, float32, float64, complex64, complex128), "min" or "max" (no complex types),
    "and", "or" or "xor" (integers). Integers wrap. The bits are equal on all members. dest and source may be one array.
    """
    _core.all_reduce("railshmem.numpy.all_reduce", dest, source, op, team)


def reduce_scatter(dest: NDArray, source: NDArray, op: str = "sum", team: _core.Team | None = None) -> None:
    """Combines the sources of all members, and gives member k block k of the result in dest.

    source has n_pes times the elements of dest; dest may be a block of source. op is that of all_reduce().
    """
    _core.reduce_scatter("railshmem.numpy.reduce_scatter", dest, source, op, team)
