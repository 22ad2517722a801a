# SPDX-License-Identifier: BSD-3-Clause
"""Addresses of arrays in kernels."""
from llvmlite import ir
from numba import types
from numba.core.errors import TypingError
from numba.cuda.extending import intrinsic


@intrinsic
def at(typingctx, array, index):
    """at(array, index): in a kernel, the address (int64) of the element that has `index` elements before it in memory. The array is
    contiguous (order "C" or "F"). The index is not checked.
    """
    if not isinstance(array, types.Array) or array.layout not in "CF":
        raise TypingError(f"railshmem.numba.at: array is {array}; pass a contiguous array")
    if not isinstance(index, types.Integer):
        raise TypingError(f"railshmem.numba.at: index is {index}; pass an integer")

    def codegen(context, builder, signature, args):
        view = context.make_array(signature.args[0])(context, builder, args[0])
        number = context.cast(builder, args[1], signature.args[1], types.int64)
        return builder.add(builder.ptrtoint(view.data, ir.IntType(64)), builder.mul(number, view.itemsize))

    return types.int64(array, index), codegen
