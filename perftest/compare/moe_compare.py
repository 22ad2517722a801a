#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Prints times of dispatch and combine of librailshmem-moe and of the benchmark of pplx-kernels, as a markdown page.

usage: moe_compare.py --ours FILE... --nvshmem FILE... --railshmem FILE...

The first FILEs hold JSON rows of shmem_gpu_perf, the others what the benchmark printed, one file a run. Runs become their median.
Exit status 1 where a program gave no line, or a check of the data failed.
"""
import argparse
import re
import statistics
import sys

import perf_rows

# "128  64   8 7168 | 12.34us ±  1.00us <send> <receive>   99GB/s | <combine, as before>"
LINE = re.compile(r"^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\d+)\s*\|\s*([\d.]+)us[^|]*\|\s*([\d.]+)us")
SECTION = re.compile(r"^(Intra|Inter)-Node (FP8|BF16)\s*$")
TYPES = {"bfloat16": "BF16", "float8_e4m3": "FP8"}
TOPK, HIDDEN = 8, 7168  # of shmem_gpu_perf's shapes


def of_ours(rows):
    """(call, type, shape) -> times. Our combine is of bf16 and goes with both types of a dispatch."""
    times = {}
    for row in rows:
        for kind in [TYPES[row["dtype"]]] if row["bench"] == "moe_dispatch" else TYPES.values():
            times.setdefault((row["bench"][len("moe_"):], kind, row["shape"]), []).append(row["value"])
    return times


def of_theirs(lines, way):
    """As of_ours(); way: "Intra" or "Inter", their kernels for one node or for several."""
    times, section = {}, None
    for line in lines:
        section = SECTION.match(line) or section
        found = LINE.match(line)
        if not found or not section or section[1] != way:
            continue
        tokens, experts, topk, hidden = (int(word) for word in found.groups()[:4])
        if (topk, hidden) != (TOPK, HIDDEN):
            continue
        shape = f"{tokens}x{hidden}x{experts}"
        for call, value in zip(("dispatch", "combine"), found.groups()[4:]):
            times.setdefault((call, section[2], shape), []).append(float(value))
    return times


def lines_of(files):
    lines = []
    for name in files:
        with open(name, encoding="utf-8") as file:
            lines += file.read().splitlines()
    return lines


def cells_of(columns, key):
    medians = [statistics.median(times[key]) if key in times else None for times in columns]
    yield from ("" if value is None else f"{value:.1f}" for value in medians)
    rivals = [value for value in medians[1:] if value is not None]
    yield f"{medians[0] / min(rivals):.2f}" if medians[0] and rivals else ""


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    for name in ("--ours", "--nvshmem", "--railshmem"):
        parser.add_argument(name, nargs="+", required=True)
    options = parser.parse_args()
    rows = perf_rows.read(options.ours)
    ours = of_ours(rows)
    columns = [ours]
    heads = ["ours"]
    for library, files in (("NVSHMEM", options.nvshmem), ("RailSHMEM", options.railshmem)):
        for way in ("Intra", "Inter"):
            columns.append(of_theirs(lines_of(files), way))
            heads.append(f"pplx-kernels {way.lower()}-node on {library}")
    stamp = rows[0]
    print(f"{stamp['version']}; {stamp['gpu']}, {stamp['driver']}; {stamp['pes']} PEs; top {TOPK}; us a call, medians, all run in turn.")
    print("A PE of pplx-kernels has 1 to so many tokens, by chance; ours has all. Its FP8 is given scales, ours makes them.\n")
    print("| call | tokens x channels x experts | type | " + " | ".join(heads) + " | ours / best of theirs |")
    print("|---|---|---|" + "---:|" * (len(heads) + 1))
    for call, kind, shape in ours:
        print(f"| {call} | {shape} | {kind} | " + " | ".join(cells_of(columns, (call, kind, shape))) + " |")
    faults = [f"{head}: no times; see what that run printed" for head, times in zip(heads, columns) if not times]
    faults += [f"{bench} brought wrong data" for bench in sorted({row["bench"] for row in rows if row.get("validated") is False})]
    for fault in faults:
        print(f"moe_compare.py: {fault}", file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
