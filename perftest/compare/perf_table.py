#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Prints the rows of shmem_perf --floor --format json as a markdown page: machine, versions, ratios to the floors.

usage: perf_table.py FILE...
"""
import os
import platform
import subprocess
import sys

import perf_rows


def output_of(*command):
    """First line of a command's output; "unknown" when it cannot be run."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=True)
        return done.stdout.strip().splitlines()[0]
    except (OSError, subprocess.SubprocessError, IndexError):
        return "unknown"


def cpu_model():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        for line in file:
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.machine()


def machine(rows):
    here = os.path.dirname(os.path.abspath(__file__))
    yield "CPU", f"{cpu_model()}, {len(os.sched_getaffinity(0))} usable CPUs"
    yield "load before the summary (1, 5, 15 min)", " ".join(f"{x:.1f}" for x in os.getloadavg())
    yield "kernel", platform.release()
    yield "library", ", ".join(sorted({r.get("version", "unknown") for r in rows}))
    yield "commit", output_of("git", "-C", here, "describe", "--always", "--dirty")
    yield "libfabric", output_of("pkg-config", "--modversion", "libfabric")
    yield "date", max(r.get("date", "") for r in rows)


def number(value):
    return "" if value is None else f"{value:.4g}"


def main():
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    rows = [r for r in perf_rows.read(sys.argv[1:]) if not r["bench"].startswith("floor_")]
    if not rows:
        sys.exit("no rows of benches: run shmem_perf with --floor --format json")
    print("# Speed against the floors of the same machine\n")
    print("Medians; each floor was run right before its bench, in the same job, in every round. "
          "A ratio is value / floor: for latencies small is good, for bandwidths and rates large.\n")
    for name, value in machine(rows):
        print(f"- {name}: {value}")
    print("\n| transport | provider | bench | bytes | metric | value | p99 | unit | floor | ratio |")
    print("|---|---|---|---:|---|---:|---:|---|---:|---:|")
    for r in rows:
        print(f"| {r['transport']} | {r['provider']} | {r['bench']} | {r['bytes']} | {r['metric']} | "
              f"{number(r['value'])} | {number(r['p99'])} | {r['unit']} | {number(r.get('floor'))} | "
              f"{number(r.get('ratio'))} |")


if __name__ == "__main__":
    main()
