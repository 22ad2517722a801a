# SPDX-License-Identifier: BSD-3-Clause
"""docs/figures.md: a plot for each group of rows over the runs that are kept, each run beside the first one."""
import collections
from pathlib import Path

import jobs
import store
import suites

HEAD = """# Figures over commits

For developers. Written by `scripts/bench.sh plot` from `perftest/figures`; [benchmarks.md](benchmarks.md) says what a row is. A line is a row beside its own first run: 1 is as then, 1.1 a tenth
worse. Bars are the noise that the run measured. A run with `--quick` has fewer rows.
"""


def groups(runs):
    """{suite: {row: [(place of the run, worse by, noise)]}}"""
    found = collections.defaultdict(lambda: collections.defaultdict(list))
    first = {}
    for place, (_, rows) in enumerate(runs):
        for name, row in rows.items():
            start = first.setdefault(name, row.figure.ratio)
            change = row.figure.ratio / start if suites.low_is_good(row.unit) else start / row.figure.ratio
            found[name.split(".")[0]][name].append((place, change, row.figure.noise))
    return found


def draw(path, title, rows, labels):
    from matplotlib import pyplot
    figure, axes = pyplot.subplots(figsize=(9, 4.5))
    for name, points in sorted(rows.items()):
        places, changes, noises = zip(*points)
        axes.errorbar(places, changes, yerr=[change * noise for change, noise in zip(changes, noises)], marker=".", capsize=2, linewidth=1, label=name)
    axes.axhline(1, color="grey", linewidth=0.5)
    axes.set_title(title)
    axes.set_ylabel("beside the first run (more is worse)")
    axes.set_xticks(range(len(labels)), labels, rotation=30, ha="right", fontsize=7)
    axes.legend(fontsize=5, loc="center left", bbox_to_anchor=(1.01, 0.5))
    figure.savefig(path, bbox_inches="tight", metadata={"Date": None})
    pyplot.close(figure)


def write():
    try:
        import matplotlib
    except ImportError:
        raise jobs.Stopped("there is no matplotlib (Debian: python3-matplotlib)") from None
    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "railshmem"  # one content for one set of figures
    folder = store.ROOT / "docs" / "figures"
    folder.mkdir(exist_ok=True)
    page = [HEAD]
    for path in sorted(store.FOLDER.glob("*.jsonl")):
        runs = store.runs(path.read_text(encoding="utf-8"), path)
        labels = [f"{run['commit']}\n{run['date'][:10]}" for run, _ in runs]
        page.append(f"\n## {runs[0][0]['machine']}, {runs[0][0]['cpus']} CPUs\n")
        for suite, rows in sorted(groups(runs).items()):
            file = folder / f"{path.stem}-{suite}.svg"
            draw(file, suite, rows, labels)
            page.append(f"\n![{suite}: {len(rows)} rows over {len(runs)} runs]({file.relative_to(store.ROOT / 'docs')})\n")
    Path(store.ROOT / "docs" / "figures.md").write_text("".join(page), encoding="utf-8")
    print("bench: docs/figures.md")
