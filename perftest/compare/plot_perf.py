#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws the curves of shmem_perf --format json: a PNG and an SVG file per kind of metric, sizes on a log2 axis.

usage: plot_perf.py [--out DIR] [--title TEXT] [--format png,svg] FILE...
A colour for each bench of each transport, so put and get differ, a kind of line for each transport, which the legend names, a marker for
each bench, bars from the median (p50) to the slow end (p99). The title says what
is drawn, with which library, on which machine and when. Files of several libraries or machines may be mixed, such as the
rows that compare_nccl.sh keeps in ROWS. Rows of several runs become their median. Collectives on a stream are drawn by time
and by bus bandwidth.
"""
import argparse
import collections
import os
import statistics
import sys

import perf_rows

SKIPPED = 77  # what CTest is told to read as "skipped"
LATENCY = ("latency", "one_way", "round_trip")
TITLES = {"bandwidth": "Bandwidth by message size", "rate": "Operations a second by message size",
          "latency": "Latency by message size"}
UNITS = {"bandwidth": "GB/s", "rate": "million operations/s", "latency": "microseconds"}
WORDS = {"bw": "bandwidth", "lat": "latency", "bibw": "bandwidth both ways", "nbi": "without waiting", "amo": "atomics",
         "sig": "signal", "ctx": "contexts"}
TRANSPORTS = {"p2p": "load and store within a node", "ofi": "libfabric", "loopback": "threads of one process",
              "direct": "load and store", "nccl": "NCCL"}

Line = collections.namedtuple("Line", "bench metric transport provider version host called", defaults=("",))
Point = collections.namedtuple("Point", "bytes value p50 p99")


def kind_of(row):
    """Which figure a row belongs to, or None for metrics without a size axis."""
    if row["metric"] in ("bandwidth", "rate"):
        return row["metric"]
    return "latency" if row["metric"] in LATENCY else None


def called(row):
    """How a collective on a stream was called: "graph, heap"; empty for other rows."""
    if "order" not in row:
        return ""
    words = [row["order"], row.get("memory", ""), row.get("dtype", ""), "in place" if row.get("in_place") else "",
             f"{row['ctas']} blocks" if row.get("ctas") else ""]
    return ", ".join(word for word in words if word)


def points_of(row):
    """(kind of figure, metric, point): the row's value, and its bus bandwidth where it has one."""
    if row["bytes"] == 0:
        return
    kind = kind_of(row)
    if kind is not None:
        yield kind, row["metric"], Point(row["bytes"], row["value"], row["p50"], row["p99"])
    if row.get("busbw"):
        speeds = [row["busbw"] * row["value"] / time if time else 0 for time in (row["value"], row["p50"], row["p99"])]
        yield "bandwidth", "bus", Point(row["bytes"], *speeds)


def lines_of(rows):
    """{kind: {Line: [Point]}}, sorted by size; several rows of one line and size become their median."""
    figures = collections.defaultdict(lambda: collections.defaultdict(lambda: collections.defaultdict(list)))
    for row in rows:
        for kind, metric, point in points_of(row):
            line = Line(row["bench"], metric, row["transport"], row["provider"], row.get("version", "?"), row.get("host", "?"),
                        called(row))
            figures[kind][line][point.bytes].append(point)
    return {kind: {line: [Point(*map(statistics.median, zip(*points))) for _, points in sorted(sizes.items())]
                   for line, sizes in lines.items()} for kind, lines in figures.items()}


def bench_words(line):
    """put_bw -> "put bandwidth"; the metric where it says more than the name."""
    words = " ".join(WORDS.get(word, word) for word in line.bench.split("_"))
    return words + (", " + line.metric.replace("_", " ") if line.metric in ("one_way", "round_trip", "bus") else "")


def transport_words(line):
    """ofi and tcp;ofi_rxm -> "libfabric, tcp;ofi_rxm"."""
    words = TRANSPORTS.get(line.transport, line.transport)
    return words if line.provider in ("", "auto", line.transport) else f"{words}, {line.provider}"


def sources(lines, field):
    """The values of a field that all lines have in common, or all of them."""
    return ", ".join(sorted({getattr(line, field) for line in lines}))


def label_of(line, lines):
    """What tells this line from the others, in words."""
    label = f"{bench_words(line)} ({transport_words(line)})" + (f", {line.called}" if line.called else "")
    for field in ("version", "host"):
        if len({getattr(other, field) for other in lines}) > 1:
            label += f", {getattr(line, field)}"
    return label


def subtitle(lines, rows):
    dates = sorted({row["date"][:10] for row in rows if row.get("date")})
    when = dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}" if dates else "date unknown"
    pes = sorted({row["pes"] for row in rows})
    count = f"{pes[0]} PE{'s' if pes[0] != 1 else ''}" if len(pes) == 1 else f"{pes[0]} to {pes[-1]} PEs"
    return f"{sources(lines, 'version')} on {sources(lines, 'host')}, {count}, {when}"


def size_text(nbytes):
    """8, 4 KiB, 1 MiB."""
    for shift, suffix in ((30, "GiB"), (20, "MiB"), (10, "KiB")):
        if nbytes >= 1 << shift and nbytes % (1 << shift) == 0:
            return f"{nbytes >> shift} {suffix}"
    return str(nbytes)


def styles(lines, colours):
    """{Line: (colour, marker, kind of line)}: a colour for each bench of a transport and provider, a marker for each bench, a kind
    of line for each transport and provider."""
    markers, kinds = "osD^vP*X<>", ["-", "--", "-.", ":"]
    transports = sorted({(line.transport, line.provider) for line in lines})
    coloured = sorted({(line.bench, line.metric, line.transport, line.provider) for line in lines})
    benches = sorted({(line.bench, line.metric, line.called, line.version, line.host) for line in lines})
    return {line: (colours[coloured.index((line.bench, line.metric, line.transport, line.provider)) % len(colours)],
                   markers[benches.index((line.bench, line.metric, line.called, line.version, line.host)) % len(markers)],
                   kinds[transports.index((line.transport, line.provider)) % len(kinds)])
            for line in lines}


def bars(points):
    """How far p50 and p99 reach below and above the value drawn."""
    low = [point.value - min(point.value, point.p50, point.p99) for point in points]
    high = [max(point.value, point.p50, point.p99) - point.value for point in points]
    return [low, high]


def draw(pyplot, kind, lines, title, rows, paths):
    figure, axes = pyplot.subplots(figsize=(10, 6))
    colours = pyplot.rcParams["axes.prop_cycle"].by_key()["color"]
    style = styles(lines, colours)
    for line, points in sorted(lines.items()):
        colour, marker, kind_of_line = style[line]
        axes.errorbar([p.bytes for p in points], [p.value for p in points], yerr=bars(points), color=colour,
                      marker=marker, markersize=5, capsize=3, linewidth=1.2, linestyle=kind_of_line, elinewidth=0.8, label=label_of(line, lines))
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    sizes = sorted({p.bytes for points in lines.values() for p in points})
    ticks = sizes[:: max(1, -(-len(sizes) // 12))]
    axes.set_xticks(ticks)
    axes.set_xticklabels([size_text(s) for s in ticks])
    axes.minorticks_on()
    axes.tick_params(axis="x", which="minor", bottom=False)
    axes.yaxis.set_major_formatter("{x:g}")
    axes.set_xlabel("message size (bytes)")
    axes.set_ylabel(f"{kind} ({UNITS[kind]})")
    axes.grid(True, which="major", alpha=0.4)
    axes.grid(True, which="minor", axis="y", alpha=0.15)
    axes.legend(fontsize=8, title="bars: median (p50) to slow end (p99)", title_fontsize=8)
    figure.suptitle(title, fontsize=14)
    axes.set_title(subtitle(lines, rows), fontsize=9)
    figure.tight_layout()
    for path in paths:
        figure.savefig(path, dpi=120)
    pyplot.close(figure)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+", metavar="FILE", help="output of shmem_perf --format json")
    parser.add_argument("--out", default=".", metavar="DIR", help="folder for the files (default: here)")
    parser.add_argument("--format", default="png,svg", help="png, svg, or both with a comma between (default: both)")
    parser.add_argument("--title", help="instead of the one that names the figure's kind")
    arguments = parser.parse_args()
    rows = perf_rows.read(arguments.files)
    figures = lines_of(rows)
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
    for kind, lines in figures.items():
        paths = [os.path.join(arguments.out, f"{kind}.{form}") for form in arguments.format.split(",")]
        draw(pyplot, kind, lines, arguments.title or TITLES[kind], [row for row in rows if any(k == kind for k, _, _ in points_of(row))], paths)
        print(*paths, sep="\n")


if __name__ == "__main__":
    main()
