# SPDX-License-Identifier: BSD-3-Clause
"""plot_perf.py and perf_table.py over kept rows: plot_test.py FOLDER ROWS. Status 77 = matplotlib is missing."""
import json
import os
import subprocess
import sys
import tempfile

compare, rows = sys.argv[1:3]


def run(*command):
    return subprocess.run([sys.executable, *command], capture_output=True, text=True, check=False)


def expect(condition, what):
    if not condition:
        sys.exit(f"failed: {what}")


sys.path.insert(0, compare)
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
    style = plot_perf.styles(lines, ["red", "green", "blue", "black"])
    of_one = {line.bench: colour for line, (colour, _, _) in style.items() if line.transport == "p2p"}
    expect(of_one["put_bw"] != of_one["get_bw"], f"put and get differ in colour: {style}")
    expect(len({(line.transport, kind) for line, (_, _, kind) in style.items()}) == 2, f"one kind of line a transport: {style}")
    expect(len({marker for _, marker, _ in style.values()}) == 2, f"one marker a bench: {style}")
    labels = sorted(plot_perf.label_of(line, lines) for line in lines)
    expect(labels[0] == "get bandwidth (libfabric, tcp;ofi_rxm)", labels)
    expect(labels[3] == "put bandwidth (load and store within a node)", labels)
    expect(plot_perf.subtitle(lines, drawn) == "RailSHMEM 0.1.0 on node17, 2 PEs, 2026-11-23",
           plot_perf.subtitle(lines, drawn))
    points = next(iter(lines.values()))
    expect(plot_perf.bars(points) == [[2.5, 2.5], [0.0, 0.0]], plot_perf.bars(points))


def check_collectives():
    """Two libraries' collectives: two colours, times and bus bandwidths, medians of runs."""
    def row(library, transport, value, nbytes, memory="heap"):
        return {"bench": "allgather", "transport": transport, "provider": "gpu", "pes": 2, "ctas": 0, "bytes": nbytes,
                "metric": "latency", "unit": "us", "value": value, "p50": value, "p99": 2 * value, "version": library, "host": "h",
                "order": "graph", "memory": memory, "dtype": "float", "in_place": False, "algbw": 2 * nbytes / value / 1000,
                "busbw": nbytes / value / 1000}

    drawn = [row("RailSHMEM 1", "direct", value, nbytes) for nbytes in (8192, 16384) for value in (3.0, 2.0, 9.0)]
    drawn += [row("NCCL 2.28.9", "nccl", 6.0, nbytes, memory) for nbytes in (8192, 16384) for memory in ("heap", "unregistered")]
    figures = plot_perf.lines_of(drawn)
    expect(sorted(figures) == ["bandwidth", "latency"], figures)
    for kind in figures:
        lines = figures[kind]
        expect(len(lines) == 3 and all(len(points) == 2 for points in lines.values()), lines)
        style = plot_perf.styles(lines, ["red", "green"])
        expect(len({(line.version, colour) for line, (colour, _, _) in style.items()}) == 2, f"one colour a library: {style}")
    ours = [points for line, points in figures["latency"].items() if line.transport == "direct"][0]
    expect([point.value for point in ours] == [3.0, 3.0], f"medians: {ours}")
    bus = [points for line, points in figures["bandwidth"].items() if line.transport == "direct"][0]
    expect(abs(bus[0].value - 8.192 / 3) < 1e-9 and abs(bus[0].p99 - 8.192 / 6) < 1e-9, f"bus bandwidth and its slow end: {bus}")
    labels = sorted(plot_perf.label_of(line, figures["bandwidth"]) for line in figures["bandwidth"])
    expect(labels[0] == "allgather, bus (NCCL, gpu), graph, heap, float, NCCL 2.28.9", labels)
    expect(labels[2] == "allgather, bus (load and store, gpu), graph, heap, float, RailSHMEM 1", labels)
    return drawn


check_what_is_drawn()
collectives = check_collectives()
table = run(os.path.join(compare, "perf_table.py"), rows)
expect(table.returncode == 0, table.stderr)
expect("| p2p | auto | put_bw | 1048576 | bandwidth | 12.5 |" in table.stdout, table.stdout)
expect("floor_memcpy" not in table.stdout, "floors are columns, not rows")

with tempfile.TemporaryDirectory() as folder:
    bad = os.path.join(folder, "bad.json")
    with open(bad, "w", encoding="utf-8") as file:
        file.write('{"bench": "put_bw"}\n')
    refused = run(os.path.join(compare, "plot_perf.py"), bad)
    expect(refused.returncode == 1 and "lacks transport" in refused.stderr, refused.stderr)

    plots = os.path.join(folder, "plots")
    done = run(os.path.join(compare, "plot_perf.py"), rows, "--out", plots)
    if done.returncode == 77:
        print(done.stderr)
        sys.exit(77)
    expect(done.returncode == 0, done.stderr)
    expect(sorted(os.listdir(plots)) == ["bandwidth.png", "bandwidth.svg", "latency.png", "latency.svg"], str(os.listdir(plots)))
    both = os.path.join(folder, "both.json")
    with open(both, "w", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in collectives)
    done = run(os.path.join(compare, "plot_perf.py"), both, "--out", plots + "/nccl")
    expect(done.returncode == 0 and len(os.listdir(plots + "/nccl")) == 4, done.stdout + done.stderr)
    for name in ("bandwidth.png", "latency.png", "nccl/bandwidth.png", "nccl/latency.png"):
        with open(os.path.join(plots, name), "rb") as file:
            expect(file.read(8) == b"\x89PNG\r\n\x1a\n", f"{name} is no PNG")
    with open(os.path.join(plots, "latency.svg"), encoding="utf-8") as file:
        expect("<svg" in file.read(), "latency.svg is no SVG")
