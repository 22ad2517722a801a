#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs a collective's bench with each of its algorithms and prints microseconds by size, to check choice_table.inc.

usage: sweep_collectives.py [--launcher "oshrun -n 4"] [--perf PATH] [--reach node|network] [--sizes 8,4K,64K] COLLECTIVE...

COLLECTIVE: broadcast, collect, fcollect, alltoall, alltoalls, reduce, scan, reducescatter. The environment selects transport and nodes,
for example SHMEM_TRANSPORT=ofi. The best of a column is marked; "table" is what the library chooses by itself.
"""
import argparse
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

TABLE = pathlib.Path(__file__).resolve().parents[2] / "src/plan/choice_table.inc"
BENCH = {"scan": "inscan_lat"}  # the others are called COLLECTIVE_lat


def algorithms(collective, reach):
    rows = re.findall(r"^ALGORITHM\((\w+),\s*(\w+),\s*(\w+),", TABLE.read_text(encoding="utf-8"), re.M)
    return [name for kind, where, name in rows if kind == collective and where == reach]


def measure(options, collective, algorithm):
    """Size -> microseconds; ends the program when the bench fails."""
    environment = dict(os.environ)
    if algorithm != "table":
        environment["SHMEM_COLLECTIVES"] = f"{collective}={algorithm}"
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        command = shlex.split(options.launcher) + [options.perf, BENCH.get(collective, f"{collective}_lat"), "--sizes",
                                                   options.sizes, "--rounds", str(options.rounds), "--format", "json",
                                                   "--out", out.name]
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"sweep_collectives: {' '.join(command)} failed:\n{done.stderr}")
        text = pathlib.Path(out.name).read_text(encoding="utf-8")
    rows = json.loads(text) if text.lstrip().startswith("[") else [json.loads(x) for x in text.splitlines() if x.strip()]
    return {row["bytes"]: row["value"] for row in rows if row["metric"] == "latency"}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--launcher", default="oshrun -n 2")
    parser.add_argument("--perf", default="build/release/perftest/shmem_perf")
    parser.add_argument("--reach", choices=["node", "network"], default="node")
    parser.add_argument("--sizes", default="8,64,512,4K,32K,256K,1M")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("collective", nargs="+")
    options = parser.parse_args()
    for collective in options.collective:
        names = algorithms(collective, options.reach)
        if not names:
            parser.error(f"{collective} has no algorithm for reach {options.reach} in {TABLE.name}")
        found = {name: measure(options, collective, name) for name in names + ["table"]}
        sizes = sorted(found["table"])
        print(f"| {collective}, us | " + " | ".join(str(size) for size in sizes) + " |")
        print("| --- |" + " ---: |" * len(sizes))
        for name, values in found.items():
            cells = [f"**{values[s]:.3g}**" if values[s] == min(found[n][s] for n in names) else f"{values[s]:.3g}"
                     for s in sizes]
            print(f"| {name} | " + " | ".join(cells) + " |")
        print()
    return 0


if __name__ == "__main__":
    sys.exit(main())
