# SPDX-License-Identifier: BSD-3-Clause
"""The device functions as files that compilers of kernels link: where they lie, and what a module made with them needs."""
from railshmem import _core
from railshmem._places import PACKAGE

VIEW = "railshmem_device_view"  # the variable that the library fills in each module
_HOW = {
    "bc": "clang 19 or 20 (on Debian and Ubuntu: clang-19) and -DRAILSHMEM_BITCODE=ON",
    "ptx": "clang 19 or 20 (on Debian and Ubuntu: clang-19) and -DRAILSHMEM_BITCODE=ON",
    "ltoir": "nvcc and -DRAILSHMEM_CUDA=ON",
}


def find(kind: str) -> str | None:
    """Returns the path of librailshmem_device.KIND (bc, ptx or ltoir), or None where this installation has none."""
    file = PACKAGE / f"lib/railshmem/librailshmem_device.{kind}"
    return str(file) if file.exists() else None


def need(kind: str, user: str) -> str:
    """find(), but raises FileNotFoundError that says how to get the file."""
    path = find(kind)
    if path is None:
        raise FileNotFoundError(f"{user}: this installation has no librailshmem_device.{kind} in {PACKAGE / 'lib/railshmem'}; "
                                f"build RailSHMEM with {_HOW[kind]}")
    return path


def require_running(what: str) -> None:
    if not _core.is_initialized():
        raise RuntimeError(f"{what} is launched while the library does not run; call railshmem.init() first, and launch "
                           "nothing that calls it after railshmem.finalize()")
