#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws the plots of the documentation from the JSON rows of the tree.

usage: plots.py FOLDER      draws all of them as SVG files into FOLDER and prints their names

Figures over commits are drawn from perftest/figures, sizes of docs/performance/*.jsonl from the rows of a table. A page asks
for them by <!-- plots commits --> or <!-- plots TABLE -->, and docs/site/assemble.py puts them there. No plot is tracked.
"""
import collections
import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "perftest/bench"))
import store  # noqa: E402  (from the folder of the benches)
import suites  # noqa: E402

ROWS = ROOT / "docs/performance"
OURS, PEER, FLOOR = "#3f51b5", "#e64a19", "#9e9e9e"


def pyplot():
    """matplotlib's, or None where it is missing."""
    try:
        import matplotlib
    except ImportError:
        return None
    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "railshmem"  # one content for one set of rows
    from matplotlib import pyplot as found
    return found


def save(found, figure, path):
    figure.savefig(path, bbox_inches="tight", metadata={"Date": None})
    found.close(figure)
    return path.name


def groups(runs):
    """{suite: {row: [(place of the run, worse by, noise)]}}"""
    result = collections.defaultdict(lambda: collections.defaultdict(list))
    first = {}
    for place, (_, rows) in enumerate(runs):
        for name, row in rows.items():
            start = first.setdefault(name, row.figure.ratio)
            change = row.figure.ratio / start if suites.low_is_good(row.unit) else start / row.figure.ratio
            result[name.split(".")[0]][name].append((place, change, row.figure.noise))
    return result


def over_commits(found, folder):
    """[(heading, text, file)]: a plot for each group of rows over the kept runs of each kind of machine."""
    drawn = []
    for path in sorted(store.FOLDER.glob("*.jsonl")):
        runs = store.runs(path.read_text(encoding="utf-8"), path)
        labels = [f"{run['commit']}\n{run['date'][:10]}" for run, _ in runs]
        for suite, rows in sorted(groups(runs).items()):
            figure, axes = found.subplots(figsize=(9, 4.5))
            for name, points in sorted(rows.items()):
                places, changes, noises = zip(*points)
                axes.errorbar(places, changes, yerr=[change * noise for change, noise in zip(changes, noises)], marker=".", capsize=2, linewidth=1, label=name)
            axes.axhline(1, color="grey", linewidth=0.5)
            axes.set_title(suite)
            axes.set_ylabel("beside the first run (more is worse)")
            axes.set_xticks(range(len(labels)), labels, rotation=30, ha="right", fontsize=7)
            axes.legend(fontsize=5, loc="center left", bbox_to_anchor=(1.01, 0.5))
            file = save(found, figure, folder / f"{path.stem}-{suite}.svg")
            drawn.append((f"{runs[0][0]['machine']}, {runs[0][0]['cpus']} CPUs", f"{suite}: {len(rows)} rows over {len(runs)} runs", file))
    return drawn


def size_text(nbytes):
    for unit, name in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if nbytes >= unit:
            return f"{nbytes // unit} {name}"
    return f"{nbytes} B"


def of_table(found, folder, table):
    """[("", text, file)]: the operations of a table with three sizes or more, beside floor and peer."""
    by_bench = collections.defaultdict(list)
    for path in sorted(ROWS.glob("*.jsonl")):
        for row in map(json.loads, path.read_text(encoding="utf-8").splitlines()):
            if row["table"] == table and row["size"]:
                by_bench[row["bench"]].append(row)
    chosen = {bench: sorted(rows, key=lambda row: row["size"]) for bench, rows in by_bench.items() if len(rows) > 2}
    if not chosen:
        sys.exit(f"plots: the rows of {table} have no operation with three sizes")
    across = min(3, len(chosen))
    down = -(-len(chosen) // across)
    figure, every = found.subplots(down, across, figsize=(4 * across, 3 * down), squeeze=False)
    for axes, (bench, rows) in zip(every.flat, chosen.items()):
        for field, colour, label in (("floor", FLOOR, "floor"), ("peer", PEER, rows[0].get("peer_name", "")), ("value", OURS, "RailSHMEM")):
            points = [(row["size"], row[field]) for row in rows if row[field] is not None]
            if points:
                axes.plot(*zip(*points), color=colour, marker=".", linewidth=1.2, label=label)
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        axes.set_xticks([row["size"] for row in rows], [size_text(row["size"]) for row in rows], rotation=40, ha="right", fontsize=7)
        axes.minorticks_off()
        axes.set_ylabel(rows[0]["unit"], fontsize=8)
        axes.set_title(bench, fontsize=9)
        axes.grid(True, alpha=0.3)
    for axes in list(every.flat)[len(chosen):]:
        axes.remove()
    handles = {label: handle for axes in figure.axes for handle, label in zip(*axes.get_legend_handles_labels())}
    figure.legend(handles.values(), handles.keys(), loc="lower center", ncols=3, fontsize=8, frameon=False, bbox_to_anchor=(0.5, -0.04))
    figure.tight_layout()
    return [("", f"{table}: {', '.join(chosen)}, by size", save(found, figure, folder / f"{table}.svg"))]


def draw(what, folder):
    """[(heading, text, file)] of what a page asks for; None where matplotlib is missing."""
    found = pyplot()
    if found is None:
        return None
    folder.mkdir(parents=True, exist_ok=True)
    return over_commits(found, folder) if what == "commits" else of_table(found, folder, what)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    for what in ("commits", "kernels-node", "nccl-2", "nccl-4"):
        drawn = draw(what, Path(sys.argv[1]))
        if drawn is None:
            sys.exit("plots: there is no matplotlib (Debian: python3-matplotlib; PyPI: matplotlib)")
        print("\n".join(file for _, _, file in drawn))


if __name__ == "__main__":
    main()
