# SPDX-License-Identifier: BSD-3-Clause
"""Instructions that the library's functions take for one call, counted by callgrind (Debian: valgrind): the difference of two
lengths of run, divided by the difference of their calls. Whatever disturbs the machine does not change them.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import jobs
import measure
import stats

# bench: functions whose instructions count; none: those of the whole job, of which what does not grow with its length is taken away
COUNTED = {
    "put_lat": ["shmem_putmem", "shmem_quiet"],
    "p_lat": ["shmem_uint64_p", "shmem_quiet"],
    "get_lat": ["shmem_getmem"],
    "amo_lat": ["shmem_ulong_atomic_fetch_add"],
    "put_rate": ["shmem_putmem_nbi"],
    "engine": [],
}
NETWORK = {"SHMEM_NODE_SIZE": "1", "SHMEM_TRANSPORT": "ofi", "SHMEM_OFI_PROVIDER": "shm"}


class Place(NamedTuple):
    benches: list
    settings: dict
    pes: int = 2
    noise: float = 0.01  # the least


PLACES = {"node": Place([bench for bench in COUNTED if bench != "engine"], {}), "shm": Place(["put_rate"], NETWORK, noise=0.03),  # waits among them
           "engine": Place(["engine"], {}, 1)}
LENGTHS = (4_000, 8_000)
# PE 0 runs under callgrind, which takes the function's name or its alias.
SCRIPT = """#!/bin/sh
program=$1 out=$2 count=$3
shift 3
if [ "$RAILSHMEM_LAUNCHER_PE" != 0 ]; then exec "$program" "$@"; fi
# shellcheck disable=SC2086
exec valgrind --tool=callgrind --callgrind-out-file="$out" $count "$program" "$@"
"""


def count(library, bench, iters, place):
    """(instructions, calls) of PE 0."""
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "pe.sh"
        script.write_text(SCRIPT, encoding="utf-8")
        script.chmod(0o755)
        toggles = " ".join(f"--toggle-collect=*{name}" for name in COUNTED[bench])
        command = [*library.launcher, "-n", str(place.pes), str(script), str(library.folder / "shmem_perf"), f"{folder}/out", toggles, bench,
                   "--sizes", "8", "--iters", str(iters), "--repetitions", "3", "--seconds", "60", "--format", "json"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=jobs.DEADLINE_S, check=False, env={**os.environ, **place.settings})
        collected = re.search(r"Collected : (\d+)", done.stderr)
        row = next((line for line in done.stdout.splitlines() if line.startswith("{")), None)
        if done.returncode != 0 or collected is None or row is None:
            raise jobs.Stopped(f"callgrind did not count {bench}: exit status {done.returncode}: {' '.join(command)}\n{done.stderr[-1000:]}")
        return int(collected.group(1)), json.loads(row)["iters"]


def per_call(library, bench, place):
    (few, short), (many, long) = (count(library, bench, iters, place) for iters in LENGTHS)
    if long <= short:
        raise jobs.Stopped(f"{bench}: {long} calls were made where {LENGTHS[1]} were asked for, and {short} where {LENGTHS[0]} were")
    return (many - few) / (long - short)


def figures(library, rounds):
    """Rows for calls inside a node, for puts through the provider shm, whose waits vary, and for the proxy: a command of each of its cases.
    Nothing without valgrind."""
    if shutil.which("valgrind") is None:
        print("bench: no instructions are counted: there is no valgrind", file=sys.stderr)
        return {}
    rows = {}
    for name, place in PLACES.items():
        for bench in place.benches:
            print(f"bench: instructions: {name}.{bench}", file=sys.stderr)
            counts = [(per_call(library, bench, place), None) for _ in range(rounds)]
            rows[f"{name}.{bench}.instructions.8"] = measure.Row("instructions", "none", stats.figure(counts, True, True, place.noise))
    return rows
