# SPDX-License-Identifier: BSD-3-Clause
"""plot_perf.py and perf_table.py over kept rows: plot_test.py SCRIPTS ROWS. Status 77 = matplotlib is missing."""
import os
import subprocess
import sys
import tempfile

scripts, rows = sys.argv[1:3]


def run(*command):
    return subprocess.run([sys.executable, *command], capture_output=True, text=True, check=False)


def expect(condition, what):
    if not condition:
        sys.exit(f"failed: {what}")


table = run(os.path.join(scripts, "perf_table.py"), rows)
expect(table.returncode == 0, table.stderr)
expect("| p2p | auto | put_bw | 1048576 | bandwidth | 12.5 |" in table.stdout, table.stdout)
expect("floor_memcpy" not in table.stdout, "floors are columns, not rows")

with tempfile.TemporaryDirectory() as folder:
    bad = os.path.join(folder, "bad.json")
    with open(bad, "w", encoding="utf-8") as file:
        file.write('{"bench": "put_bw"}\n')
    refused = run(os.path.join(scripts, "plot_perf.py"), bad)
    expect(refused.returncode == 1 and "lacks transport" in refused.stderr, refused.stderr)

    plots = os.path.join(folder, "plots")
    done = run(os.path.join(scripts, "plot_perf.py"), rows, "--out", plots)
    if done.returncode == 77:
        print(done.stderr)
        sys.exit(77)
    expect(done.returncode == 0, done.stderr)
    expect(sorted(os.listdir(plots)) == ["bandwidth.png", "latency.png"], str(os.listdir(plots)))
    for name in os.listdir(plots):
        with open(os.path.join(plots, name), "rb") as file:
            expect(file.read(8) == b"\x89PNG\r\n\x1a\n", f"{name} is no PNG")
