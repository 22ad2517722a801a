# SPDX-License-Identifier: BSD-3-Clause
"""Runs jobs of a bench program, and reads their rows."""
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

DEADLINE_S = 300
# Open MPI refuses root, and more processes than cores, unless it is told.
OPEN_MPI = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1"}
PEER_LAUNCHER, PEER_COMPILER = "/usr/bin/oshrun", "/usr/bin/oshc++"


class Stopped(Exception):
    """No figures: why, for the user."""


class Library(NamedTuple):
    launcher: list
    folder: Path  # of the bench programs
    floors: bool  # the programs print floors
    must_end_well: bool  # Open MPI 4.1.4 prints all rows, and crashes when it finalizes


def ours(build):
    for wanted in (build / "bin" / "oshrun", build / "perftest" / "shmem_perf"):
        if not os.access(wanted, os.X_OK):
            raise Stopped(f"there is no {wanted}: build it (cmake --preset release && cmake --build build/release), or name a build by --build DIR")
    return Library([str(build / "bin" / "oshrun")], build / "perftest", True, True)


def peer(root):
    """shmem_perf compiled against Open MPI's OpenSHMEM; None where that is not installed."""
    if not os.path.exists(PEER_COMPILER) or "opal" not in os.path.realpath(PEER_COMPILER):
        return None
    folder = root / "build" / "bench"
    folder.mkdir(parents=True, exist_ok=True)
    built = subprocess.run([root / "scripts" / "build_perf_with.sh", PEER_COMPILER, folder / "shmem_perf"], capture_output=True, text=True, check=False)
    if built.returncode != 0:
        print(f"bench: Open MPI's OpenSHMEM is left out, because shmem_perf does not compile against it:\n{built.stderr[-500:]}", file=sys.stderr)
        return None
    return Library([PEER_LAUNCHER], folder, False, False)


def run(library, suite, repetitions, seconds):
    """Rows of one job."""
    command = [*library.launcher, "-n", str(suite.pes), str(library.folder / suite.program), *suite.benches,
               *(["--floor"] if library.floors else []), "--repetitions", str(repetitions), "--seconds", str(seconds), "--format", "json"]
    try:
        done = subprocess.run(command, env={**os.environ, **OPEN_MPI, **suite.settings}, capture_output=True, text=True,
                              timeout=DEADLINE_S, check=False)
    except subprocess.TimeoutExpired:
        raise Stopped(f"{suite.name}: no end after {DEADLINE_S} s: {' '.join(command)}") from None
    rows = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode != 0 and (library.must_end_well or not rows):
        raise Stopped(f"{suite.name}: exit status {done.returncode}: {' '.join(command)}\n{done.stderr[-1000:]}")
    return rows


def name_of(suite, row):
    return f"{suite.name}.{row['bench']}.{row['metric']}.{row['bytes']}"
