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


sys.path.insert(0, scripts)
sys.dont_write_bytecode = True
import plot_perf  # noqa: E402  (from the folder that was given)


def check_what_is_drawn():
    """Words, colours and bars of a figure, without drawing it."""
    common = {"pes": 2, "unit": "GB/s", "version": "RailSHMEM 0.1.0", "host": "node17", "date": "2026-11-23T04:05:06Z"}
    drawn = [{"bench": bench, "transport": transport, "provider": provider, "bytes": nbytes, "metric": "bandwidth",
              "value": 10.0, "p50": 10.0, "p99": 7.5, **common}
             for bench in ("put_bw", "get_bw") for transport, provider in (("p2p", "auto"), ("ofi", "tcp;ofi_rxm"))
             for nbytes in (8, 4096)]
    lines = plot_perf.lines_of(drawn)["bandwidth"]
    expect(len(lines) == 4, lines)
    style = plot_perf.styles(lines, ["red", "green", "blue"])
    colours = {(line.transport, colour) for line, (colour, _) in style.items()}
    expect(len(colours) == 2, f"one colour a transport: {style}")
    expect(len({marker for _, marker in style.values()}) == 2, f"one marker a bench: {style}")
    labels = sorted(plot_perf.label_of(line, lines) for line in lines)
    expect(labels[0] == "get bandwidth (libfabric, tcp;ofi_rxm)", labels)
    expect(labels[3] == "put bandwidth (load and store within a node)", labels)
    expect(plot_perf.subtitle(lines, drawn) == "RailSHMEM 0.1.0 on node17, 2 PEs, 2026-11-23",
           plot_perf.subtitle(lines, drawn))
    points = next(iter(lines.values()))
    expect(plot_perf.bars(points) == [[2.5, 2.5], [0.0, 0.0]], plot_perf.bars(points))


check_what_is_drawn()
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
