# SPDX-License-Identifier: BSD-3-Clause
"""overlap_compare.py over rows made here, and compare_overlap.sh over programs made here: overlap_compare_test.py SCRIPTS."""
import json
import os
import subprocess
import sys
import tempfile

scripts = os.path.abspath(sys.argv[1])
folder_of_compare = os.path.join(scripts, "../perftest/compare")


def expect(condition, what):
    if not condition:
        sys.exit(f"failed: {what}")


def row(bench, value, shape):
    return {"bench": bench, "transport": "direct", "provider": "gpu", "pes": 2, "bytes": 8, "metric": "latency", "unit": "us", "value": value,
            "p50": value, "p99": value, "shape": shape, "gpu": "GPU", "version": "1"}


def write(folder, name, rows):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(json.dumps(one) + "\n" for one in rows)
    return path


def cells_of(text):
    """{(shape, pieces): cells behind them}"""
    lines = [[cell.strip() for cell in line.strip("| ").split(" | ")] for line in text.splitlines() if line.startswith("| ")]
    return {(cells[0], cells[1]): cells[2:] for cells in lines if len(cells) > 2}


def compare(*arguments):
    return subprocess.run([sys.executable, os.path.join(folder_of_compare, "overlap_compare.py"), *arguments], capture_output=True, text=True, timeout=50)


def tables():
    with tempfile.TemporaryDirectory() as folder:
        known, small, layer = "8192x8192x8192", "small:16x8192x4096", "llama-70b.qkv:8192x8192x5120"
        inside = write(folder, "inside.json", [
            row("ag_gemm_alone", 95, known), row("ag_gemm_beside", 99, known), row("ag_gemm_sequential", 125, known), row("ag_gemm_collective", 25, known),
            row("ag_gemm_ours", 100, f"{known} auto=2"), row("ag_gemm_by_sequential", 0.8, f"{known} auto=2"),
            row("ag_gemm_ours", 104, f"{known} 4 put"), row("ag_gemm_by_sequential", 0.84, f"{known} 4 put"),
            row("ag_gemm_torch_alone", 90, known), row("ag_gemm_torch_fused", 100, known),
            row("ag_gemm_ours", 51, f"{small} auto=whole"), row("ag_gemm_by_sequential", 1.01, f"{small} auto=whole"),
            row("ag_gemm_ours", 70, f"{small} 2"), row("ag_gemm_by_sequential", 1.4, f"{small} 2"),
            row("ag_gemm_alone", 50, layer), row("ag_gemm_ours", 70, f"{layer} 2"), row("ag_gemm_by_sequential", 1.4, f"{layer} 2")])
        done = compare(inside)
        expect(done.returncode == 0, done.stderr)
        lines = cells_of(done.stdout)
        expect(lines[known, "auto=2"] == ["-", "95", "100", "0.960", "0.760", "-", "0.900", "**0.950** (>= 0.95)", "**1.010** (<= 1.03)", "0.800"],
               f"a known shape: {lines[known, 'auto=2']}")
        expect(lines[known, "4"][0] == "put" and lines[known, "4"][2] == "104" and lines[known, "4"][-1] == "0.840",
               f"a protocol that was named: {lines[known, '4']}")
        expect(lines[small, "auto=whole"][-1] == "**1.010** (<= 1.02)", f"a small shape: {lines[small, 'auto=whole']}")
        expect(lines[small, "2"][-1] == "1.400 (<= 1.02)", "a goal that is missed")
        expect(lines[layer, "2"][-1] == "1.400", "a layer of a model has no such goal")

        nodes = write(folder, "nodes.json", [
            row("gemm_rs_alone", 100, known), row("gemm_rs_collective", 400, known), row("gemm_rs_sequential", 520, known),
            row("gemm_rs_ours", 450, f"{known} 4"), row("gemm_rs_ours", 520, f"{known} auto=whole"), row("gemm_rs_by_sequential", 0.87, f"{known} 4")])
        done = compare(inside, "--nodes", nodes)
        expect(done.returncode == 0, done.stderr)
        lines = cells_of(done.stdout.partition("between nodes")[2])
        expect(lines[known, "4"] == ["100", "400", "520", "450", "412", "1.091", "0.870"], f"400 and an eighth of 100: {lines[known, '4']}")
        expect(lines[known, "auto=whole"][4] == "500", "without pieces one is behind the other")

        empty = write(folder, "empty.json", [row("ag_gemm_alone", 95, known)])
        expect(compare(empty).returncode == 1 and "no row of ours" in compare(empty).stderr, "rows of ours are missing")
        expect(compare().returncode == 1, "no files")


def runs():
    """compare_overlap.sh gives each group its shapes, and makes each PE of the group nodes a node."""
    with tempfile.TemporaryDirectory() as folder:
        seen = os.path.join(folder, "seen")
        programs = {
            "nvidia-smi": 'case "$1" in\n  -L) echo "GPU 0: a"; echo "GPU 1: b" ;;\nesac\n',
            "launch": 'shift\nexec "$@"\n',
            "perf": f'echo "${{SHMEM_NODE_SIZE:-}} ${{SHMEM_OFI_PROVIDER:-}} $*" >> {seen}\nbench=$1\nwhile [ "$1" != --out ]; do shift; done\n'
                    'echo \'{"bench": "\'"$bench"\'_ours", "transport": "direct", "provider": "gpu", "pes": 2, "bytes": 8, "metric": "latency", '
                    '"unit": "us", "value": 2, "p50": 2, "p99": 2, "shape": "8x8x8 1"}\' > "$2"\n'}
        for name, text in programs.items():
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write("#!/bin/sh\n" + text)
            os.chmod(os.path.join(folder, name), 0o755)
        environment = {**os.environ, "PATH": folder + os.pathsep + os.environ["PATH"], "OURS": os.path.join(folder, "perf"), "PYTHON": "/bin/false",
                       "LAUNCHER": os.path.join(folder, "launch"), "ROUNDS": "1"}
        for name in ("SHMEM_NODE_SIZE", "SHMEM_OFI_PROVIDER", "ROWS", "SHAPES", "PIECES", "TOKENS"):
            environment.pop(name, None)

        def run(*words):
            if os.path.exists(seen):
                os.unlink(seen)
            done = subprocess.run([os.path.join(scripts, "compare_overlap.sh"), *words], env=environment, capture_output=True, text=True, timeout=50)
            with open(seen, encoding="utf-8") as file:
                return done, file.read().splitlines()

        done, calls = run("nodes", "models", "ag_gemm")
        expect(done.returncode == 0, f"status {done.returncode}: {done.stdout}{done.stderr}")
        expect(len(calls) == 2, f"one run for each group: {calls}")
        expect(calls[0].startswith("1 shm ag_gemm ") and "--shapes 8192x8192x8192,4096x8192x4096 " in calls[0], f"nodes: {calls[0]}")
        expect(calls[1].startswith("  ag_gemm ") and "--shapes llama-7b,llama-70b,llama-405b " in calls[1] and "--tokens 8192" in calls[1],
               f"models: {calls[1]}")
        expect("between nodes, us" in done.stdout and "shares of the product alone" in done.stdout, f"both tables: {done.stdout}")
        done, calls = run()
        expect([call.split()[0] for call in calls] == ["ag_gemm", "gemm_rs"] * 2, f"both benches of the groups usual and small: {calls}")
        expect("--shapes" not in calls[0] and "--shapes small" in calls[2], f"usual shapes are the bench's own: {calls}")
        environment["PES"] = "8"
        done, calls = run("usual", "small")
        expect(done.returncode == 0 and "PyTorch SKIPPED: 2 GPUs for 8 PEs" in done.stderr, f"PEs share GPUs: {done.returncode} {done.stderr}")
        expect(len(calls) == 2 and all("--shapes 1024x1024x1024" in call for call in calls), f"one small shape: {calls}")
        del environment["PES"]
        done = subprocess.run([os.path.join(scripts, "compare_overlap.sh"), "node"], env=environment, capture_output=True, text=True, timeout=50)
        expect(done.returncode == 2 and "usual models small nodes" in done.stderr, f"an unknown group: {done.stderr}")


tables()
runs()
