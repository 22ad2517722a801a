# SPDX-License-Identifier: BSD-3-Clause
"""The library under buffers: started with the first one, unless the program did, and left with the last one."""
from __future__ import annotations

import atexit
import sys
from typing import Any

import railshmem
from railshmem import Team
from railshmem.deep_ep import _streams

_buffers = 0
_started_here = False


def enter(group: Any, comm: Any) -> tuple[Team, bool]:
    """Returns the team of a torch.distributed group, or of a communicator of mpi4py, and whether leave() destroys it.

    Collective over that. RuntimeError where the library runs with other members than those of comm.
    """
    global _buffers, _started_here
    if not railshmem.is_initialized():
        railshmem.init(group=group, mpi_comm=comm, device=_streams.current_device())
        if not _started_here:
            atexit.register(_leave_at_exit)
        _started_here = True
        team, owned = Team.world(), False
    elif group is not None:
        team, owned = Team.from_group(group), True
    else:
        place = comm.Get_rank(), comm.Get_size()
        if place != (railshmem.my_pe(), railshmem.n_pes()):
            raise RuntimeError(f"railshmem.deep_ep.Buffer: this process is rank {place[0]} of {place[1]} in comm, and PE "
                               f"{railshmem.my_pe()} of {railshmem.n_pes()}; pass group")
        team, owned = Team.world(), False
    _buffers += 1
    return team, owned


def leave(team: Team, owned: bool) -> None:
    """Undoes enter(). Collective over the team; with the last buffer, over all PEs, where the first one started the library."""
    global _buffers, _started_here
    if owned:
        team.destroy()
    _buffers -= 1
    if _buffers == 0 and _started_here:
        _started_here = False
        railshmem.finalize()


def _leave_at_exit() -> None:
    """Leaves the library where a program ends well without destroy(). After an exception it does not: then the other PEs end
    with a message."""
    failed = getattr(sys, "last_exc", None) or getattr(sys, "last_value", None)
    if _started_here and not failed and railshmem.is_initialized():
        railshmem.finalize()
