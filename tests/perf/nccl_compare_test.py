# SPDX-License-Identifier: BSD-3-Clause
"""nccl_compare.py over rows made here, and compare_nccl.sh over programs made here: nccl_compare_test.py SCRIPTS."""
import json
import os
import stat
import subprocess
import sys
import tempfile

scripts = sys.argv[1]
folder_of_compare = os.path.join(scripts, "../perftest/compare")
sys.path.insert(0, folder_of_compare)
sys.dont_write_bytecode = True
import nccl_goals  # noqa: E402  (from the folder that was given)

KI, MI, GI = 1 << 10, 1 << 20, 1 << 30


def expect(condition, what):
    if not condition:
        sys.exit(f"failed: {what}")


def row(bench, value, nbytes, order="graph", memory="heap", library="RailSHMEM 1", metric="latency", gpu="NVIDIA H200", **more):
    return {"bench": bench, "transport": "direct", "provider": "gpu", "pes": 2, "scope": "thread", "ctas": 0, "threads": 0,
            "bytes": nbytes, "metric": metric, "unit": "us", "value": value, "p50": value, "p99": value, "gpu": gpu,
            "driver": "driver for CUDA 13.0", "version": library, "order": order, "memory": memory, "dtype": "float", **more}


def nccl(bench, value, nbytes, memory="unregistered", **more):
    return row(bench, value, nbytes, memory=memory, library="NCCL 2.28.9", **more)


def launch(bench, value):
    plain = row(bench, value, 0)
    for key in ("order", "memory", "dtype"):
        del plain[key]
    return plain


def compare(folder, ours, theirs):
    """Each list is one file of rows."""
    command = [sys.executable, os.path.join(folder_of_compare, "nccl_compare.py")]
    for option, runs in (("--ours", ours), ("--nccl", theirs)):
        command.append(option)
        for number, rows in enumerate(runs):
            path = os.path.join(folder, f"{option}_{number}.json")
            with open(path, "w", encoding="utf-8") as file:
                file.writelines(json.dumps(r) + "\n" for r in rows)
            command.append(path)
    return subprocess.run(command, capture_output=True, text=True, check=False)


def expect_lines(done, *lines):
    for line in lines:
        expect(line in done.stdout, f"no {line} among these:\n{done.stdout}{done.stderr}")


def check_goals():
    def limits(bench, order, nbytes, pes=2, h200=True):
        return [goal.text() for goal in nccl_goals.goals_of(bench, order, nbytes, pes, h200)]

    expect(limits("allgather", "graph", 8 * KI) == ["<= 3 us"], limits("allgather", "graph", 8 * KI))
    expect(limits("allgather", "graph", 8 * KI, h200=False) == [], "limits in us are for H200s")
    expect(limits("allgather", "graph", 8 * KI, 4) == [], "limits in us are for two and for eight")
    expect(limits("allgather", "graph", MI, 8) == ["<= 0.6 of NCCL", "<= 8 us"], limits("allgather", "graph", MI, 8))
    expect(limits("allgather", "graph", MI, 8, False) == ["<= 0.6 of NCCL"], limits("allgather", "graph", MI, 8, False))
    expect(limits("allreduce", "graph", 64 * KI, 8) == ["<= 5.5 us", "<= 0.6 of NCCL"], limits("allreduce", "graph", 64 * KI, 8))
    expect(limits("allgather", "graph", 16 * MI) == [">= 0.8 of the copy engine"], limits("allgather", "graph", 16 * MI))
    expect(limits("allgather", "graph", GI) == [">= 0.93 of the copy engine", "<= 0.72 of NCCL"], limits("allgather", "graph", GI))
    expect(limits("reducescatter", "graph", 64 * MI) == [">= 0.93 of the copy kernel"], "reduce-scatter")
    expect(limits("allreduce", "graph", 4 * MI) == ["<= 19 us"], limits("allreduce", "graph", 4 * MI))
    expect(limits("allreduce", "stream", MI) == ["<= 0.75 of NCCL"], limits("allreduce", "stream", MI))
    expect(limits("allreduce", "stream", 2 * MI) == [], limits("allreduce", "stream", 2 * MI))
    expect(limits("alltoall", "stream", 2 * MI) == ["<= 0.8 of NCCL"], limits("alltoall", "stream", 2 * MI))


def check_lines(folder):
    """Medians of runs, the better of NCCL's two, floors of the bytes that are moved, and what became of the goals."""
    floors = [launch("floor_launch_in_graph", 0.7), row("floor_exchange_engine", 342, 256 * MI),
              row("floor_exchange_engine", 690, 512 * MI), row("floor_exchange_kernel", 400, 256 * MI, ctas=16),
              row("floor_exchange_kernel", 350, 256 * MI, ctas=132), row("floor_exchange_read", 360, 256 * MI, ctas=132)]
    ours = [[row("allgather", short, 8 * KI), row("allgather", 360, 256 * MI), row("reducescatter", 411, 256 * MI),
             row("allreduce", 780, 256 * MI), row("allgather", 6, MI, order="stream"), *floors] for short in (2.7, 2.6, 9.0)]
    theirs = [[nccl("allgather", 5.8, 8 * KI), nccl("allgather", 5.4, 8 * KI, "heap"), nccl("allgather", 546, 256 * MI),
               nccl("reducescatter", 560, 256 * MI), nccl("allreduce", 897, 256 * MI), nccl("allgather", 7.5, MI, order="stream")]]
    done = compare(folder, ours, theirs)
    expect(done.returncode == 0, done.stdout + done.stderr)
    expect_lines(
        done, "RailSHMEM 1 against NCCL 2.28.9", "## In graphs: allgather, us", "## From the stream, call by call: allgather, us",
        "| 8 KiB | 2.7 | 5.8 | 5.4 | 0.500 | 1.517 | 0.7585 |  |  | 0.7 | <= 3 us | met |",
        "| 256 MiB | 360 | 546 |  | 0.659 | 372.8 | 245.8 | 342 | 350 | 0.7 | >= 0.93 of the copy engine | met |",
        "| 256 MiB | 411 | 560 |  | 0.734 | 326.6 | 239.7 | 342 | 350 | 0.7 | >= 0.93 of the copy kernel | "
        "**missed** (>= 0.93 of the copy kernel: 0.852) |",
        # Both directions of an all-reduce: the floor of twice the vector, and twice the bus bandwidth.
        "| 256 MiB | 780 | 897 |  | 0.870 | 344.1 | 299.3 | 690 |  | 0.7 | <= 789 us; <= 0.9 of NCCL | met |",
        "| 1 MiB | 6 | 7.5 |  | 0.800 | 87.38 | 69.91 |  |  |  | <= 0.75 of NCCL | **missed** (<= 0.75 of NCCL: 0.8) |")
    expect("Kinds of our memory" not in done.stdout and "product" not in done.stdout, done.stdout)


def check_without_nccl(folder):
    done = compare(folder, [[row("allreduce", 9, 64 * MI, gpu="GPU"), row("alltoall", 9, MI, gpu="GPU")]], [])
    expect(done.returncode == 0, done.stderr)
    expect_lines(done, "NCCL was not run.", "| <= 0.9 of NCCL | not measured |", "| <= 0.8 of NCCL | not measured |")


def check_memories(folder):
    rows = [row("allgather", value, MI, memory=memory)
            for memory, value in (("heap", 10.0), ("registered", 10.2), ("unregistered", 20.0))]
    rows += [row("allreduce", value, MI, memory=memory) for memory, value in (("heap", 10.0), ("registered", 11.0))]
    done = compare(folder, [rows], [])
    expect_lines(done, "| allgather, graph, 1 MiB | 10 | 10.2 | 20 | 1.020 | 0.500 | **missed** (unregistered) |",
                 "| allreduce, graph, 1 MiB | 10 | 11 |  | 1.100 |  | **missed** (registered) |")


def check_product(folder):
    def race(make, memory, alone, gathers, copies):
        found = [make("gemm_alone", alone, 256 * MI, memory=memory, order="stream"),
                 make("gemm_beside_allgather", gathers, 256 * MI, memory=memory, order="stream"),
                 make("gemm_beside_allgather", gathers + 100, 256 * MI, memory=memory, order="stream", metric="span")]
        return found + ([make("gemm_beside_copies", copies, 256 * MI, memory=memory, order="stream")] if copies else [])

    ours = race(row, "heap", 17000, 17850, 17680)
    theirs = race(nccl, "unregistered", 17000, 20400, None) + race(nccl, "heap", 17000, 18700, None)
    done = compare(folder, [ours], [theirs])
    expect(done.returncode == 0, done.stderr)
    expect_lines(done, "| nothing | 1.7e+04 | 1 |", "| bare copies | 1.768e+04 | 1.04 |",
                 "| ours | 1.785e+04 | 1.05 | 1.01 | 1.795e+04 | met |", "| NCCL plain | 2.04e+04 | 1.2 | 1.154 |",
                 "| NCCL window | 1.87e+04 | 1.1 | 1.058 |")


def check_faults(folder):
    done = compare(folder, [[row("allgather", 3, 8 * KI, validated=False)]], [[nccl("allgather", 6, 16 * KI)]])
    expect(done.returncode == 1 and "allgather brought wrong data" in done.stderr, done.stderr)
    expect("allgather, graph: no row of NCCL for 8 KiB" in done.stderr, done.stderr)


STUB = """#!{python}
import json, os, sys
arguments = sys.argv[1:]
with open(os.environ["CALLS"], "a") as calls:
    calls.write(os.path.basename(sys.argv[0]) + " " + " ".join(arguments)
                + " nvls=" + os.environ["NCCL_NVLS_ENABLE"] + " id=" + os.environ.get("SHMEM_PERF_RENDEZVOUS", "") + "\\n")
ours = not sys.argv[0].endswith("nccl")
memories = arguments[arguments.index("--memory") + 1].split(",") if "--memory" in arguments else ["heap"]
order = "graph" if "--graph" in arguments else "stream"
rows = []
for bench in arguments:
    if bench.startswith("-"):
        break
    if bench == "gemm_beside":
        continue
    for memory in memories:
        rows.append(dict(bench=bench, transport="direct", provider="gpu", pes=2, scope="thread", ctas=0, threads=0, bytes=8192,
                         metric="latency", unit="us", value=3 if ours else 6, p50=3, p99=3, gpu="GPU", driver="d",
                         version="Ours" if ours else "NCCL", order=order, memory=memory, dtype="float"))
with open(arguments[arguments.index("--out") + 1], "w") as out:
    out.writelines(json.dumps(row) + "\\n" for row in rows)
"""


def program(folder, name, text):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(path, os.stat(path).st_mode | stat.S_IXUSR)
    return path


def run_script(folder, gpus, *groups, **more):
    """compare_nccl.sh, with programs that write rows instead of measuring. Its calls of them, one a line."""
    calls = os.path.join(folder, f"calls_{gpus}_{len(groups)}")
    program(folder, "nvidia-smi", "#!/bin/sh\n" + f'i=0; while [ $i -lt {gpus} ]; do echo "GPU $i"; i=$((i + 1)); done\n')
    launcher = program(folder, "launcher", '#!/bin/sh\nshift\nexec "$@"\n')
    environment = {**os.environ, "PATH": folder + ":" + os.environ["PATH"], "CALLS": calls, "LAUNCHER": launcher, "ROUNDS": "2",
                   "OURS": program(folder, "perf", STUB.format(python=sys.executable)),
                   "THEIRS": program(folder, "perf_nccl", STUB.format(python=sys.executable)), "NCCL": folder, **more}
    done = subprocess.run([os.path.join(scripts, "compare_nccl.sh"), *groups], env=environment, capture_output=True, text=True,
                          check=False)
    called = []
    if os.path.exists(calls):
        with open(calls, encoding="utf-8") as file:
            called = file.read().splitlines()
    return done, called


def check_script(folder):
    done, calls = run_script(folder, 2, "graph", "stream")
    expect(done.returncode == 0, done.stdout + done.stderr)
    expect_lines(done, "Ours against NCCL", "| 8 KiB | 3 | 6 | 6 | 0.500 |", "## From the stream, call by call: alltoall, us")
    turns = [line.split()[0] for line in calls if "allgather" in line]
    expect(turns == ["perf", "perf_nccl"] * 4, f"ours and NCCL's in turn, two groups in two rounds: {calls}")
    expect(sum("--validate" in line for line in calls) == 4, f"the first round compares data: {calls}")
    expect(all("nvls=0" in line for line in calls), calls)
    ids = [line.split("id=")[1] for line in calls if line.startswith("perf_nccl")]
    expect(len(set(ids)) == 4 and all(ids), f"a rendezvous of its own for each job of NCCL: {ids}")


def check_script_on_one_gpu(folder):
    done, calls = run_script(folder, 1, "graph", "memory", "gemm")
    expect(done.returncode == 0, done.stdout + done.stderr)
    expect("NCCL SKIPPED: 1 GPUs for 2 PEs" in done.stderr, done.stderr)
    expect(calls and not any(line.startswith("perf_nccl") for line in calls), calls)
    expect(any("--memory heap,registered,unregistered" in line for line in calls), calls)


def check_script_ends(folder):
    done, calls = run_script(folder, 2, "graph", "stream", "memory", BUDGET="0")
    expect(done.returncode == 1 and not calls and "left out, over 0 s" in done.stderr, done.stderr)
    done, calls = run_script(folder, 0, "graph")
    expect(done.returncode == 77 and "no GPU" in done.stderr, done.stderr)
    done, calls = run_script(folder, 2, "graphs")
    expect(done.returncode == 2 and "no group 'graphs'" in done.stderr, done.stderr)


check_goals()
with tempfile.TemporaryDirectory() as temporary:
    for check in (check_lines, check_without_nccl, check_memories, check_product, check_faults, check_script,
                  check_script_on_one_gpu, check_script_ends):
        check(temporary)
