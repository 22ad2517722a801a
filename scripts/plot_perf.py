#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws the curves of shmem_perf --format json: one PNG per kind of metric, sizes on a log2 axis.

usage: plot_perf.py [--out DIR] FILE...
One line per (bench, transport, provider). Files of several libraries or machines may be mixed.
"""
import argparse
import collections
import os
import sys

import perf_rows

SKIPPED = 77  # what CTest is told to read as "skipped"
LATENCY = ("latency", "one_way", "round_trip")


def kind_of(row):
    """Which figure a row belongs to, or None for metrics without a size axis."""
    if row["metric"] in ("bandwidth", "rate"):
        return row["metric"]
    return "latency" if row["metric"] in LATENCY else None


def lines_of(rows):
    """{kind: {line label: [(bytes, value)]}}, sorted by size."""
    versions = {row.get("version") for row in rows}
    figures = collections.defaultdict(lambda: collections.defaultdict(list))
    for row in rows:
        kind = kind_of(row)
        if kind is None or row["bytes"] == 0:
            continue
        label = f"{row['bench']} {row['transport']} {row['provider']}"
        if row["metric"] in ("one_way", "round_trip"):
            label += f" {row['metric'].replace('_', ' ')}"
        if len(versions) > 1:
            label += f" [{row.get('version', '?')}]"
        figures[kind][label].append((row["bytes"], row["value"]))
    return {kind: {label: sorted(points) for label, points in lines.items()} for kind, lines in figures.items()}


def size_text(nbytes):
    """8, 4K, 1M."""
    for shift, suffix in ((30, "G"), (20, "M"), (10, "K")):
        if nbytes >= 1 << shift and nbytes % (1 << shift) == 0:
            return f"{nbytes >> shift}{suffix}"
    return str(nbytes)


def draw(pyplot, kind, lines, unit, path):
    figure, axes = pyplot.subplots(figsize=(9, 5.5))
    for label, points in sorted(lines.items()):
        axes.plot([p[0] for p in points], [p[1] for p in points], marker="o", markersize=3, label=label)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    sizes = sorted({p[0] for points in lines.values() for p in points})
    axes.set_xticks(sizes[:: max(1, len(sizes) // 12)])
    axes.set_xticklabels([size_text(s) for s in axes.get_xticks().astype(int)])
    axes.set_xlabel("message size (bytes)")
    axes.set_ylabel(f"{kind} ({unit})")
    axes.grid(True, which="both", alpha=0.3)
    axes.legend(fontsize=7)
    figure.tight_layout()
    figure.savefig(path, dpi=120)
    pyplot.close(figure)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+", metavar="FILE", help="output of shmem_perf --format json")
    parser.add_argument("--out", default=".", metavar="DIR", help="folder for the PNG files (default: here)")
    arguments = parser.parse_args()
    figures = lines_of(perf_rows.read(arguments.files))
    if not figures:
        sys.exit("no row with a message size to draw: run put_bw, put_lat or another bench with sizes")
    try:
        import matplotlib
    except ImportError:
        print("SKIPPED: matplotlib is missing; install python3-matplotlib", file=sys.stderr)
        sys.exit(SKIPPED)
    matplotlib.use("Agg")
    from matplotlib import pyplot
    os.makedirs(arguments.out, exist_ok=True)
    units = {"bandwidth": "GB/s", "rate": "Mops/s", "latency": "us"}
    for kind, lines in figures.items():
        path = os.path.join(arguments.out, f"{kind}.png")
        draw(pyplot, kind, lines, units[kind], path)
        print(path)


if __name__ == "__main__":
    main()
