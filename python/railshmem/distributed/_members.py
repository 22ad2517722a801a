# SPDX-License-Identifier: BSD-3-Clause
"""The members of groups: their PEs, their teams, and what carries out their calls on this PE."""
from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from datetime import timedelta

import torch
import torch.distributed as dist

import railshmem
from railshmem import _core
from railshmem.distributed._agreement import agree
from railshmem.distributed._message_channel import ANY_SOURCE, MessageChannel
from railshmem.distributed._host import HostCollectives
from railshmem.distributed._lane import Lane
from railshmem.distributed._layout import divide
from railshmem.distributed._runtime import Runtime, generation, runtime_for
from railshmem.distributed._work import HostWork

_numbers = itertools.count()


class Members:
    """A group of PEs on this PE: one process group's, or that of several with one list of members."""

    def __init__(self, runtime: Runtime, rank: int, decision: dict):
        """Collective over the members; join() makes one."""
        self.pes: list[int] = decision["pes"]
        self.rank, self.size = rank, len(self.pes)
        self.users = self.joined = 1  # process groups that use it now, and that ever have
        self._runtime, self._region = runtime, decision["region"]
        mail, staging = divide(runtime.take(self._region), self.size)
        # One team for the host's calls and one for streams, because the two must not run at once on one team.
        self._host_team = _core.team_of_id(decision["ids"][0], self.size, rank)
        self.stream_team = _core.team_of_id(decision["ids"][1], self.size, rank)
        self._host = HostCollectives(self._host_team, rank, self.size, staging)
        self._host.sync()  # every member's mail is zero
        name = f"group-{next(_numbers)}"
        self._lane = Lane(name)
        self._channel = MessageChannel(name, rank, self.pes, mail)
        self._device = None

    def on_host(self, work: HostWork, action: Callable[[HostCollectives], None], caller_waits: bool) -> HostWork:
        """Carries out action with the host's collectives behind earlier ones; it ends work."""
        return self._lane.submit(work, functools.partial(action, self._host), caller_waits)

    def on_stream(self, outputs: list[torch.Tensor], inputs: list[torch.Tensor], actions: list[Callable],
                  caller_waits: bool) -> dist.Work:
        """Carries out actions with collectives in the order of a CUDA stream."""
        return self._device_collectives().run(outputs, inputs, actions, caller_waits)

    def send(self, work: HostWork, tensor: torch.Tensor, dest: int, tag: int) -> HostWork:
        """Sends a tensor; a CUDA tensor is copied to the CPU first, for which the caller waits."""
        return self._channel.send(work, tensor.detach().cpu(), dest, tag)

    def receive(self, work: HostWork, tensor: torch.Tensor, source: int | None, tag: int) -> HostWork:
        """Receives a tensor; a CUDA tensor by way of one on the CPU, which wait() copies."""
        if tensor.is_cuda:
            staged = torch.empty(tensor.shape, dtype=tensor.dtype)
            work.at_wait(functools.partial(tensor.detach().copy_, staged))
            tensor = staged
        return self._channel.receive(work, tensor, ANY_SOURCE if source is None else source, tag)

    def leave(self, timeout: timedelta) -> None:
        """Ends the use by one process group; with the last one, all of it, when its calls are done. Collective.

        RuntimeError where a message has not been received after the timeout.
        """
        self.users -= 1
        if self.users:
            return
        self._runtime.members.remove(self)
        self._lane.close()
        received = self._channel.close(timeout.total_seconds())
        if self._device is not None:
            self._device.close()
        if not received:
            raise RuntimeError(f"railshmem: what rank {self.rank} sent has not been received after "
                               f"{timeout.total_seconds():g} s; every send needs its recv before the group is destroyed")
        self._host.sync()  # no member reads this one's memory any more
        self._host_team.destroy()
        self.stream_team.destroy()
        self._runtime.give_back(self._region)

    def _device_collectives(self):
        if self._device is None:
            from railshmem.distributed._device import DeviceCollectives  # needs a GPU
            self._device = DeviceCollectives(self.stream_team, self.rank, self.size)
        return self._device


def join(store: dist.Store, rank: int, size: int, timeout: timedelta) -> Members:
    """Returns the members of a new process group, of which this one has this rank; collective over them.

    store: a store of the group's own. The first group of a process starts the library, and has all PEs. Each group has
    memory and teams of its own while there are some; then groups with one list of members share them, whose calls happen
    in one order.
    """
    runtime = runtime_for(store, rank, size, timeout)
    mine = {"pe": railshmem.my_pe(), "free": sorted(runtime.free_regions), "lists": [made.pes for made in runtime.members],
            "ids": [_core.team_unique_id(), _core.team_unique_id()]}
    decision = agree(store, f"railshmem/{generation()}/members", rank, size, mine, _decide)
    if decision["region"] is None:
        shared = next(made for made in reversed(runtime.members) if made.pes == decision["pes"])
        shared.users += 1
        shared.joined += 1
        return shared
    made = Members(runtime, rank, decision)
    runtime.members.append(made)
    return made


def _decide(offers: list[dict]) -> dict:
    """Returns what the members of a new group use, from what each of them offers."""
    pes = [offer["pe"] for offer in offers]
    if len(set(pes)) != len(pes):
        raise ValueError(f"railshmem: two members of a process group have one PE: {pes}; pass ranks of one job")
    common = set.intersection(*(set(offer["free"]) for offer in offers))
    if not common and pes not in offers[0]["lists"]:
        raise RuntimeError("railshmem: the members of a new process group have no region of staging memory free in common; "
                           "destroy groups, or call railshmem.distributed.configure() with more regions")
    return {"pes": pes, "region": min(common) if common else None, "ids": offers[0]["ids"]}
