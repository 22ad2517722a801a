# SPDX-License-Identifier: BSD-3-Clause
"""Where the package has its installation: for C, C++ and CUDA programs."""
import pathlib

PACKAGE = pathlib.Path(__file__).parent


def get_include() -> str:
    """Returns the folder that has shmem.h, for a compiler's -I."""
    return _existing(PACKAGE / "include", "headers")


def get_cmake_dir() -> str:
    """Returns the folder of RailSHMEMConfig.cmake, for -DRailSHMEM_DIR or CMAKE_PREFIX_PATH.

    Raises FileNotFoundError in a build tree, which has no such file.
    """
    return _existing(PACKAGE / "lib/cmake/RailSHMEM", "CMake files")


def _existing(folder: pathlib.Path, what: str) -> str:
    if not folder.is_dir():
        raise FileNotFoundError(f"railshmem: this installation has no {what}: there is no {folder}; install the wheel")
    return str(folder)
