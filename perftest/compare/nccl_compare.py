#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Prints collectives on a stream of RailSHMEM and NCCL side by side, with floors and goals, as a markdown page.

usage: nccl_compare.py --ours FILE... [--nccl FILE...]

FILEs hold JSON rows of shmem_gpu_perf and shmem_gpu_perf_nccl (--format json), one file a run; rows of several runs become
their median. Floors are taken from our files. Exit status 1 when a check of the data failed or NCCL's rows are
incomplete; a goal that is missed is told in the table and does not count.
"""
import argparse
import sys

import nccl_goals
import perf_rows
from gpu_compare import medians, number, ratio

COLLECTIVES = ["allgather", "reducescatter", "allreduce", "alltoall"]
ORDERS = {"graph": "In graphs", "stream": "From the stream, call by call"}
LAUNCH = {"graph": "floor_launch_in_graph", "stream": "floor_launch"}
PLAIN, WINDOW = ("unregistered", "registered"), ("heap",)  # kinds of NCCL's memory


def size_text(nbytes):
    """8 KiB, 1 GiB."""
    for shift, suffix in ((30, "GiB"), (20, "MiB"), (10, "KiB")):
        if nbytes >= 1 << shift and nbytes % (1 << shift) == 0:
            return f"{nbytes >> shift} {suffix}"
    return str(nbytes)


def key_of(row):
    """(bench, order, memory, bytes, metric, blocks); blocks tell floors apart that run with several numbers."""
    return (row["bench"], row.get("order", ""), row.get("memory", ""), row["bytes"], row["metric"], row.get("ctas", 0))


def best(values, bench, order, memories, nbytes, metric="latency"):
    """The least time of what fits; None without any."""
    fitting = [value for key, value in values.items()
               if key[0] == bench and key[1] == order and key[2] in memories and key[3] == nbytes and key[4] == metric]
    return min(fitting, default=None)


def by(value, other):
    """value / other, None where one is missing."""
    return value / other if value is not None and other else None


class Page:
    """Medians of both libraries, and the machine that they ran on."""

    def __init__(self, ours_rows, nccl_rows):
        self.rows = ours_rows + nccl_rows
        self.ours, self.nccl = medians(ours_rows, key_of), medians(nccl_rows, key_of)
        self.pes = max((row["pes"] for row in self.rows), default=0)
        self.versions = [sorted({row["version"] for row in rows})[0] for rows in (ours_rows, nccl_rows) if rows]
        self.machines = sorted({f"{row['gpu']}, {row['driver']}" for row in self.rows})
        self.types = sorted({row["dtype"] for row in self.rows if row.get("dtype")})
        self.h200 = all("H200" in machine for machine in self.machines)

    def bus(self, bench, nbytes, microseconds):
        """Bus bandwidth, GB/s, as nccl-tests define it."""
        if microseconds is None:
            return None
        factor = (2 if bench == "allreduce" else 1) * (self.pes - 1) / self.pes
        return nbytes / microseconds * 1e-3 * factor

    def floors(self, bench, order, nbytes):
        """Engine, kernel and launch: an all-reduce moves as many bytes as an all-gather of twice its vector."""
        moved = nbytes * (2 if bench == "allreduce" else 1)
        engine = best(self.ours, "floor_exchange_engine", order, ("heap",), moved)
        kernels = [best(self.ours, floor, order, ("heap",), moved) for floor in ("floor_exchange_kernel", "floor_exchange_read")]
        launch = best(self.ours, LAUNCH[order], "", ("",), 0)
        return engine, min((k for k in kernels if k is not None), default=None), launch

    def line(self, bench, order, nbytes):
        ours = best(self.ours, bench, order, ("heap",), nbytes)
        plain, window = (best(self.nccl, bench, order, kind, nbytes) for kind in (PLAIN, WINDOW))
        nccl = min((time for time in (plain, window) if time is not None), default=None)
        engine, kernel, launch = self.floors(bench, order, nbytes)
        values = {nccl_goals.US: ours, nccl_goals.NCCL: by(ours, nccl), nccl_goals.ENGINE: by(engine, ours),
                  nccl_goals.KERNEL: by(kernel, ours)}
        goals = nccl_goals.goals_of(bench, order, nbytes, self.pes, self.h200)
        return [size_text(nbytes), number(ours), number(plain), number(window), ratio(ours, nccl),
                number(self.bus(bench, nbytes, ours)), number(self.bus(bench, nbytes, nccl)),
                number(engine), number(kernel), number(launch), "; ".join(goal.text() for goal in goals),
                verdict(goals, values)]

    def sizes(self, bench, order):
        return sorted({key[3] for key in list(self.ours) + list(self.nccl) if key[0] == bench and key[1] == order})


def verdict(goals, values):
    """met, missed with the goals that are, not measured; empty without goals."""
    results = [(goal, goal.met(values)) for goal in goals]
    missed = [f"{goal.text()}: {values[goal.measure]:.3g}" for goal, met in results if met is False]
    if missed:
        return "**missed** (" + "; ".join(missed) + ")"
    if any(met is None for _, met in results):
        return "not measured"
    return "met" if results else ""


def table(head, lines):
    yield "| " + " | ".join(head) + " |"
    yield "| --- |" + " ---: |" * (len(head) - 1)
    for cells in lines:
        yield "| " + " | ".join(cells) + " |"
    yield ""


def collectives(page):
    head = ["total", "ours", "NCCL plain", "NCCL window", "ours / NCCL", "bus GB/s", "NCCL's", "copy engine", "copy kernel",
            "launch", "goal", "result"]
    for order, title in ORDERS.items():
        for bench in COLLECTIVES:
            sizes = page.sizes(bench, order)
            if sizes:
                yield f"## {title}: {bench}, us\n"
                yield from table(head, (page.line(bench, order, nbytes) for nbytes in sizes))


def memories(page):
    """Our kinds of memory against each other."""
    lines = []
    for order in ORDERS:
        for bench in COLLECTIVES:
            for nbytes in page.sizes(bench, order):
                heap, registered, unregistered = (best(page.ours, bench, order, (kind,), nbytes)
                                                  for kind in ("heap", "registered", "unregistered"))
                if heap is None or (registered is None and unregistered is None):
                    continue
                wrong = [] if registered is None or registered <= heap * (1 + nccl_goals.REGISTERED) else ["registered"]
                wrong += [] if unregistered is None or heap / unregistered >= nccl_goals.UNREGISTERED else ["unregistered"]
                lines.append([f"{bench}, {order}, {size_text(nbytes)}", number(heap), number(registered), number(unregistered),
                              ratio(registered, heap), ratio(heap, unregistered),
                              f"**missed** ({', '.join(wrong)})" if wrong else "met"])
    if lines:
        yield "## Kinds of our memory, us\n"
        yield (f"Goals: registered at most {1 + nccl_goals.REGISTERED:g} of the heap's time; unregistered at least "
               f"{nccl_goals.UNREGISTERED:g} of the heap's speed.\n")
        yield from table(["call", "heap", "registered", "unregistered", "registered / heap", "heap / unregistered", "result"], lines)


def beside(page):
    """A product of matrices with company."""
    def cells(name, values, bench, kinds, copies):
        times = {metric: [value for key, value in values.items()
                          if key[0] == bench and key[2] in kinds and key[4] == metric] for metric in ("latency", "span")}
        alone = [value for key, value in values.items() if key[0] == "gemm_alone" and key[2] in kinds and key[4] == "latency"]
        product, span = (min(times[metric], default=None) for metric in ("latency", "span"))
        relative = by(product, min(alone, default=None))
        against = by(relative, copies)
        result = "" if name != "ours" or against is None else "met" if against <= nccl_goals.BESIDE else "**missed**"
        return relative, [name, number(product), number(relative), number(against), number(span), result]

    if not any(key[0] == "gemm_alone" for key in page.ours):
        return
    copies, bare = cells("bare copies", page.ours, "gemm_beside_copies", ("heap",), None)
    lines = [cells("nothing", page.ours, "gemm_alone", ("heap",), None)[1], bare]
    for name, values, kinds in (("ours", page.ours, ("heap",)), ("NCCL plain", page.nccl, PLAIN), ("NCCL window", page.nccl, WINDOW)):
        lines.append(cells(name, values, "gemm_beside_allgather", kinds, copies)[1])
    yield "## A product of bf16 matrices beside 8 all-gathers of 256 MiB, us\n"
    yield f"Goal: ours at most {nccl_goals.BESIDE:g} of what bare copies leave. Each library's run has its own product alone.\n"
    yield from table(["beside", "product", "/ alone", "/ beside copies", "until both are done", "result"], lines)


def text(page):
    yield (f"{' against '.join(page.versions)}; {'; '.join(page.machines)}; {page.pes} PEs; {', '.join(page.types)}; medians, both "
           "run in turn. NVLS (multicast) is off.\n")
    yield ("Totals are the bytes of the full vector. NCCL counts with the better of plain and window memory. Floors move an "
           "all-gather's bytes without a library; an all-reduce stands beside twice as many.\n")
    if not page.nccl:
        yield "NCCL was not run.\n"
    yield from collectives(page)
    yield from memories(page)
    yield from beside(page)


def faults(page):
    for bench in sorted({row["bench"] for row in page.rows if row.get("validated") is False}):
        yield f"{bench} brought wrong data"
    if not page.nccl:
        return
    for order in ORDERS:
        for bench in COLLECTIVES:
            lacking = [size_text(nbytes) for nbytes in page.sizes(bench, order)
                       if best(page.ours, bench, order, ("heap",), nbytes) is not None
                       and best(page.nccl, bench, order, PLAIN + WINDOW, nbytes) is None]
            if lacking:
                yield f"{bench}, {order}: no row of NCCL for {', '.join(lacking)}; did that run end early?"


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--ours", nargs="+", required=True)
    parser.add_argument("--nccl", nargs="*", default=[])
    options = parser.parse_args()
    page = Page(perf_rows.read(options.ours), perf_rows.read(options.nccl))
    for line in text(page):
        print(line)
    found = list(faults(page))
    for fault in found:
        print(f"nccl_compare.py: {fault}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
