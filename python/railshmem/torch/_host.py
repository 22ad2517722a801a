# SPDX-License-Identifier: BSD-3-Clause
"""Collectives on CPU tensors: the library's own where it has them, else composed of gets between two meetings.

A member reads another one's input only when that member has come to the call, and returns only when all have read. What
is composed gathers all inputs on every member: it moves as many bytes as an all-gather, and every member computes.
"""
from __future__ import annotations

import torch

from railshmem import _core

#: Types that are added up as float32 and rounded once, at the end.
ROUNDED = frozenset(getattr(torch, name) for name in ("float16", "bfloat16", "float8_e4m3fn", "float8_e5m2")
                    if hasattr(torch, name))
#: Elements that a composed reduction fetches at once: 1 MiB of float32.
CHUNK = 1 << 18
_WIDE = {"sum": torch.add, "avg": torch.add, "premul": torch.add, "prod": torch.mul, "min": torch.minimum,
         "max": torch.maximum}
_Team = _core.Team


def all_gather(function: str, output: torch.Tensor | list, input: torch.Tensor, team: _Team | None) -> None:
    me, pes = _core.members(function, team)
    if isinstance(output, list):
        _require_list(function, "output", output, len(pes))
        _pull(function, output, [input] * len(pes), team, pes)
    elif input.numel() and output.numel() == input.numel() * len(pes) and _block(output, me, len(pes)).data_ptr() == input.data_ptr():
        blocks = [_block(output, k, len(pes)) for k in range(len(pes))]
        _pull(function, blocks, blocks, team, pes, but=me)
    else:
        _core.all_gather(function, output, input, team, True)


def all_to_all(function: str, output: torch.Tensor | list, input: torch.Tensor | list, team: _Team | None) -> None:
    if not isinstance(output, list) and not isinstance(input, list):
        return _core.all_to_all(function, output, input, team, True)
    me, pes = _core.members(function, team)
    outputs = output if isinstance(output, list) else _blocks(function, "output", output, len(pes))
    inputs = input if isinstance(input, list) else _blocks(function, "input", input, len(pes))
    _require_list(function, "output", outputs, len(pes))
    _require_list(function, "input", inputs, len(pes))
    _pull(function, outputs, [inputs[me]] * len(pes), team, pes)


def all_to_all_v(function: str, output: torch.Tensor, input: torch.Tensor, output_counts: list[int],
                 input_counts: list[int], team: _Team | None) -> None:
    """Counts are in elements. Each member learns where its parts begin in the others' inputs."""
    _, pes = _core.members(function, team)
    for name, tensor, counts in (("output", output, output_counts), ("input", input, input_counts)):
        if len(counts) != len(pes) or sum(counts) != tensor.numel() or min(counts) < 0:
            raise ValueError(f"{function}: the split sizes of {name} are {len(counts)} of {sum(counts)} elements together; "
                             f"for a team of {len(pes)} PEs and {tensor.numel()} elements they must be {len(pes)}, of all")
    offset, words = 0, []
    for count in input_counts:
        words += [offset, count]
        offset += count
    _core.require_symmetric(function, "input", input)
    told = _core.exchange_words(function, words, team)
    source, dest, at = input.view(-1), output.view(-1), 0
    wrong = next((k for k, count in enumerate(output_counts) if told[2 * k + 1] != count), None)
    if wrong is None:
        for k, (pe, count) in enumerate(zip(pes, output_counts)):
            # Its part is at that place of its input, which may be longer than the input here.
            _core.get_at(function, dest[at:at + count], source, told[2 * k], pe)
            at += count
    _core.sync(function, team)  # also of a member with an error, for which the others would wait
    if wrong is not None:
        raise ValueError(f"{function}: member {wrong} sends {told[2 * wrong + 1]} elements to this one, whose split sizes say "
                         f"{output_counts[wrong]}")


def broadcast(function: str, tensor: torch.Tensor, root: int, team: _Team | None) -> None:
    _core.broadcast(function, tensor, tensor, root, team, True)


def all_reduce(function: str, output: torch.Tensor, input: torch.Tensor, op: str, factor: float | None,
               team: _Team | None) -> None:
    if _is_native(op, input.dtype):
        _core.all_reduce(function, output, input, "sum" if op == "avg" else op, team, True)
        return _average(output, op, team)
    if output.numel() != input.numel() or output.dtype != input.dtype:
        raise ValueError(f"{function}: output has {output.numel()} elements of {output.dtype}, and input {input.numel()} of "
                         f"{input.dtype}; they must be alike")
    _combine(function, output, input, op, factor, team)


def reduce_scatter(function: str, output: torch.Tensor, input: torch.Tensor | list, op: str, factor: float | None,
                   team: _Team | None) -> None:
    if not isinstance(input, list) and _is_native(op, input.dtype):
        _core.reduce_scatter(function, output, input, "sum" if op == "avg" else op, team, True)
        return _average(output, op, team)
    me, pes = _core.members(function, team)
    blocks = input if isinstance(input, list) else _blocks(function, "input", input, len(pes))
    _require_list(function, "input", blocks, len(pes))
    if output.numel() != blocks[me].numel() or output.dtype != blocks[me].dtype:
        raise ValueError(f"{function}: output has {output.numel()} elements of {output.dtype}, and the part of input for this "
                         f"member {blocks[me].numel()} of {blocks[me].dtype}; they must be alike")
    _combine(function, output, blocks[me], op, factor, team)


def _is_native(op: str, dtype: torch.dtype) -> bool:
    """Whether the library reduces it on the host as a stream would: those of 16 bits would be rounded in each step."""
    if op == "premul" or dtype.itemsize == 1 and dtype in ROUNDED:
        return False
    return dtype not in ROUNDED or op in ("min", "max")


def _average(output: torch.Tensor, op: str, team: _Team | None) -> None:
    if op == "avg":
        output.div_(_core.Team.world().n_pes() if team is None else team.n_pes())


def _combine(function: str, output: torch.Tensor, source: torch.Tensor, op: str, factor: float | None,
             team: _Team | None) -> None:
    """Combines this part of all members' inputs in the order of ranks; 16 and 8 bits as float32, rounded once."""
    _core.require_symmetric(function, "input", source)
    _, pes = _core.members(function, team)
    flat = source.view(-1)
    result = torch.empty_like(flat)  # output may be a part of input, which others still read
    _core.sync(function, team)
    for at in range(0, flat.numel(), CHUNK):
        part = flat[at:at + CHUNK]
        result[at:at + CHUNK] = _rounded(_combined(function, part, op, factor, pes), result.dtype)
    _core.sync(function, team)
    output.view(-1).copy_(result)


def _combined(function: str, part: torch.Tensor, op: str, factor: float | None, pes: list[int]) -> torch.Tensor:
    wide = torch.float32 if part.dtype in ROUNDED else part.dtype
    fetched, total = torch.empty_like(part), None
    for pe in pes:
        _core.get(function, fetched, part, pe)
        operand = fetched.to(wide, copy=True)
        if op == "premul":
            operand *= factor
        total = operand if total is None else _WIDE[op](total, operand)
    return total / len(pes) if op == "avg" else total


def _rounded(values: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """Values beyond the largest number of 8 bits become that number, as on a GPU; NaN stays."""
    if dtype.itemsize == 1:
        most = torch.finfo(dtype).max
        values = values.clamp(-most, most)
    return values.to(dtype)


def _pull(function: str, dests: list, sources: list, team: _Team | None, pes: list[int], but: int | None = None) -> None:
    """Fetches sources[k] of each member k into dests[k]."""
    for dest, source in zip(dests, sources):
        _core.require_symmetric(function, "input", source)
        if dest.numel() != source.numel() or dest.dtype != source.dtype:
            raise ValueError(f"{function}: a block of output has {dest.numel()} elements of {dest.dtype}, and a block of input "
                             f"{source.numel()} of {source.dtype}; they must be alike")
    _core.sync(function, team)
    for k, pe in enumerate(pes):
        if k != but:
            _core.get(function, dests[k], sources[k], pe)
    _core.sync(function, team)


def _block(tensor: torch.Tensor, k: int, n: int) -> torch.Tensor:
    size = tensor.numel() // n
    return tensor.view(-1)[k * size:(k + 1) * size]


def _blocks(function: str, name: str, tensor: torch.Tensor, n: int) -> list[torch.Tensor]:
    if tensor.numel() % n:
        raise ValueError(f"{function}: {name} has {tensor.numel()} elements, which is no multiple of the team's {n} PEs")
    return [_block(tensor, k, n) for k in range(n)]


def _require_list(function: str, name: str, blocks: list, n: int) -> None:
    if len(blocks) != n:
        raise ValueError(f"{function}: {name} is a list of {len(blocks)} tensors, and the team has {n} PEs")
