#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Prints rows of shmem_gpu_perf of two libraries and their floors side by side, as a markdown page.

usage: gpu_compare.py --ours FILE... --theirs FILE...

FILEs hold JSON rows (--format json), one file a run; rows of several runs become their median. Floors are taken from
our files. Exit status 1 when a row of ours has no partner or a check of the data failed.
"""
import argparse
import statistics
import sys

import perf_rows

# bench -> the floor under it; floors of words stand under messages of 8 bytes only
FLOORS = {
    "put_bw": "floor_copy_kernel",
    "get_bw": "floor_read_kernel",
    "p_bw": "floor_copy_kernel",
    "put_lat": "floor_store",
    "p_lat": "floor_store",
    "g_lat": "floor_load",
    "amo_lat": "floor_atomic",
    "signal_pingpong": "floor_flag",
    "put_signal_pingpong": "floor_flag",
    "ring_rtt": "floor_pinned",
    "ring_issue": "floor_issue",
    "ring_issue_signal": "floor_issue",
    "barrier_on_stream": "floor_launch",
    "barrier_in_graph": "floor_launch_in_graph",
    "barrier_on_cpu": "floor_launch_on_cpu",
}
HEAD = ["bench", "scope", "ctas x threads", "bytes", "unit", "ours", "NVSHMEM", "ours / NVSHMEM", "floor", "ours / floor"]


def key_of(row):
    return (row["bench"], row["scope"], row["ctas"], row["threads"], row["bytes"], row["metric"])


def medians(rows, key=key_of):
    """Key -> median value over the runs, in the order of first appearance."""
    values = {}
    for row in rows:
        values.setdefault(key(row), []).append(row["value"])
    return {key: statistics.median(found) for key, found in values.items()}


def floor_of(key, floors):
    """The value of the floor under a row, or None: same size, and the same number of blocks where the floor has any."""
    bench, _, ctas, _, nbytes, metric = key
    fitting = [(k, v) for k, v in floors.items() if k[0] == FLOORS.get(bench) and k[4] == nbytes]
    if metric == "bandwidth":
        fitting = [(k, v) for k, v in fitting if k[2] == ctas]
    return fitting[0][1] if fitting else None


def number(value):
    return "" if value is None else f"{value:.4g}"


def ratio(value, other):
    return f"{value / other:.3f}" if value is not None and other else ""


def table(ours, theirs):
    """Rows of cells, in our order; then what only the other library has."""
    floors = {k: v for k, v in ours.items() if k[0].startswith("floor_")}
    units = {"bandwidth": "GB/s", "rate": "Mops/s"}
    for key in [k for k in ours if k not in floors] + [k for k in theirs if k not in ours and not k[0].startswith("floor_")]:
        bench, scope, ctas, threads, nbytes, metric = key
        mine, other, floor = ours.get(key), theirs.get(key), floor_of(key, floors)
        yield [bench, scope, f"{ctas} x {threads}", str(nbytes), units.get(metric, "us"), number(mine), number(other),
               ratio(mine, other), number(floor), ratio(mine, floor)]
    for key, value in floors.items():
        bench, scope, ctas, threads, nbytes, metric = key
        yield [bench, scope, f"{ctas} x {threads}" if ctas else "", str(nbytes), units.get(metric, "us"), "", "", "",
               number(value), ""]


def page(ours_rows, theirs_rows):
    versions = " against ".join(sorted({r["version"] for r in rows})[0] if rows else "nothing"
                                for rows in (ours_rows, theirs_rows))
    machine = ", ".join(sorted({f"{r['gpu']}, {r['driver']}" for r in ours_rows + theirs_rows}))
    pes = max((r["pes"] for r in ours_rows + theirs_rows), default=0)
    yield f"{versions}; {machine}; up to {pes} PEs; medians, both run in turn.\n"
    yield "Latencies (us): below 1 is good. Bandwidths and rates: above 1 is good.\n"
    yield "| " + " | ".join(HEAD) + " |"
    yield "|---|---|---|---:|---|---:|---:|---:|---:|---:|"
    for cells in table(medians(ours_rows), medians(theirs_rows)):
        yield "| " + " | ".join(cells) + " |"


def faults(ours_rows, theirs_rows):
    theirs = medians(theirs_rows)
    for name, rows in (("ours", ours_rows), ("NVSHMEM", theirs_rows)):
        for bench in sorted({r["bench"] for r in rows if r.get("validated") is False}):
            yield f"{name}: {bench} brought wrong data"
    alone = {k[0] for k in medians(ours_rows) if k not in theirs and not k[0].startswith(("floor_", "ring_"))}
    for bench in sorted(alone):
        yield f"{bench}: rows of ours without a partner; did that run of NVSHMEM end early?"


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--ours", nargs="+", required=True)
    parser.add_argument("--theirs", nargs="*", default=[])
    options = parser.parse_args()
    ours, theirs = perf_rows.read(options.ours), perf_rows.read(options.theirs)
    for line in page(ours, theirs):
        print(line)
    found = list(faults(ours, theirs))
    for fault in found:
        print(f"gpu_compare.py: {fault}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
