# SPDX-License-Identifier: BSD-3-Clause
"""gpu_compare.py over rows made here: gpu_compare_test.py SCRIPTS."""
import json
import os
import subprocess
import sys
import tempfile

scripts = sys.argv[1]
folder_of_compare = os.path.join(scripts, "../perftest/compare")


def row(bench, value, nbytes=8, metric="latency", scope="thread", ctas=1, threads=1, **more):
    return {"bench": bench, "transport": "direct", "provider": "gpu", "pes": 2, "scope": scope, "ctas": ctas,
            "threads": threads, "bytes": nbytes, "metric": metric, "unit": "us", "value": value, "p50": value, "p99": value,
            "gpu": "GPU", "driver": "driver for CUDA 13.0", "version": "Library", **more}


def bandwidth(bench, value, ctas=32):
    return row(bench, value, nbytes=1 << 20, metric="bandwidth", scope="block", ctas=ctas, threads=1024)


def compare(folder, ours, theirs):
    """Each list is one file of rows."""
    command = [sys.executable, os.path.join(folder_of_compare, "gpu_compare.py")]
    for option, runs in (("--ours", ours), ("--theirs", theirs)):
        command.append(option)
        for number, rows in enumerate(runs):
            path = os.path.join(folder, f"{option}_{number}.json")
            with open(path, "w", encoding="utf-8") as file:
                file.writelines(json.dumps(r) + "\n" for r in rows)
            command.append(path)
    return subprocess.run(command, capture_output=True, text=True, check=False)


def expect(condition, what):
    if not condition:
        sys.exit(f"failed: {what}")


with tempfile.TemporaryDirectory() as folder:
    ours = [[row("p_lat", v), row("floor_store", 0.8), bandwidth("put_bw", 340), bandwidth("floor_copy_kernel", 350),
             bandwidth("floor_copy_kernel", 369, ctas=132), row("put_lat", 5, nbytes=32768)] for v in (1.0, 0.9, 4.0)]
    theirs = [[row("p_lat", 1.25), bandwidth("put_bw", 320), row("put_lat", 10, nbytes=32768)]]
    done = compare(folder, ours, theirs)
    expect(done.returncode == 0, done.stdout + done.stderr)
    for line in ("| p_lat | thread | 1 x 1 | 8 | us | 1 | 1.25 | 0.800 | 0.8 | 1.250 |",  # medians of three runs
                 "| put_bw | block | 32 x 1024 | 1048576 | GB/s | 340 | 320 | 1.062 | 350 | 0.971 |",  # floor of 32 blocks
                 "| put_lat | thread | 1 x 1 | 32768 | us | 5 | 10 | 0.500 |  |  |",  # no floor of this size
                 "| floor_copy_kernel | block | 132 x 1024 | 1048576 | GB/s |  |  |  | 369 |  |"):
        expect(line in done.stdout, f"no {line} among these:\n{done.stdout}")

    alone = compare(folder, ours, [[row("p_lat", 1.25)]])
    expect(alone.returncode == 1 and "put_bw: rows of ours without a partner" in alone.stderr, alone.stderr)
    expect("| put_bw | block | 32 x 1024 | 1048576 | GB/s | 340 |  |  | 350 | 0.971 |" in alone.stdout, alone.stdout)

    ring = compare(folder, [[row("ring_rtt", 3.0), row("floor_pinned", 2.5)]], [[]])
    expect(ring.returncode == 0 and "| 2.5 | 1.200 |" in ring.stdout, ring.stdout + ring.stderr)

    wrong = compare(folder, [[row("p_lat", 1, validated=False)]], [[row("p_lat", 1)]])
    expect(wrong.returncode == 1 and "ours: p_lat brought wrong data" in wrong.stderr, wrong.stderr)
