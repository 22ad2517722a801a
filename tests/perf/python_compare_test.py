# SPDX-License-Identifier: BSD-3-Clause
"""python_compare.py over rows made here, and compare_python.sh over programs made here: python_compare_test.py SCRIPTS."""
import json
import os
import subprocess
import sys
import tempfile

scripts = os.path.abspath(sys.argv[1])
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(scripts, "../python/bench"))
import kernel_times  # noqa: E402

KI, MI = 1 << 10, 1 << 20


def expect(condition, what):
    if not condition:
        sys.exit(f"failed: {what}")


def write(folder, name, rows):
    with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)


def table(folder, *only):
    done = subprocess.run([sys.executable, os.path.join(scripts, "../perftest/compare/python_compare.py"), "--rows", folder, *(["--only", *only] if only else [])],
                          capture_output=True, text=True)
    lines = {}
    for line in done.stdout.splitlines():
        cells = [cell.strip() for cell in line.strip("| ").split(" | ")] if line.startswith("| ") else []
        if len(cells) == 6:
            lines[cells[0]] = cells
    return done, lines


def goals():
    with tempfile.TemporaryDirectory() as folder:
        def call(bench, value, nbytes, **more):
            return {"bench": bench, "bytes": nbytes, "metric": "latency", "value": value, "unit": "us", **more}

        write(folder, "ours_calls_1.json", [call("put_on_cpu", 3.0, 8), call("reduce_on_cpu", 9.0, 8)])
        write(folder, "ours_calls_2.json", [call("put_on_cpu", 5.0, 8), call("put_on_stream", 10.0, 8),
                                            {**call("put_on_stream", 0.002, 8), "metric": "bandwidth"}])
        write(folder, "c_calls_2.json", [call("put_on_stream", 7.0, 8), {**call("put_on_stream", 0.008, 8), "metric": "bandwidth"}])
        # Bandwidths stand beside latencies, and do not count.
        write(folder, "c_calls_1.json", [call("put_on_cpu", 2.5, 8), call("reduce_on_cpu", 4.0, 8),
                                         {**call("put_on_cpu", 99, 8), "metric": "bandwidth"}])
        heap = {"order": "stream", "memory": "heap"}
        write(folder, "ours_collectives_1.json", [call("allgather", 104.0, MI, **heap), call("allreduce", 106.0, MI, **heap)])
        write(folder, "c_collectives_1.json", [call("allgather", 100.0, MI, **heap), call("allreduce", 100.0, MI, **heap),
                                               call("allgather", 1.0, MI, order="graph", memory="heap")])
        write(folder, "ours_triton_1.json", [call("put_signal_pingpong", 6.0, 8, threads=128, validated=True)])
        write(folder, "c_pingpong_1.json", [call("put_signal_pingpong", 6.0, 8, threads=128, validated=True),
                                            call("put_signal_pingpong", 1.0, 8, threads=32, validated=True)])
        done, lines = table(folder)
        expect(done.returncode == 0, f"status {done.returncode}: {done.stderr}")
        expect(lines["put, 8 B, time of the CPU"][1:] == ["4 us", "2.5 us", "+1.50 us", "<= +2 us", "met"], f"put: {lines}")
        expect(lines["all_reduce, 8 B, time of the CPU"][5] == "**missed**", "an overhead of 5 us is missed")
        puts = lines["put, 8 B, one after the other on the stream"]
        expect(puts[1:] == ["4 us", "1 us", "+3.00 us", "<= +2 us", "**missed**"], f"8 bytes by GB/s: {puts}")
        pair = lines["put and quiet, 8 B, one after the other on the stream"]
        expect(pair[3:] == ["+3.00 us", "<= +4 us for 2 calls", "met"], f"two calls: {pair}")
        expect(lines["put_signal, 8 B, time of the CPU"][5] == "not measured", "what is not there is not measured")
        expect(lines["all_gather, 1 MiB, stream"][3:] == ["1.040", "<= 1.05", "met"], "all_gather")
        expect(lines["all_reduce, 1 MiB, stream"][5] == "**missed**", "all_reduce")
        expect(lines["all_gather, 1 MiB, graph"][5] == "not measured", "one side alone is not measured")
        expect(lines["Triton put_signal there and back, 8 B, 4 warps"][5] == "met", "Triton with equal warps")
        expect(lines["DDP step by cuda:railshmem"][5] == "not measured", "DDP")
        _, lines = table(folder, "ddp")
        expect("put, 8 B, time of the CPU" not in lines and "DDP step by cuda:railshmem" in lines, "--only")
        write(folder, "c_pingpong_2.json", [call("put_signal_pingpong", 6.0, 8, threads=128, validated=False)])
        done, _ = table(folder)
        expect(done.returncode == 1 and "put_signal_pingpong brought wrong data" in done.stderr, "wrong data")


def training():
    def step(value, kind, bench="fsdp_step", model="2 layers of 8"):
        return {"bench": bench, "value": value, "unit": "ms", "kind": kind, "model": model}

    def losses(kind, value):
        return {"bench": "fsdp_losses", "kind": kind, "value": value, "equal": value == 0, "first": 10.0, "last": 9.0}

    events = [{"cat": "kernel", "name": "nvjet_tst", "ts": 100.0, "dur": 50.0}, {"cat": "kernel", "name": "void cutlass::Kernel<x>(y)", "ts": 120, "dur": 60},
              {"cat": "kernel", "name": "railshmem_coll_meet(int)", "ts": 170.0, "dur": 20.0}, {"cat": "kernel", "name": "railshmem_coll_meet(int)", "ts": 500.0, "dur": 5},
              {"cat": "kernel", "name": "ncclDevKernel_AllGather_RING_LL(a)", "ts": 90, "dur": 20}, {"cat": "kernel", "name": "elementwise", "ts": 0, "dur": 9},
              {"cat": "gpu_memcpy", "name": "Memcpy PtoP", "ts": 100, "dur": 7}, {"ph": "M", "name": "process_name"}]
    seen = kernel_times.summary(events)
    expect(seen["products_us"] == 80.0, f"two products that overlap are one span: {seen}")
    expect(seen["ours"] == {"railshmem_coll_meet": [2, 25.0, 10.0]}, f"ours: {seen['ours']}")
    expect(seen["nccl"] == {"ncclDevKernel_AllGather_RING_LL": [1, 20.0, 10.0]}, f"NCCL's: {seen['nccl']}")
    expect(seen["copies"] == {"Memcpy PtoP": [1, 7.0]}, f"copies: {seen['copies']}")
    with tempfile.TemporaryDirectory() as folder:
        rows = [step(100, "reference"), step(98, "all-gather"), step(99, "both"), step(10, "railshmem", "ddp_step"), step(10, "reference", "ddp_step"),
                losses("reference", 0.0), losses("all-gather", 0.5), losses("both", 0.05), losses("reference again", 0.5),
                step(50, "reference", model="1 layers of 16"), step(48, "all-gather", model="1 layers of 16"),
                *({"bench": "fsdp_trace", "kind": kind, "model": "2 layers of 8", "value": 1, **seen} for kind in ("all-gather", "reference"))]
        write(folder, "ours_fsdp.json", rows)
        done, lines = table(folder, "fsdp", "ddp")
        expect(lines["FSDP2 step, 2 layers of 8, our all-gather"][3:] == ["0.980", "<= 0.97", "**missed**"], f"0.97: {lines}")
        expect(lines["FSDP2 step, 1 layers of 16, our all-gather"][3:] == ["0.960", "<= 0.97", "met"], f"each model by itself: {lines}")
        expect(lines["FSDP2 step, 1 layers of 16, our all-gather and reduce-scatter"][5] == "not measured", "a kind that is not there")
        expect(lines["FSDP2 step, 2 layers of 8, our all-gather and reduce-scatter"][5] == "met", "1.0")
        expect(lines["our kernels while products run, 2 layers of 8, our all-gather, one step"][1:] == ["10 us", "10 us", "", "none", "**missed**"], "kernels")
        expect(lines["losses with our all-gather, largest difference"][5] == "**missed**, and the reference differs from itself", "losses")
        expect(lines["losses with both of ours, largest difference"][5] == "met", "losses within tolerance")
        expect(lines["DDP step by cuda:railshmem"][5] == "met", "DDP")
        expect("railshmem_coll_meet: 2 times, 25.0 us, of them 10.0 us while a product ran" in done.stdout, "what ran is named")


def runs():
    """compare_python.sh goes on when a run fails, names it, and ends with status 1."""
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(os.path.join(folder, "bin"))
        oshrun = os.path.join(folder, "bin/oshrun")
        with open(oshrun, "w", encoding="utf-8") as file:
            file.write('#!/bin/sh\ncase "$*" in\n  *stream_calls.py*) echo so it broke; exit 3 ;;\nesac\n'
                       'while [ "$1" != --out ]; do shift; done\necho \'{"bench": "ddp_step", "value": 2, "kind": "railshmem"}\' > "$2"\n')
        os.chmod(oshrun, 0o755)
        environment = {**os.environ, "FROM": folder, "PYTHON": sys.executable, "DEVICE": "cpu", "ROUNDS": "1", "ROWS": os.path.join(folder, "rows"),
                       "ONLY": "calls ddp"}
        done = subprocess.run([os.path.join(scripts, "compare_python.sh")], env=environment, capture_output=True, text=True, timeout=50)
        expect(done.returncode == 1, f"status {done.returncode}: {done.stdout}{done.stderr}")
        expect("so it broke" in done.stdout and "FAILED: ours_calls_1: status 3" in done.stdout, f"what failed is named: {done.stdout}")
        expect("| DDP step by cuda:railshmem | 2 ms |" in done.stdout, f"the other run went on: {done.stdout}")
        for wrong, said in (({"ONLY": "cals"}, "ONLY names 'cals'"), ({"DEVICE": "tpu"}, "DEVICE is 'tpu'")):
            done = subprocess.run([os.path.join(scripts, "compare_python.sh")], env=environment | wrong, capture_output=True, text=True, timeout=50)
            expect(done.returncode == 2 and said in done.stderr, f"{wrong}: {done.stderr}")


goals()
training()
runs()
