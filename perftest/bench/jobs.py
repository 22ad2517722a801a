# SPDX-License-Identifier: BSD-3-Clause
"""Runs jobs of a bench program, and reads their rows."""
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import stats
import suites

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
    libraries: str = ""  # where the programs find theirs, if they do not know


def ours(build, program="shmem_perf"):
    """Of a build folder, or of one that scripts/build_gpu_carry.sh filled elsewhere: programs in bin, libraries in lib."""
    carried = os.access(build / "bin" / program, os.X_OK)
    folder = build / ("bin" if carried else "perftest")
    for wanted in (build / "bin" / "oshrun", folder / program):
        if not os.access(wanted, os.X_OK):
            raise Stopped(f"there is no {wanted}: build it (cmake --preset release && cmake --build build/release), or name a build by --build DIR")
    return Library([str(build / "bin" / "oshrun")], folder, True, True, str(build / "lib") if carried else "")


def peer(root):
    """shmem_perf compiled against Open MPI's OpenSHMEM; None where that is not installed."""
    if not os.path.exists(PEER_COMPILER) or "opal" not in os.path.realpath(PEER_COMPILER):
        return None
    folder = root / "build" / "bench"
    folder.mkdir(parents=True, exist_ok=True)
    built = subprocess.run([root / "perftest" / "compare" / "build_perf_with.sh", PEER_COMPILER, folder / "shmem_perf"], capture_output=True, text=True, check=False)
    if built.returncode != 0:
        print(f"bench: Open MPI's OpenSHMEM is left out, because shmem_perf does not compile against it:\n{built.stderr[-500:]}", file=sys.stderr)
        return None
    return Library([PEER_LAUNCHER], folder, False, False)


def run(library, suite, repetitions, seconds):
    """Rows of one job."""
    command = [*library.launcher, "-n", str(suite.pes), str(library.folder / suite.program), *suite.benches, "--repetitions", str(repetitions), "--format", "json"]
    if not suite.floors:
        command += [*(["--floor"] if library.floors else []), "--seconds", str(seconds)]
    found_in = [place for place in (library.libraries, os.environ.get("LD_LIBRARY_PATH")) if place]
    here = {**os.environ, **OPEN_MPI, **suite.settings, **({"LD_LIBRARY_PATH": ":".join(found_in)} if found_in else {})}
    try:
        done = subprocess.run(command, env=here, capture_output=True, text=True, timeout=DEADLINE_S, check=False)
    except subprocess.TimeoutExpired:
        raise Stopped(f"{suite.name}: no end after {DEADLINE_S} s: {' '.join(command)}") from None
    rows = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode != 0 and (library.must_end_well or not rows):
        raise Stopped(f"{suite.name}: exit status {done.returncode}: {' '.join(command)}\n{done.stderr[-1000:]}")
    return [{**row, "floor": floor_of(row, suite, rows)} for row in rows] if suite.floors else rows


def floor_of(row, suite, rows):
    """The best row of the floor's bench with as many bytes: it may run with several numbers of blocks."""
    under = [one["value"] for one in rows if one["bench"] == suite.floors.get(row["bench"]) and (one["bytes"], one["unit"]) == (row["bytes"], row["unit"])]
    return stats.fast_end(under, suites.low_is_good(row["unit"])) if under else None


def name_of(suite, row):
    return f"{suite.name}.{row['bench']}.{row['metric']}.{row['bytes']}"
