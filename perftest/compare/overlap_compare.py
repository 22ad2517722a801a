#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Prints overlapped products beside the product alone, beside copies, NCCL and PyTorch, with goals, as markdown tables.

usage: overlap_compare.py [FILE...] [--nodes FILE...]

FILEs hold JSON rows of shmem_gpu_perf ag_gemm gemm_rs and of overlap_torch.py; rows of several runs become their median.
Shares are times of the product alone by the time in question, both of one process; more is better. Files after --nodes hold
rows of jobs whose PEs are on several nodes; their table has the bound of a pipeline (docs/overlap.md). A goal that is missed
is told in the table and does not count as a failure. Exit status 1 where rows of ours are missing.
"""
import argparse
import collections
import statistics
import sys

import perf_rows

# Of two H200s: most time against the product beside its bytes, and least share of the product alone.
GOALS = {
    ("ag_gemm", "32768x16384x8192"): (1.01, 0.97), ("ag_gemm", "16384x16384x8192"): (1.01, 0.97),
    ("ag_gemm", "8192x8192x8192"): (1.03, 0.95), ("ag_gemm", "8192x8192x28672"): (1.03, 0.95),
    ("ag_gemm", "4096x8192x4096"): (1.10, 0.90),
    ("gemm_rs", "32768x8192x8192"): (None, 1.0), ("gemm_rs", "16384x8192x8192"): (None, 1.0),
    ("gemm_rs", "8192x4096x8192"): (None, 0.95), ("gemm_rs", "4096x4096x4096"): (None, 0.82),
}
# Of eight H200s, each with a PE: the two limits that GOALS has.
GOALS_OF_EIGHT = {
    ("ag_gemm", "32768x16384x8192"): (1.02, 0.96),
    **{("gemm_rs", shape): (None, 0.90) for shape in ("32768x8192x8192", "16384x8192x8192")},
}
SMALL = "small:"  # how names of shapes of few rows begin
SMALL_BY_SEQUENTIAL = 1.02  # most time against the collective and the product one behind the other, of such shapes
TITLES = {"ag_gemm": "All-gather + product", "gemm_rs": "Product + reduce-scatter"}


def collect(rows):
    """{(bench, shape, way, pieces and perhaps protocol): median}, in the order of first appearance."""
    values = collections.OrderedDict()
    for row in rows:
        bench = next((name for name in TITLES if row["bench"].startswith(name)), None)
        if bench is None:
            continue
        shape, _, pieces = row["shape"].partition(" ")
        values.setdefault((bench, shape, row["bench"][len(bench) + 1:], pieces), []).append(row["value"])
    return collections.OrderedDict((key, statistics.median(found)) for key, found in values.items())


def share(alone, time):
    """Three digits, or a dash."""
    return f"{alone / time:.3f}" if alone and time else "-"


def verdict(value, goal, at_most):
    """The value with its goal."""
    if value is None:
        return "-"
    if goal is None:
        return f"{value:.3f}"
    met = value <= goal if at_most else value >= goal
    return f"{'**' if met else ''}{value:.3f}{'**' if met else ''} ({'<=' if at_most else '>='} {goal:g})"


def ours_of(bench, medians):
    """Each call of ours: shape, pieces, microseconds, and a function that gives the time of another way, or None."""
    for (name, shape, way, pieces), ours in medians.items():
        if name == bench and way == "ours":
            yield shape, pieces, ours, lambda which, pieces="", shape=shape: medians.get((bench, shape, which, pieces))


def table(bench, medians, pes):
    """One line for each shape and each number of pieces."""
    yield f"## {TITLES[bench]} (M x K x N), shares of the product alone"
    yield ""
    yield ("| shape | pieces | protocol | alone us | ours us | beside | sequential | NCCL then product | PyTorch fused | ours, share | "
           "ours / beside | ours / sequential |")
    yield "| --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
    goals = GOALS_OF_EIGHT if pes == 8 else GOALS
    for shape, pieces, ours, at in ours_of(bench, medians):
        alone, beside, torch_alone = at("alone"), at("beside"), at("torch_alone")
        most, least = goals.get((bench, shape), (None, None))
        by_sequential = verdict(at("by_sequential", pieces), SMALL_BY_SEQUENTIAL if shape.startswith(SMALL) else None, True)
        whole = f"{alone:.0f}" if alone else "-"
        pieces, _, protocol = pieces.partition(" ")
        yield (f"| {shape} | {pieces} | {protocol or '-'} | {whole} | {ours:.0f} | {share(alone, beside)} | {share(alone, at('sequential'))} | "
               f"{share(torch_alone, at('torch_nccl'))} | {share(torch_alone, at('torch_fused'))} | "
               f"{verdict(alone / ours if alone else None, least, False)} | {verdict(ours / beside if beside else None, most, True)} | "
               f"{by_sequential} |")
    yield ""


def bound(product, collective, pes, pieces):
    """The least time of a pipeline of that many pieces of each PE's rows: all bytes, and the product of one piece."""
    number = pieces.rpartition("=")[2]
    return max(product, collective + product / (1 if number == "whole" else pes * int(number)))


def between_nodes(bench, medians, pes):
    """One line for each shape and each number of pieces: times, and the bound."""
    yield f"## {TITLES[bench]} (M x K x N) between nodes, us"
    yield ""
    yield "| shape | pieces | product | collective | sequential | ours | bound | ours / bound | ours / sequential |"
    yield "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
    for shape, pieces, ours, at in ours_of(bench, medians):
        product, collective, sequential = at("alone"), at("collective"), at("sequential")
        least = bound(product, collective, pes, pieces) if product and collective else None
        number = lambda value: f"{value:.0f}" if value else "-"  # noqa: E731
        yield (f"| {shape} | {pieces} | {number(product)} | {number(collective)} | {number(sequential)} | {ours:.0f} | {number(least)} | "
               f"{verdict(ours / least if least else None, None, True)} | {verdict(at('by_sequential', pieces), None, True)} |")
    yield ""


def show(rows, table_of):
    """The machines, and a table for each bench that has rows."""
    medians = collect(rows)
    for machine in sorted({f"{row.get('gpu', '?')}, {row.get('version', '?')}, {row['pes']} PEs" for row in rows}):
        print(machine)
    print()
    for bench in (bench for bench in TITLES if any(name == bench for name, _, _, _ in medians)):
        print("\n".join(table_of(bench, medians)))
    if not any(way == "ours" for _, _, way, _ in medians):
        sys.exit("overlap_compare.py: no row of ours")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*")
    parser.add_argument("--nodes", nargs="*", default=[])
    options = parser.parse_args()
    if not options.files and not options.nodes:
        sys.exit(__doc__)
    if options.files:
        rows = perf_rows.read(options.files)
        show(rows, lambda bench, medians: table(bench, medians, rows[0]["pes"] if rows else 1))
    if options.nodes:
        rows = perf_rows.read(options.nodes)
        show(rows, lambda bench, medians: between_nodes(bench, medians, rows[0]["pes"] if rows else 1))


if __name__ == "__main__":
    main()
