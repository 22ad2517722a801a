# SPDX-License-Identifier: BSD-3-Clause
"""The build backend of this folder: scikit-build-core, in the folder above, where the library's sources are."""
import os
import pathlib

SOURCES = pathlib.Path(__file__).resolve().parent.parent
if not (SOURCES / "CMakeLists.txt").exists():
    raise SystemExit(f"railshmem: there is no {SOURCES / 'CMakeLists.txt'}; the folder python builds only within a checkout of RailSHMEM")
os.chdir(SOURCES)

from scikit_build_core.build import *  # noqa: E402, F403
