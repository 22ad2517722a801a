# SPDX-License-Identifier: BSD-3-Clause
"""Reductions of torch.distributed by the CPU: which there are, and how operands meet."""
from __future__ import annotations

import dataclasses

import torch
import torch.distributed as dist

_RedOp = dist.ReduceOp.RedOpType
_NAMES = {_RedOp.SUM: "sum", _RedOp.AVG: "avg", _RedOp.PRODUCT: "prod", _RedOp.MIN: "min", _RedOp.MAX: "max",
          _RedOp.BAND: "and", _RedOp.BOR: "or", _RedOp.BXOR: "xor", _RedOp.PREMUL_SUM: "premul"}
_STEPS = {"sum": torch.Tensor.add_, "avg": torch.Tensor.add_, "premul": torch.Tensor.add_, "prod": torch.Tensor.mul_,
          "min": lambda a, b: torch.minimum(a, b, out=a), "max": lambda a, b: torch.maximum(a, b, out=a),
          "and": torch.Tensor.bitwise_and_, "or": torch.Tensor.bitwise_or_, "xor": torch.Tensor.bitwise_xor_}
_OF_BITS = ("and", "or", "xor")
_OF_FRACTIONS = ("avg", "premul")
_LOGICAL = {"sum": "or", "max": "or", "prod": "and", "min": "and"}  # of booleans


@dataclasses.dataclass(frozen=True)
class Operation:
    """A reduction: a name of railshmem.torch.all_reduce, and the factor of "premul"."""

    name: str
    factor: float | torch.Tensor = 1.0


_OPERATIONS = {kind: Operation(name) for kind, name in _NAMES.items()}


def operation_of(op: dist.ReduceOp | dist.ReduceOp.RedOpType) -> Operation:
    """Returns the operation that torch.distributed names op. ValueError for one that there is not."""
    kind = op if isinstance(op, _RedOp) else op.op
    operation = _OPERATIONS.get(kind)
    if operation is None:
        raise ValueError(f"railshmem: the operation {kind} is no reduction of this backend")
    return Operation("premul", op.__getstate__()[1]) if operation.name == "premul" else operation


def require_operands(call: str, operation: Operation, dtype: torch.dtype) -> None:
    """TypeError where elements of this type do not go through the operation."""
    if operation.name in _OF_BITS and (dtype.is_floating_point or dtype.is_complex):
        raise TypeError(f"railshmem: {call} of {dtype} tensors by bitwise {operation.name}; use integers or booleans")
    if operation.name in _OF_FRACTIONS and not (dtype.is_floating_point or dtype.is_complex):
        raise TypeError(f"railshmem: {call} of {dtype} tensors by {operation.name}, which makes fractions; use SUM, or "
                        "floating-point numbers")


def on_device(operation: Operation, dtype: torch.dtype) -> dict[str, object]:
    """Returns the arguments of railshmem.torch.all_reduce for this operation on elements of this type."""
    if dtype == torch.bool:
        return {"op": _LOGICAL.get(operation.name, operation.name)}
    if operation.name == "premul":
        return {"op": "premul", "factor": float(operation.factor)}
    return {"op": operation.name}


def combine(operation: Operation, operands: torch.Tensor) -> torch.Tensor:
    """Returns the reduction over the first dimension, from rank 0 on; the bits depend on the operands only.

    Numbers of 16 and 8 bits are added up as float32 and rounded once.
    """
    dtype, name = operands.dtype, operation.name
    if dtype == torch.bool:
        name = _LOGICAL.get(name, name)
    if dtype.is_floating_point and dtype.itemsize < 4:
        operands = operands.float()
    if name == "premul":
        operands = operands * operation.factor
    total = operands[0].clone()
    for operand in operands[1:]:
        _STEPS[name](total, operand)
    if name == "avg":
        total /= len(operands)
    return total.to(dtype)
