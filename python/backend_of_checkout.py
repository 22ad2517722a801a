# SPDX-License-Identifier: BSD-3-Clause
"""The build backend of this folder: scikit-build-core, in the folder above, where the library's sources are.

pip keeps to itself what a build prints, so a line on the terminal shows how far this one is. The kernels of the library, which
nvcc compiles for many minutes, are left out unless RAILSHMEM_CUDA=ON in the environment asks for them.
"""
import os
import pathlib
import re
import threading

SOURCES = pathlib.Path(__file__).resolve().parent.parent
if not (SOURCES / "CMakeLists.txt").exists():
    raise SystemExit(f"railshmem: there is no {SOURCES / 'CMakeLists.txt'}; the folder python builds only within a checkout of RailSHMEM")
os.chdir(SOURCES)

from scikit_build_core import build as _backend  # noqa: E402
from scikit_build_core.build import *  # noqa: E402, F403

BUILD = SOURCES / "build" / "pip"
SETTINGS = {"build-dir": str(BUILD), "cmake.define.RAILSHMEM_CUDA": os.environ.get("RAILSHMEM_CUDA", "OFF")}


def compiled(folder):
    """How many files of how many ninja has compiled; None before it starts."""
    try:
        total = len(re.findall(r"^build \S+\.o:", (folder / "build.ninja").read_text(), re.MULTILINE))
        done = {line.split("\t")[3] for line in (folder / ".ninja_log").read_text().splitlines() if line.count("\t") >= 4}
    except OSError:
        return None
    return sum(name.endswith(".o") for name in done), total


class Progress:
    """A line on the terminal, if there is one, until the end of the block."""

    def __enter__(self):
        self.ended = threading.Event()
        try:
            self.terminal = open("/dev/tty", "w")  # noqa: SIM115: closed by the thread
        except OSError:
            self.terminal = None
            return
        cores = len(os.sched_getaffinity(0))
        self.terminal.write(f"railshmem: compiling the library: about {1 + 7 // cores} minutes on {cores} cores\n")
        self.thread = threading.Thread(target=self.show, daemon=True)
        self.thread.start()

    def show(self):
        with self.terminal:
            while not self.ended.wait(1):
                if counts := compiled(BUILD):
                    self.terminal.write("\rrailshmem: {} of {} files compiled ".format(*counts))
                    self.terminal.flush()
            self.terminal.write("\r\033[K")

    def __exit__(self, *_):
        self.ended.set()
        if self.terminal:
            self.thread.join()


def with_own(config_settings):
    """The user's settings win."""
    return {**SETTINGS, **(config_settings or {})}


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    with Progress():
        return _backend.build_wheel(wheel_directory, with_own(config_settings), metadata_directory)


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    with Progress():
        return _backend.build_editable(wheel_directory, with_own(config_settings), metadata_directory)
