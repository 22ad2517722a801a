# SPDX-License-Identifier: BSD-3-Clause
"""Atomic operations on a symmetric word (4 or 8 bytes, integer) of a PE, one for the whole program.

Those that return the old value run on a tile of which one element acts, so that Triton carries the value to all threads.
"""
import triton
import triton.language as tl
from triton.language import core

from railshmem.triton._calls import call, word

_TILE = tl.constexpr(1024)  # the most threads that a program can have: each element is in one thread


def _type_of(function, dest, semantic):
    """The type of the word at `dest`: its name in the library, and Triton's."""
    dest = semantic.to_tensor(dest)
    if dest.type.is_block() or not dest.dtype.is_ptr() or not dest.dtype.element_ty.is_int() or \
            dest.dtype.element_ty.primitive_bitwidth not in (32, 64):
        raise TypeError(f"railshmem.triton.{function}: dest is of type {dest.type}; pass a scalar pointer to integers of 4 or 8 bytes")
    return ("int32", tl.int32) if dest.dtype.element_ty.primitive_bitwidth == 32 else ("int64", tl.int64)


def _words(function, dest, values, pe, dtype, semantic):
    return [word(function, "dest", dest, semantic), *(word(function, name, value, semantic, dtype) for name, value in values.items()),
            word(function, "pe", pe, semantic)]


def _update(function, dest, value, pe, semantic):
    name, dtype = _type_of(function, dest, semantic)
    call(f"railshmem_{name}_{function}_block", _words(function, dest, {"value": value}, pe, dtype, semantic), tl.int32, semantic)


def _fetch(function, index, dest, values, pe, semantic):
    name, dtype = _type_of(function, dest, semantic)
    words = [index, *_words(function, dest, values, pe, dtype, semantic)]
    return call(f"railshmem_{name}_{function}_first", words, dtype, semantic)


@core.extern
def atomic_set(dest, value, pe, _semantic=None):
    """Sets the word `dest` of PE pe."""
    _update("atomic_set", dest, value, pe, _semantic)


@core.extern
def atomic_add(dest, value, pe, _semantic=None):
    """Adds to the word `dest` of PE pe."""
    _update("atomic_add", dest, value, pe, _semantic)


@core.extern
def _fetch_tile(index, dest, pe, _semantic=None):
    return _fetch("atomic_fetch", index, dest, {}, pe, _semantic)


@core.extern
def _fetch_add_tile(index, dest, value, pe, _semantic=None):
    return _fetch("atomic_fetch_add", index, dest, {"value": value}, pe, _semantic)


@core.extern
def _swap_tile(index, dest, value, pe, _semantic=None):
    return _fetch("atomic_swap", index, dest, {"value": value}, pe, _semantic)


@core.extern
def _compare_swap_tile(index, dest, compare, value, pe, _semantic=None):
    return _fetch("atomic_compare_swap", index, dest, {"compare": compare, "value": value}, pe, _semantic)


@triton.jit
def atomic_fetch(dest, pe):
    """Returns the word `dest` of PE pe (int32 or int64, by the pointer's type)."""
    return tl.sum(_fetch_tile(tl.arange(0, _TILE), dest, pe), 0)


@triton.jit
def atomic_fetch_add(dest, value, pe):
    """Adds to the word `dest` of PE pe; returns what was there."""
    return tl.sum(_fetch_add_tile(tl.arange(0, _TILE), dest, value, pe), 0)


@triton.jit
def atomic_swap(dest, value, pe):
    """Sets the word `dest` of PE pe; returns what was there."""
    return tl.sum(_swap_tile(tl.arange(0, _TILE), dest, value, pe), 0)


@triton.jit
def atomic_compare_swap(dest, compare, value, pe):
    """Sets the word `dest` of PE pe if it equals `compare`; returns what was there."""
    return tl.sum(_compare_swap_tile(tl.arange(0, _TILE), dest, compare, value, pe), 0)
