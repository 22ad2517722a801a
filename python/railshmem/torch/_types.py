# SPDX-License-Identifier: BSD-3-Clause
"""Tells the module what torch's tensors and element types are, so that it need not link torch."""
import torch

from railshmem import _core

#: Kind and bytes of each element type.
ELEMENTS = {
    torch.bool: ("bool", 1),
    torch.uint8: ("uint", 1),
    torch.int8: ("int", 1),
    torch.int16: ("int", 2),
    torch.int32: ("int", 4),
    torch.int64: ("int", 8),
    torch.float16: ("float", 2),
    torch.float32: ("float", 4),
    torch.float64: ("float", 8),
    torch.bfloat16: ("bfloat16", 2),
    torch.complex64: ("complex", 8),
    torch.complex128: ("complex", 16),
}
for _name, _element in (("uint16", ("uint", 2)), ("uint32", ("uint", 4)), ("uint64", ("uint", 8)), ("complex32", ("other", 4)),
                        ("float8_e4m3fn", ("float8_e4m3", 1)), ("float8_e5m2", ("float8_e5m2", 1)),
                        ("float8_e4m3fnuz", ("other", 1)), ("float8_e5m2fnuz", ("other", 1)),
                        ("float8_e8m0fnu", ("other", 1)), ("float4_e2m1fn_x2", ("other", 1))):
    if hasattr(torch, _name):  # younger than the oldest torch
        ELEMENTS[getattr(torch, _name)] = _element


def _current_stream(device: int) -> int:
    return torch.cuda.current_stream(device).cuda_stream


#: Number of a device -> number of torch's current stream there, in a program that has used CUDA.
current_stream = getattr(torch._C, "_cuda_getCurrentRawStream", _current_stream)

# The quick ways, where torch has them: a call costs a few tenths of a microsecond more than that of C.
_core.know_torch(torch.Tensor, ELEMENTS, current_stream, getattr(torch.Tensor, "__dlpack_c_exchange_api__", None),
                 torch.nn.Parameter)
