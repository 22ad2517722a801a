#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs a job under SHMEM_TRACE and SHMEM_STATS and compares what it says with what the program did.

check_observed.py OSHRUN PROGRAM NPES [early] [NAME=VALUE...]      "+" in a value stands for ";"
"""
import collections
import json
import os
import re
import subprocess
import sys
import tempfile

ROUNDS, WORDS = 50, 100
# kind -> name, calls, bytes of each call
EXPECTED = {
    "put": [("shmem_long_put", ROUNDS, 8 * WORDS), ("shmem_long_p", ROUNDS, 8)],
    "get": [("shmem_long_get", ROUNDS, 8 * WORDS)],
    "amo": [("shmem_long_atomic_inc", ROUNDS, 8)],
    "signal": [("shmem_signal_add", ROUNDS, 8)],
    "put_signal": [("shmem_putmem_signal", ROUNDS, 16)],
    "wait": [("shmem_signal_wait_until", ROUNDS, 8)],
    "quiet": [("shmem_quiet", ROUNDS, 0)],
    "fence": [("shmem_fence", ROUNDS, 0)],
    "barrier": [("shmem_sync_all", ROUNDS, 0), ("shmem_barrier_all", 1, 0)],
    "collective": [("shmem_long_sum_reduce", ROUNDS, 32)],
    "lock": [("shmem_set_lock", ROUNDS, 8), ("shmem_clear_lock", ROUNDS, 8)],
    "allocation": [("shmem_malloc", 1, 8 * WORDS), ("shmem_free", 1, 0)],
}
WITH_PE = ("put", "get", "amo", "signal", "put_signal")


def run(oshrun, program, npes, early, settings, trace):
    env = {k: v for k, v in os.environ.items() if not k.startswith(("SHMEM_", "SMA_", "RAILSHMEM_", "PMI"))}
    env.update(SHMEM_TRACE=trace, SHMEM_STATS="1", SHMEM_SYMMETRIC_SIZE="16M")
    env.update(s.replace("+", ";").split("=", 1) for s in settings)
    command = [oshrun, "-n", str(npes), "--timeout", "60", program] + (["early"] if early else [])
    done = subprocess.run(command, env=env, text=True, stderr=subprocess.PIPE, check=False)
    print(done.stderr)
    assert done.returncode == (5 if early else 0), f"status {done.returncode}"
    return done.stderr


def check_nesting(bars):
    """Bars of one thread lie inside each other or apart."""
    open_ends = []
    for began, ended, name in sorted(bars, key=lambda b: (b[0], -b[1])):
        while open_ends and open_ends[-1][0] <= began:
            open_ends.pop()
        assert not open_ends or ended <= open_ends[-1][0], f"{name} at {began} reaches out of {open_ends[-1][1]}"
        open_ends.append((ended, name))


def load(path):
    with open(path, encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    bars = [e for e in events if e["ph"] == "X"]
    threads = collections.defaultdict(list)
    for bar in bars:
        assert bar["dur"] >= 0 and bar["args"]["bytes"] >= 0, bar
        # whole nanoseconds: the sum of two rounded decimals would not be exact
        began = round(bar["ts"] * 1000)
        threads[bar["pid"], bar["tid"]].append((began, began + round(bar["dur"] * 1000), bar["name"]))
    for thread in threads.values():
        check_nesting(thread)
    summary = [e for e in events if e["name"] == "timeline"]
    assert len(summary) == 1 and summary[0]["args"]["events"] == len(bars) and summary[0]["args"]["dropped"] == 0, summary
    return events, bars


def check_timeline(path, npes, network):
    events, bars = load(path)
    assert {e["pid"] for e in events if e["name"] == "process_name"} == set(range(npes))
    for pe in range(npes):
        calls = collections.Counter((b["cat"], b["name"], b["args"]["bytes"]) for b in bars if b["pid"] == pe)
        for kind, rows in EXPECTED.items():
            for name, count, nbytes in rows:
                assert calls[kind, name, nbytes] == count, (pe, name, calls[kind, name, nbytes], count)
        targets = {b["args"].get("pe") for b in bars if b["pid"] == pe and b["cat"] in WITH_PE}
        assert targets == {(pe + 1) % npes}, targets
        names = {e["args"]["name"] for e in events if e["name"] == "thread_name" and e["pid"] == pe}
        assert "thread 0" in names, names
        served = collections.Counter(b["name"] for b in bars if b["pid"] == pe and b["cat"] == "proxy")
        if network:
            assert "proxy" in names, names
            assert served["serve signal"] == ROUNDS, (pe, served)
            sources = {b["args"]["pe"] for b in bars if b["pid"] == pe and b["name"] == "serve signal"}
            assert sources == {(pe - 1) % npes}, (pe, sources)
            # Locks are made of atomics, and collectives of puts with signal.
            assert served["serve amo"] >= ROUNDS and served["serve put_signal"] >= ROUNDS, (pe, served)
            assert served["progress"] > 0, served
        else:
            assert not served, served
    # One clock: a PE that leaves the first barrier has seen all others enter it.
    barriers = [b for b in bars if b["name"] == "shmem_barrier_all"]
    slack = 50  # us
    assert max(b["ts"] for b in barriers) <= min(b["ts"] + b["dur"] for b in barriers) + slack, barriers
    assert not [f for f in os.listdir(os.path.dirname(path)) if ".pe" in f], "parts are left"


def check_statistics(text, npes, network):
    rows = collections.defaultdict(int)
    order = []
    for line in text.splitlines():
        match = re.search(r"stats: +(\d+) (\w+) +(node|network|-) +(\d+) +(\d+) +(\d+) +([\d.]+) +(\d+) +([\d.]+)$", line)
        if not match:
            continue
        pe, kind, way, calls, nbytes = int(match[1]), match[2], match[3], int(match[4]), int(match[5])
        rows[pe, kind] += calls
        order.append(pe)
        wanted = sum(c for _, c, _ in EXPECTED[kind])
        assert calls == wanted, line
        assert nbytes == sum(c * n for _, c, n in EXPECTED[kind]), line
        assert way == (("network" if network else "node") if kind in WITH_PE else "-"), line
    assert len(rows) == npes * len(EXPECTED), sorted(rows)
    assert order == sorted(order), "PEs are out of order"
    engines = re.findall(r"stats: +\d+ network: (\d+) operations posted, \d+ again; (\d+) requests", text)
    assert len(engines) == (npes if network else 0), engines
    for posted, served in engines:
        assert int(posted) >= 6 * ROUNDS and int(served) >= 3 * ROUNDS, engines


def main():
    oshrun, program, npes = sys.argv[1], sys.argv[2], int(sys.argv[3])
    early = "early" in sys.argv[4:]
    settings = [s for s in sys.argv[4:] if "=" in s]
    network = any(s.startswith("SHMEM_TRANSPORT=ofi") for s in settings)
    with tempfile.TemporaryDirectory(prefix="railshmem_observe_") as folder:
        path = os.path.join(folder, "timeline.json")
        text = run(oshrun, program, npes, early, settings, path)
        if early:
            _, bars = load(path + ".pe0")
            assert sum(b["name"] == "shmem_long_put" for b in bars) == ROUNDS
            assert "the timeline of this PE alone is in" in text
        else:
            check_timeline(path, npes, network)
            check_statistics(text, npes, network)
    print("as expected")


if __name__ == "__main__":
    main()
