# SPDX-License-Identifier: BSD-3-Clause
"""The command line of scripts/bench.sh."""
import argparse
import os
import sys
from pathlib import Path

import compare
import instructions
import jobs
import measure
import stats
import store
import suites

NO_RUN = 2


def options():
    parser = argparse.ArgumentParser(prog="scripts/bench.sh", description="Says which calls got slower than the committed figures. Exit status: 0 none, 1 some, 2 no run.")
    parser.add_argument("what", nargs="?", default="host", choices=["host", "gpu"])
    parser.add_argument("--quick", action="store_true", help="five rounds instead of seven, and fewer suites")
    parser.add_argument("--keep", action="store_true", help="append the rows to perftest/figures; commit them to make this run the baseline")
    parser.add_argument("--baseline", metavar="COMMIT", help="compare with the kept runs of this commit; default: that of the last one that is committed")
    parser.add_argument("--build", type=Path, help="folder of the build, or, for gpu, one filled by scripts/build_gpu_carry.sh; default: the variable FROM, "
                        "for gpu build/gpu-carry where it exists, else build/release")
    given = parser.parse_args()
    carried = store.ROOT / "build" / "gpu-carry"
    usual = carried if given.what == "gpu" and carried.is_dir() else store.ROOT / "build" / "release"
    given.build = given.build or Path(os.environ.get("FROM") or usual)
    return given


def measured(given, before):
    """{row name: Row}. Suites with a row that looks worse than before run once more: a job may find its threads placed badly in all its rounds."""
    library = jobs.ours(given.build.resolve(), "shmem_gpu_perf" if given.what == "gpu" else "shmem_perf")
    chosen = [suite for suite in (suites.GPU if given.what == "gpu" else suites.HOST) if suite.quick or not given.quick]
    effort = (5, 5, 0.08) if given.quick else (7, 5, 0.15)
    (found,) = measure.in_turns([library], chosen, *effort)
    _, worse = compare.table(measure.figures(found), before)
    again = {found[name].suite.name for name in worse}
    if again:
        measure.join(found, measure.in_turns([library], [suite for suite in chosen if suite.name in again], *effort)[0])
    rows = measure.figures(found)
    if given.what == "gpu":
        return rows
    other = None if given.quick else jobs.peer(store.ROOT)
    if other:
        rows |= measure.beside(*measure.in_turns([library, other], suites.PEER, *effort))
    return rows | instructions.figures(library, 1 if given.quick else 2)


def baseline(path, commit):
    """(what it is called, {row name: Row}) of all committed runs on one commit; None if none exist."""
    runs = store.runs(store.committed(path), path)
    if commit and not any(run["commit"].startswith(commit) for run, _ in runs):
        raise jobs.Stopped(f"{path.relative_to(store.ROOT)} has no committed run of {commit}")
    if not runs:
        return None
    commit = commit or runs[-1][0]["commit"]
    chosen = [(run, rows) for run, rows in runs if run["commit"].startswith(commit)]
    rows = {name: row._replace(figure=stats.together([one[name].figure for _, one in chosen if name in one]))
            for _, some in chosen for name, row in some.items()}
    return f"{chosen[-1][0]['commit']} of {chosen[-1][0]['date'][:10]} ({len(chosen)} runs)", rows


def main():
    given = options()
    of_gpus = store.gpu_kind() if given.what == "gpu" else None
    if of_gpus == "":
        raise jobs.Stopped("nvidia-smi shows no GPU, which bench.sh gpu measures")
    path = store.FOLDER / f"{of_gpus or store.kind()}.jsonl"
    before = baseline(path, given.baseline)
    run = store.stamp(store.gpus()[0] if of_gpus else None)
    rows = measured(given, before[1] if before else {})
    if given.keep:
        store.append(path, rows, run)
        print(f"bench: {len(rows)} rows of {run['commit']} are in {path.relative_to(store.ROOT)}")
    if before is None:
        print(f"bench: no run on a machine of this kind is committed ({path.relative_to(store.ROOT)}): keep this one by --keep")
        return 0
    lines, worse = compare.table(rows, before[1])
    print(f"bench: {run['commit']} beside {before[0]}", *lines, sep="\n")
    return 1 if worse else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (jobs.Stopped, ValueError) as error:
        print(f"bench: {error}", file=sys.stderr)
        sys.exit(NO_RUN)
