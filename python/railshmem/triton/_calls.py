# SPDX-License-Identifier: BSD-3-Clause
"""How a function of a kernel becomes a call of the device library (python/device)."""
import triton.language as tl
from triton.language import core


def word(function, name, value, semantic, dtype=tl.int64):
    """The scalar `value` as the library takes it."""
    value = semantic.to_tensor(value)
    if value.type.is_block():
        raise TypeError(f"railshmem.triton.{function}: {name} is a block {value.type}; one call is made for the whole program, "
                        "so pass a scalar, such as the pointer to the first element")
    if value.dtype.is_floating():
        raise TypeError(f"railshmem.triton.{function}: {name} is a number of type {value.dtype}; pass an integer or a pointer")
    return core.cast(value, dtype, _semantic=semantic)


def call(symbol, words, result, semantic, is_pure=False):
    """Calls the function `symbol`; returns its result as a scalar, or as a block where one of the words is one."""
    types = tuple(each.dtype for each in words)
    return core.extern_elementwise("", "", list(words), {types: (symbol, result)}, is_pure=is_pure, _semantic=semantic)


def act(function, symbol, semantic, **arguments):
    """Calls a function that gives nothing back."""
    call(symbol, [word(function, name, value, semantic) for name, value in arguments.items()], tl.int32, semantic)
