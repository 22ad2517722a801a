# SPDX-License-Identifier: BSD-3-Clause
"""The job: its beginning and end, who takes part, and what orders or completes communication."""
import warnings

from railshmem import _core


def init() -> None:
    """Starts the library. Collective: every PE of the job calls it.

    The job is that of the launcher: oshrun, mpirun, srun, or torchrun's variables; without a launcher it has one PE.
    Any thread may call the library afterwards. Raises RuntimeError where the library runs already, where this process
    was forked from a PE, or where the library cannot start.
    """
    _core.init()


def finalize() -> None:
    """Leaves the library. Collective; completes everything issued before.

    Frees symmetric arrays and teams that are left, and names them in a RuntimeWarning. Their memory is gone: an array
    that is kept must not be touched. init() may follow. Raises RuntimeError where the library does not run.
    """
    leaks = _core.finalize()
    if leaks:
        shown = "; ".join(leaks[:10]) + (f"; and {len(leaks) - 10} more" if len(leaks) > 10 else "")
        warnings.warn(f"railshmem.finalize: {len(leaks)} arrays or teams were not freed: {shown}. Free arrays with "
                      "railshmem.numpy.free() and teams with destroy(), on every PE.", RuntimeWarning, stacklevel=2)


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
