#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Prints what compare_python.sh has measured as one markdown table: ours, its peer, ratio, goal, and whether it is met.

usage: python_compare.py --rows FOLDER [--only PART...]

FOLDER has ours_*.json (rows of python/bench) and c_*.json (rows of shmem_gpu_perf). Rows of several runs become their median. A line
that lacks a side is printed as not measured. Exit status 1 when a check of data failed.
"""
import argparse
import glob
import itertools
import json
import os
import statistics
import sys

KI, MI = 1 << 10, 1 << 20
OVERHEAD = 2.0  # microseconds that Python may add to a call
NEAR = 1.05  # of the peer's time
FSDP, FSDP_OVERLAP = 1.0, 0.97  # of the step with NCCL
HEAD = ["line", "ours", "peer", "ratio", "goal", "result"]


def read(folder, who):
    """The rows of all files of one side; one object a line. A line that was cut off by the end of a process is left out."""
    rows = []
    for path in sorted(glob.glob(os.path.join(folder, f"{who}_*.json"))):
        with open(path, encoding="utf-8") as file:
            for line in file:
                try:
                    rows.append(json.loads(line))
                except ValueError:
                    print(f"python_compare.py: {path}: this is no row: {line[:80]!r}", file=sys.stderr)
    return rows


def median(rows, bench, **wanted):
    values = [row["value"] for row in rows if row["bench"] == bench and all(row.get(key) == value for key, value in wanted.items())]
    return statistics.median(values) if values else None


def one(rows, bench, **wanted):
    """The last row of a kind, or None."""
    found = [row for row in rows if row["bench"] == bench and all(row.get(key) == value for key, value in wanted.items())]
    return found[-1] if found else None


def size_text(nbytes):
    return f"{nbytes // MI} MiB" if nbytes >= MI else f"{nbytes // KI} KiB" if nbytes >= KI else f"{nbytes} B"


def number(value, unit):
    return "" if value is None else f"{value:.4g} {unit}"


def verdict(met):
    return "not measured" if met is None else "met" if met else "**missed**"


def against(name, ours, peer, unit, limit):
    """A line whose ratio has a limit."""
    ratio = ours / peer if ours is not None and peer else None
    return [name, number(ours, unit), number(peer, unit), "" if ratio is None else f"{ratio:.3f}", f"<= {limit:.2f}",
            verdict(None if ratio is None else ratio <= limit)]


def beyond(name, ours, peer, calls_in_it=1):
    """A line whose difference has a limit, for each call."""
    more = ours - peer if ours is not None and peer is not None else None
    limit = OVERHEAD * calls_in_it
    return [name, number(ours, "us"), number(peer, "us"), "" if more is None else f"{more:+.2f} us",
            f"<= +{limit:g} us" + (f" for {calls_in_it} calls" if calls_in_it > 1 else ""), verdict(None if more is None else more <= limit)]


def calls(ours, theirs):
    titles = {"put": "put", "put_signal": "put_signal", "fcollect": "all_gather", "reduce": "all_reduce"}
    for name, title in titles.items():
        for nbytes in sizes_of(name):
            yield beyond(f"{title}, {size_text(nbytes)}, time of the CPU", *latencies(ours, theirs, f"{name}_on_cpu", nbytes))
    for nbytes in sizes_of("put"):
        speeds = [median(rows, "put_on_stream", bytes=nbytes, metric="bandwidth") for rows in (ours, theirs)]
        yield beyond(f"put, {size_text(nbytes)}, one after the other on the stream", *(nbytes / speed * 1e-3 if speed else None for speed in speeds))
    # A put and its quiet, or a put_signal and a wait, are two calls.
    for name, title, count in (("put", "put and quiet", 2), ("put_signal", "put_signal there and back", 2), ("fcollect", "all_gather", 1),
                               ("reduce", "all_reduce", 1)):
        for nbytes in sizes_of(name):
            yield beyond(f"{title}, {size_text(nbytes)}, one after the other on the stream",
                         *latencies(ours, theirs, f"{name}_on_stream", nbytes), count)


def sizes_of(name):
    return (16 if name == "fcollect" else 8, 8 * KI)  # two words are gathered


def latencies(ours, theirs, bench, nbytes):
    return [median(rows, bench, bytes=nbytes, metric="latency") for rows in (ours, theirs)]


def collectives(ours, theirs):
    titles = {"allgather": "all_gather", "reducescatter": "reduce_scatter", "allreduce": "all_reduce"}
    for order in ("stream", "graph"):
        for bench, title in titles.items():
            for nbytes in (MI, 16 * MI, 64 * MI, 256 * MI):
                key = {"bytes": nbytes, "order": order, "memory": "heap"}
                yield against(f"{title}, {size_text(nbytes)}, {order}", median(ours, bench, **key), median(theirs, bench, **key),
                              "us", NEAR)


def triton(ours, theirs):
    for nbytes in (8, KI, 16 * KI):
        for warps in (1, 4, 8):
            key = {"bytes": nbytes, "threads": 32 * warps}
            yield against(f"Triton put_signal there and back, {size_text(nbytes)}, {warps} warp{'s' if warps > 1 else ''}",
                          median(ours, "put_signal_pingpong", **key), median(theirs, "put_signal_pingpong", **key), "us", NEAR)


def models(ours):
    return list(dict.fromkeys(row["model"] for row in ours if row["bench"] == "fsdp_step")) or ["?"]


def fsdp(ours, _):
    for model in models(ours):
        reference, gather, both = [median(ours, "fsdp_step", kind=kind, model=model) for kind in ("reference", "all-gather", "both")]
        yield against(f"FSDP2 step, {model}, our all-gather", gather, reference, "ms", FSDP_OVERLAP)
        yield against(f"FSDP2 step, {model}, our all-gather and reduce-scatter", both, reference, "ms", FSDP)
        row = one(ours, "fsdp_trace", kind="all-gather", model=model)
        beside = sum(entry[2] for entry in row["ours"].values()) if row and row["products_us"] else None
        nccl = one(ours, "fsdp_trace", kind="reference", model=model)
        yield [f"our kernels while products run, {model}, our all-gather, one step", number(beside, "us"),
               number(sum(entry[2] for entry in nccl["nccl"].values()) if nccl else None, "us"), "", "none",
               verdict(None if beside is None else beside == 0)]
    row, again = one(ours, "fsdp_losses", kind="all-gather"), one(ours, "fsdp_losses", kind="reference again")
    repeats = again["equal"] if again else None
    yield ["losses with our all-gather, largest difference", f"{row['value']:g}" if row else "",
           f"{again['value']:g} to itself" if again else "", "", "equal bits",
           verdict(None if row is None else row["equal"]) + (", and the reference differs from itself" if repeats is False else "")]
    row = one(ours, "fsdp_losses", kind="both")
    close = None if row is None else row["value"] <= 1e-2 * abs(row["first"])
    yield ["losses with both of ours, largest difference", f"{row['value']:g}" if row else "", "", "", "<= 1 % of the loss",
           verdict(close)]


def ddp(ours, _):
    times = [median(ours, "ddp_step", kind=kind) for kind in ("railshmem", "reference")]
    yield against("DDP step by cuda:railshmem", *times, "ms", NEAR)
    row = one(ours, "ddp_losses")
    yield ["losses of DDP, largest difference", f"{row['value']:g}" if row else "", "", "", "<= 1 % of the loss",
           verdict(None if row is None else row["value"] <= 1e-2 * abs(row["first"]))]


PARTS = {"calls": calls, "collectives": collectives, "triton": triton, "fsdp": fsdp, "ddp": ddp}


def traces(ours):
    """What ran on the GPU in a step of each kind, as lines."""
    for model, kind in itertools.product(models(ours), ("reference", "all-gather", "both")):
        row = one(ours, "fsdp_trace", kind=kind, model=model)
        if row is None:
            continue
        yield f"FSDP2 step, {model}, {kind}, rank 0: {row['kernels']} kernels; products {row['products_us']:.0f} us"
        for side in ("ours", "nccl"):
            for name, (count, took, beside) in sorted(row[side].items()):
                yield f"  {name}: {count} times, {took:.1f} us, of them {beside:.1f} us while a product ran"
        for name, (count, took) in sorted(row["copies"].items()):
            yield f"  {name}: {count} times, {took:.1f} us"


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--rows", required=True)
    parser.add_argument("--only", nargs="+", choices=list(PARTS), default=list(PARTS))
    options = parser.parse_args()
    ours, theirs = read(options.rows, "ours"), read(options.rows, "c")
    for line in traces(ours):
        print(line)
    print("| " + " | ".join(HEAD) + " |\n| --- | ---: | ---: | ---: | --- | --- |")
    for part in options.only:
        for cells in PARTS[part](ours, theirs):
            print("| " + " | ".join(cells) + " |")
    wrong = sorted({row["bench"] for row in ours + theirs if row.get("validated") is False})
    for bench in wrong:
        print(f"python_compare.py: {bench} brought wrong data", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
