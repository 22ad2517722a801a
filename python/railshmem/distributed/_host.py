# SPDX-License-Identifier: BSD-3-Clause
"""Collectives of a group on any CPU tensors, through symmetric staging memory in chunks."""
from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from railshmem import Team
from railshmem import numpy as rn
from railshmem.distributed._memory import bytes_of, gathered, scattered
from railshmem.distributed._operations import Operation, combine

ALIGNMENT = 64  # bytes of a cache line
SHORT = 4096  # bytes up to which an all-reduce gathers whole vectors: one exchange instead of two


class HostCollectives:
    """The collectives of one team. One thread at a time calls; all members call in one order.

    The staging memory has two halves, which exchanges use in turn. A member writes into the half of exchange k again in
    exchange k + 2, which it enters when it has heard from all members in exchange k + 1; they had copied what exchange k
    brought by then. So each exchange hears from all members.
    """

    def __init__(self, team: Team, rank: int, size: int, staging: np.ndarray):
        """staging: symmetric bytes, at one place of the heap on all members."""
        self._team, self._rank, self._size = team, rank, size
        self._block = staging.nbytes // (4 * size) // ALIGNMENT * ALIGNMENT
        if self._block == 0:
            raise ValueError(f"railshmem: {staging.nbytes} bytes of staging memory are too few for {size} members; call "
                             "railshmem.distributed.configure() with larger regions")
        area = self._block * size
        self._halves = [(staging[2 * h * area:(2 * h + 1) * area], staging[(2 * h + 1) * area:(2 * h + 2) * area])
                        for h in range(2)]
        self._exchanges = 0

    def sync(self) -> None:
        """Waits until all members have called sync()."""
        self._team.sync()

    def all_gather(self, outputs: Sequence[torch.Tensor], source: torch.Tensor) -> None:
        """Copies the source of each member to the output of its rank."""
        with scattered(outputs) as parts:
            mine, theirs = bytes_of(gathered(source)), [bytes_of(part) for part in parts]
            for begin in range(0, mine.nbytes, self._block):
                chunk = mine[begin:begin + self._block]
                for output, block in zip(theirs, self._gather(chunk)):
                    output[begin:begin + chunk.nbytes] = block

    def all_gather_into(self, output: torch.Tensor, source: torch.Tensor) -> None:
        """Joins the sources of all members in output, by rank."""
        with scattered([output]) as (whole,):
            self.all_gather(list(whole.view(self._size, -1)), source)

    def gather(self, outputs: Sequence[torch.Tensor], source: torch.Tensor, root: int) -> None:
        """Copies the source of each member to the output of its rank on the member root; others have no outputs."""
        self.all_to_all(outputs or [_nothing(source)] * self._size,
                        [source if member == root else _nothing(source) for member in range(self._size)])

    def scatter(self, output: torch.Tensor, inputs: Sequence[torch.Tensor], root: int) -> None:
        """Copies inputs[k] of the member root to the output of member k; others have no inputs."""
        self.all_to_all([output if member == root else _nothing(output) for member in range(self._size)],
                        inputs or [_nothing(output)] * self._size)

    def all_to_all(self, outputs: Sequence[torch.Tensor], inputs: Sequence[torch.Tensor]) -> None:
        """Sends inputs[k] to member k, and puts what member k sends into outputs[k]; sizes may differ by pair."""
        with scattered(outputs) as parts:
            theirs = [bytes_of(part) for part in parts]
            mine = [bytes_of(gathered(tensor)) for tensor in inputs]
            longest = np.array([max(a.nbytes for a in [*theirs, *mine])], np.int64)
            longest = max(int(block.view(np.int64)[0]) for block in self._gather(longest.view(np.uint8)))
            for begin in range(0, longest, self._block):
                chunk = min(longest - begin, self._block)
                source, dest = self._turn(chunk)
                for block, tensor in zip(source, mine):
                    part = tensor[begin:begin + chunk]
                    block[:part.nbytes] = part
                rn.all_to_all(dest, source, self._team)
                for block, tensor in zip(dest, theirs):
                    part = tensor[begin:begin + chunk]
                    part[:] = block[:part.nbytes]

    def all_to_all_single(self, output: torch.Tensor, source: torch.Tensor, outputs: Sequence[torch.Tensor],
                          inputs: Sequence[torch.Tensor]) -> None:
        """Does all_to_all() for the parts of two contiguous tensors."""
        self.all_to_all(outputs, inputs)

    def broadcast(self, tensor: torch.Tensor, root: int) -> None:
        """Copies the tensor of the member root to all members."""
        with scattered([tensor]) as (whole,):
            mine, area = bytes_of(whole), self._block * self._size
            for begin in range(0, mine.nbytes, area):
                part = mine[begin:begin + area]
                buffer = self._halves[self._exchanges % 2][0][:part.nbytes]
                self._exchanges += 1
                if self._rank == root:
                    buffer[:] = part
                rn.broadcast(buffer, buffer, root, self._team)
                part[:] = buffer
                self._team.sync()  # the root has heard from nobody

    def all_reduce(self, tensor: torch.Tensor, operation: Operation) -> None:
        """Combines the tensors of all members element by element, in each; the bits are equal on all members."""
        with scattered([tensor]) as (whole,):
            flat = whole.view(-1)
            if 0 < bytes_of(flat).nbytes <= min(SHORT, self._block):
                blocks = self._gather(bytes_of(flat))
                flat.copy_(combine(operation, _as(blocks, flat.dtype)))
                return
            area = self._block * self._size // flat.itemsize
            for begin in range(0, flat.numel(), area):
                part = flat[begin:begin + area]
                share = -(-part.numel() // self._size)
                source, dest = self._turn(share * flat.itemsize)
                source.reshape(-1)[:bytes_of(part).nbytes] = bytes_of(part)
                rn.all_to_all(dest, source, self._team)
                result = combine(operation, _as(dest, flat.dtype))
                blocks = self._gather(bytes_of(result))
                bytes_of(part)[:] = blocks.reshape(-1)[:bytes_of(part).nbytes]

    def reduce(self, tensor: torch.Tensor, operation: Operation, root: int) -> None:
        """Combines the tensors of all members in that of the member root; the others keep theirs."""
        result = tensor if self._rank == root else tensor.detach().clone()
        self.all_reduce(result, operation)

    def reduce_scatter_from(self, output: torch.Tensor, source: torch.Tensor, operation: Operation) -> None:
        """Combines part k of the sources of all members in the output of member k."""
        self.reduce_scatter(output, list(gathered(source).view(self._size, -1)), operation)

    def reduce_scatter(self, output: torch.Tensor, inputs: Sequence[torch.Tensor], operation: Operation) -> None:
        """Combines inputs[k] of all members in the output of member k."""
        with scattered([output]) as (whole,):
            flat, mine = whole.view(-1), [gathered(tensor).view(-1) for tensor in inputs]
            step = self._block // flat.itemsize
            for begin in range(0, flat.numel(), step):
                part = flat[begin:begin + step]
                source, dest = self._turn(bytes_of(part).nbytes)
                for block, tensor in zip(source, mine):
                    block[:] = bytes_of(tensor[begin:begin + step])
                rn.all_to_all(dest, source, self._team)
                part.copy_(combine(operation, _as(dest, flat.dtype)))

    def _gather(self, chunk: np.ndarray) -> np.ndarray:
        """Returns a row of staging memory for each member, with its chunk."""
        source, dest = self._turn(chunk.nbytes)
        source[0] = chunk
        rn.all_gather(dest, source[0], self._team)
        return dest

    def _turn(self, nbytes: int) -> tuple[np.ndarray, np.ndarray]:
        """Returns rows of nbytes for each member in the half of the next exchange: to send, and to receive."""
        half = self._halves[self._exchanges % 2]
        self._exchanges += 1
        source, dest = (area[:nbytes * self._size].reshape(self._size, nbytes) for area in half)
        return source, dest


def _nothing(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.new_empty(0)


def _as(rows: np.ndarray, dtype: torch.dtype) -> torch.Tensor:
    return torch.from_numpy(rows).view(dtype)
