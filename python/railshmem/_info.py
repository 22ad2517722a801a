# SPDX-License-Identifier: BSD-3-Clause
"""What this installation is, and this PE's place in the job."""
from railshmem import _core
from railshmem._places import PACKAGE


def info() -> dict[str, object]:
    """Returns what the library is and where it is, and, where it runs, this PE's place in the job. Local.

    Keys: version, build (type and compiler), package (folder), initialized, and after init() pe and n_pes.
    """
    found: dict[str, object] = {
        "version": _core.vendor(),
        "build": _core.build_options(),
        "package": str(PACKAGE),
        "initialized": _core.is_initialized(),
    }
    if found["initialized"]:
        found.update(pe=_core.my_pe(), n_pes=_core.n_pes())
    return found
