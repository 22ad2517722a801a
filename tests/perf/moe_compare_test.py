# SPDX-License-Identifier: BSD-3-Clause
"""compare_moe.sh with moe_compare.py over programs made here, which write times instead of measuring: moe_compare_test.py SCRIPTS."""
import os
import stat
import subprocess
import sys
import tempfile

scripts = sys.argv[1]

OURS = """#!{python}
import json, os, sys
arguments = sys.argv[1:]
assert "1x7168x8,4x7168x8" in arguments[arguments.index("--shapes") + 1], arguments
with open(os.environ["CALLS"], "a") as calls:
    calls.write("ours" + (" validates" if "--validate" in arguments else "") + "\\n")
rows = [dict(bench=bench, transport="direct", provider="gpu", pes=2, bytes=8, metric="latency", unit="us", value=value, p50=3, p99=3,
             gpu="GPU", driver="d", version="RailSHMEM 1", dtype=dtype, shape="128x7168x64", validated=os.environ["RIGHT"] == "1")
        for bench, dtype, value in (("moe_dispatch", "bfloat16", 20), ("moe_dispatch", "float8_e4m3", 15), ("moe_combine", "bfloat16", 30))]
with open(arguments[arguments.index("--out") + 1], "w") as out:
    out.writelines(json.dumps(row) + "\\n" for row in rows)
"""
THEIRS = """#!/bin/sh
echo {name} >>"$CALLS"
[ "{name}" != "$DIES" ] || exit 3
for section in 'Intra-Node FP8' 'Inter-Node FP8' 'Intra-Node BF16' 'Inter-Node BF16'; do
  echo "$section"
  echo '  1   8   4  128 |     9.00us ±  1.00us     1.00us ±  1.00us     1.00us ±  1.00us    9GB/s |     9.00us ±  1.00us     1.00us ±  1.00us     1.00us ±  1.00us    9GB/s'
  echo '128  64   8 7168 |    {dispatch}us ±  1.00us     1.00us ±  1.00us     1.00us ±  1.00us   99GB/s |    {combine}us ±  2.00us     1.00us ±  1.00us     1.00us ±  1.00us   88GB/s'
done
"""


def expect(condition, what):
    if not condition:
        sys.exit(f"failed: {what}")


def program(folder, name, text):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(path, os.stat(path).st_mode | stat.S_IXUSR)
    return path


def run(folder, gpus=2, dies="", right="1", **more):
    """Returns what the script did, and the calls of the programs in their order."""
    calls = os.path.join(folder, "calls")
    if os.path.exists(calls):
        os.remove(calls)
    program(folder, "nvidia-smi", "#!/bin/sh\n" + f'i=0; while [ $i -lt {gpus} ]; do echo "GPU $i"; i=$((i + 1)); done\n')
    program(folder, "pplx_nvshmem", THEIRS.format(name="nvshmem", dispatch="40.00", combine="50.00"))
    program(folder, "pplx_railshmem", THEIRS.format(name="railshmem", dispatch="25.00", combine="60.00"))
    os.makedirs(os.path.join(folder, "csrc", "all_to_all"), exist_ok=True)
    program(os.path.join(folder, "csrc", "all_to_all"), "bench_all_to_all.cpp", "")
    environment = {**os.environ, "PATH": folder + ":" + os.environ["PATH"], "CALLS": calls, "DIES": dies, "RIGHT": right, "ROUNDS": "2",
                   "LAUNCHER": program(folder, "launcher", '#!/bin/sh\nshift\nexec "$@"\n'), "BUILT": folder, "NVSHMEM": folder,
                   "MPI": folder, "OURS": program(folder, "perf", OURS.format(python=sys.executable)), "PPLX": folder, **more}
    done = subprocess.run([os.path.join(scripts, "compare_moe.sh")], env=environment, capture_output=True, text=True, check=False)
    called = []
    if os.path.exists(calls):
        with open(calls, encoding="utf-8") as file:
            called = file.read().splitlines()
    return done, called


with tempfile.TemporaryDirectory() as temporary:
    done, calls = run(temporary)
    expect(done.returncode == 0, done.stdout + done.stderr)
    expect(calls == ["ours validates", "nvshmem", "railshmem", "ours", "nvshmem", "railshmem"], f"all in turn: {calls}")
    for line in ("| dispatch | 128x7168x64 | BF16 | 20.0 | 40.0 | 40.0 | 25.0 | 25.0 | 0.80 |",
                 "| dispatch | 128x7168x64 | FP8 | 15.0 | 40.0 | 40.0 | 25.0 | 25.0 | 0.60 |",
                 "| combine | 128x7168x64 | BF16 | 30.0 | 50.0 | 50.0 | 60.0 | 60.0 | 0.60 |"):
        expect(line in done.stdout, f"no {line} in {done.stdout}")
    done, _ = run(temporary, dies="nvshmem")
    expect(done.returncode == 1 and "pplx-kernels on NVSHMEM ended with status 3" in done.stderr, done.stderr)
    expect("pplx-kernels intra-node on NVSHMEM: no times" in done.stderr, done.stderr)
    expect("| dispatch | 128x7168x64 | BF16 | 20.0 |  |  | 25.0 | 25.0 | 0.80 |" in done.stdout, done.stdout)
    done, _ = run(temporary, right="0")
    expect(done.returncode == 1 and "moe_dispatch brought wrong data" in done.stderr, done.stderr)
    done, calls = run(temporary, gpus=1)
    expect(done.returncode == 77 and not calls and "SKIPPED: 1 GPUs for 2 PEs" in done.stderr, done.stderr)
    done, calls = run(temporary, PPLX="/nowhere")
    expect(done.returncode == 2 and "PPLX names no checkout" in done.stderr, done.stderr)
