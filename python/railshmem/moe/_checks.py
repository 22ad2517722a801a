# SPDX-License-Identifier: BSD-3-Clause
"""What Exchange may be given: ValueError and TypeError before anything happens."""
from __future__ import annotations

from collections.abc import Sequence

import torch

MOST_EXPERTS, MOST_TOPK, MOST_HIDDEN, MOST_TOKENS = 1024, 32, 1 << 14, (1 << 20) - 1  # of moe/kernels/call.h
MOST_COMBINES = 256  # of a dispatch, with late weights
CHANNELS_OF_SCALE = 128
SCALE_TYPES = ("float", "power", "ue8m0")  # by their numbers, SHMEMX_MOE_SCALE_*
MAKE = "railshmem.moe.Exchange"


def sizes(size: int, experts: int, topk: int, hidden: int, max_tokens: int, dtype: torch.dtype, fp8: bool,
          scale_type: str, multiprocessors: int) -> None:
    """Checks what the members, `size` of them, agree on."""
    for name, value, most in (("experts", experts, MOST_EXPERTS), ("topk", topk, MOST_TOPK), ("hidden", hidden, MOST_HIDDEN),
                              ("max_tokens", max_tokens, MOST_TOKENS)):
        _number(name, value)
        if not 1 <= value <= most:
            raise ValueError(f"{MAKE}: {name} is {value}; it must be 1 to {most}")
    if experts % size:
        raise ValueError(f"{MAKE}: experts is {experts}, which the team's {size} members do not divide; each member has equally "
                         "many")
    if scale_type not in SCALE_TYPES:
        raise ValueError(f"{MAKE}: scale_type is {scale_type!r}; accepted: {', '.join(SCALE_TYPES)}")
    step = channels_of_word(scale_type) if fp8 else 8
    if hidden % step:
        how = f"with fp8 and the scale_type {scale_type} " if fp8 else ""
        raise ValueError(f"{MAKE}: hidden is {hidden}; {how}it must be a multiple of {step}")
    if dtype not in (torch.bfloat16, torch.float16):
        raise TypeError(f"{MAKE}: dtype is {dtype}; it must be torch.bfloat16 or torch.float16")
    _number("multiprocessors", multiprocessors)
    if multiprocessors < 0:
        raise ValueError(f"{MAKE}: multiprocessors is {multiprocessors}; it must be 0 (all) or more")


def masks(maskable: bool, mask_after_ms: int, mask_of: object) -> None:
    """Checks how an exchange goes on without members."""
    _number("mask_after_ms", mask_after_ms)
    if mask_after_ms < 0:
        raise ValueError(f"{MAKE}: mask_after_ms is {mask_after_ms}; it must be 0 (no wait masks) or more")
    if not maskable and (mask_after_ms != 0 or mask_of is not None):
        raise ValueError(f"{MAKE}: mask_after_ms or mask_of is given without maskable=True")


def channels_of_word(scale_type: str) -> int:
    """Returns how many channels an element of scales is for."""
    return CHANNELS_OF_SCALE * (4 if scale_type == "ue8m0" else 1)


def shape(function: str, name: str, tensor: torch.Tensor, wanted: Sequence[int]) -> None:
    """Checks that the argument is a tensor of this shape."""
    if not isinstance(tensor, torch.Tensor):
        raise TypeError(f"{function}: {name} is {type(tensor).__name__}; it must be a tensor")
    if tensor.shape != wanted:
        raise ValueError(f"{function}: {name} has the shape {list(tensor.shape)}; it must be {list(wanted)}")


def tokens_of(function: str, x: torch.Tensor, hidden: int, max_tokens: int) -> int:
    """Returns the number of tokens in x, which is [tokens, hidden]."""
    if not isinstance(x, torch.Tensor):
        raise TypeError(f"{function}: x is {type(x).__name__}; it must be a tensor")
    if x.dim() != 2 or x.shape[1] != hidden:
        raise ValueError(f"{function}: x has the shape {list(x.shape)}; it must be [tokens, {hidden}]")
    tokens = x.shape[0]
    if tokens > max_tokens:
        raise ValueError(f"{function}: x has {tokens} tokens; this exchange was made for {max_tokens} (max_tokens)")
    return tokens


def _number(name: str, value: int) -> None:
    if not isinstance(value, int):
        raise TypeError(f"{MAKE}: {name} is {value!r}; it must be a number")
