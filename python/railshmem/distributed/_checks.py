# SPDX-License-Identifier: BSD-3-Clause
"""What calls of a process group ask of their arguments. All raise before anything is sent."""
from __future__ import annotations

from collections.abc import Sequence

import torch

_Tensors = Sequence[torch.Tensor]


def device_of(call: str, tensors: _Tensors) -> str:
    """Returns "cpu" or "cuda". TypeError for tensors of other or of several devices, and for sparse ones."""
    if len(tensors) == 1 and tensors[0].is_cuda and tensors[0].layout is torch.strided:
        return "cuda"  # the usual case: nothing is made
    kinds = {tensor.device for tensor in tensors} or {torch.device("cpu")}
    if len(kinds) > 1:
        raise TypeError(f"railshmem: {call} of tensors on {', '.join(sorted(map(str, kinds)))}; pass tensors of one device")
    kind = kinds.pop().type
    if kind not in ("cpu", "cuda"):
        raise TypeError(f"railshmem: {call} of tensors on the device {kind}; accepted: cpu, cuda")
    for tensor in tensors:
        if tensor.layout != torch.strided:
            raise TypeError(f"railshmem: {call} of a tensor with the layout {tensor.layout}; pass dense tensors (to_dense())")
    return kind


def parts(call: str, tensors: _Tensors, one: torch.Tensor, size: int) -> None:
    """Raises unless there is a tensor for each member, of the size and type of `one`."""
    if len(tensors) != size:
        raise ValueError(f"railshmem: {call} with a list of {len(tensors)} tensors; the group has {size} members")
    for rank, tensor in enumerate(tensors):
        _one_type(call, tensor, one)
        if tensor.numel() != one.numel():
            raise ValueError(f"railshmem: {call}: the tensor of rank {rank} has {tensor.numel()} elements, and this member's "
                             f"has {one.numel()}; pass tensors of one size")


def whole(call: str, joined: torch.Tensor, part: torch.Tensor, size: int) -> None:
    """Raises unless joined has the type of part, and its size for each member."""
    _one_type(call, joined, part)
    if joined.numel() != part.numel() * size:
        raise ValueError(f"railshmem: {call}: one tensor has {joined.numel()} elements, and the other one {part.numel()}; for "
                         f"{size} members it must have {part.numel() * size}")


def one_each(call: str, outputs: _Tensors, inputs: _Tensors, size: int) -> None:
    """Raises unless both lists have a tensor for each member, of one type."""
    for name, tensors in (("outputs", outputs), ("inputs", inputs)):
        if len(tensors) != size:
            raise ValueError(f"railshmem: {call} with {len(tensors)} {name}; the group has {size} members")
    for tensor in [*outputs, *inputs]:
        _one_type(call, tensor, inputs[0])


def split(call: str, name: str, tensor: torch.Tensor, sizes: Sequence[int], size: int) -> list[torch.Tensor]:
    """Returns the parts of a contiguous tensor along its first dimension: by sizes, or equal ones without them."""
    if not tensor.is_contiguous():
        raise ValueError(f"railshmem: {call}: {name} is not contiguous; pass a copy by contiguous()")
    rows = tensor.shape[0] if tensor.dim() else 0
    if not sizes:
        if rows % size:
            raise ValueError(f"railshmem: {call}: {name} has {rows} rows, which is no multiple of the group's {size} "
                             "members; pass split sizes")
        sizes = [rows // size] * size
    if len(sizes) != size or sum(sizes) != rows:
        raise ValueError(f"railshmem: {call}: {name} has {rows} rows, and its split sizes are {list(sizes)}; they must be "
                         f"{size} numbers with that sum")
    return list(torch.split(tensor, list(sizes)))


def member(call: str, what: str, rank: int, size: int) -> None:
    """Raises unless rank is a member's."""
    if not 0 <= rank < size:
        raise ValueError(f"railshmem: {call}: the {what} is rank {rank}, and the group has the ranks 0 to {size - 1}")


def _one_type(call: str, one: torch.Tensor, other: torch.Tensor) -> None:
    if one.dtype != other.dtype:
        raise TypeError(f"railshmem: {call} of {one.dtype} and {other.dtype} tensors; convert one of them with to()")
