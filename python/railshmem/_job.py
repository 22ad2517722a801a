# SPDX-License-Identifier: BSD-3-Clause
"""The job: its beginning and end, who takes part, and what orders or completes communication."""
from __future__ import annotations

import os

import warnings
from typing import Any

from railshmem import _core, _groups


def init(*, uid: bytes | None = None, rank: int | None = None, size: int | None = None, group: Any = None,
         mpi_comm: Any = None, device: Any = None) -> None:
    """Starts the library. Collective: every PE of the job calls it, with the same arguments but rank and device.

    The job is that of the launcher: oshrun, mpirun, srun, or torchrun's variables; without a launcher it has one PE. Or it is
    made here: of the `size` processes that pass one uid, which one of them got from unique_id(), and their rank from 0; of
    the processes of a torch.distributed group (torch.distributed.group.WORLD for all); or of those of mpi_comm, a
    communicator of mpi4py.

    device ("cuda:1", or 1) becomes torch's current CUDA device, and the symmetric heap has memory there beside the host's.
    Without it the heap is in GPU memory where SHMEM_HEAP_KIND is device, or where the program has used CUDA before, and
    begins with the first symmetric CUDA tensor.

    Any thread may call the library afterwards. Raises RuntimeError where the library runs already, where this process
    was forked from a PE, or where the library cannot start; ValueError for arguments that do not fit. After finalize(), init()
    may start another job, or the same one again with its uid, rank and size.
    """
    ways = [name for name, given in (("uid", uid), ("group", group), ("mpi_comm", mpi_comm)) if given is not None]
    if len(ways) > 1:
        raise ValueError(f"railshmem.init: {' and '.join(ways)} are given; pass one of them")
    if (uid is None) != (rank is None) or (uid is None) != (size is None):
        raise ValueError("railshmem.init: uid, rank and size belong together; pass all three or none")
    if group is not None or mpi_comm is not None:
        uid, rank, size = _groups.membership(group, mpi_comm)
    if device is not None:
        from railshmem.torch import _gpu
        device = _gpu.choose(device)
    # A program of PyTorch blocks in CUDA (t.item()) behind any collective.
    os.environ.setdefault("SHMEM_GPU_CONTEXT", "own")
    _core.init(uid, rank or 0, size or 0)
    if device is not None:
        _gpu.take(device, "railshmem.init")


def unique_id() -> bytes:
    """Returns the name of a new job for init(uid=...), on one process that becomes a PE of it. Local; before init().

    Hand the bytes to the other processes by any means that outsiders cannot read: who has them can join.
    """
    return _core.unique_id()


def finalize() -> None:
    """Leaves the library. Collective; completes everything issued before.

    Frees symmetric arrays and teams that are left, and names them in a RuntimeWarning. Their memory is gone: an array
    that is kept must not be touched. init() may follow. Raises RuntimeError where the library does not run.
    """
    leaks = _core.finalize()
    if leaks:
        shown = "; ".join(leaks[:10]) + (f"; and {len(leaks) - 10} more" if len(leaks) > 10 else "")
        warnings.warn(f"railshmem.finalize: {len(leaks)} arrays or teams were not freed: {shown}. Free arrays with "
                      "free() of railshmem.numpy or railshmem.torch, and teams with destroy(), on every PE.", RuntimeWarning, stacklevel=2)


def is_initialized() -> bool:
    """Returns whether the library runs in this process. Local, at any time."""
    return _core.is_initialized()


def my_pe() -> int:
    """Returns the number of this PE, from 0. Local."""
    return _core.my_pe()


def n_pes() -> int:
    """Returns the number of PEs in the job. Local."""
    return _core.n_pes()


def barrier_all() -> None:
    """Completes what this PE issued, and waits until every PE has called barrier_all(). Collective."""
    _core.barrier_all()


def quiet() -> None:
    """Waits until every put, atomic operation and signal that this PE issued is complete and visible at its target."""
    _core.quiet()


def fence() -> None:
    """Orders what this PE issued to each PE before it ahead of what it issues to that PE afterwards."""
    _core.fence()
