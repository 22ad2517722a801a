#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""gpu_all.sh over programs made here: gpu_all_test.py SCRIPTS."""
import os
import subprocess
import sys
import tempfile
import time

scripts = sys.argv[1]
PROGRAMS = {
    "nvidia-smi": 'case "$1" in\n  -L) [ -n "$GPUS" ] && seq -f "GPU %g: a" 0 $((GPUS - 1)) ;;\n  *) [ "$BREAKS" != rows ] || sleep 1; echo H200, 1 ;;\nesac\n',
    # oshrun -n PES --timeout SECONDS PROGRAM ARGUMENT...
    "oshrun": '[ "$BREAKS" != rows ] || sleep 60\npes=$2\nshift 4\nexec env SHARED_BY=$pes "$@"\n',
    "shmem_gpu_perf": 'case "$* $BREAKS" in\n  *moe_bulk_dispatch*hang) sleep 60 & sleep 60 ;;\n'
                      '  *moe_bulk_dispatch*break) echo it broke; exit 3 ;;\nesac\necho "$SHARED_BY PEs: $*"\n',
}


def expect(good, why):
    if not good:
        sys.exit(f"gpu_all_test.py: {why}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        programs = os.path.join(folder, "bin")
        os.mkdir(programs)
        for name, text in PROGRAMS.items():
            with open(os.path.join(programs, name), "w", encoding="utf-8") as file:
                file.write("#!/bin/sh\n" + text)
            os.chmod(os.path.join(programs, name), 0o755)
        out = os.path.join(folder, "out")
        environment = {**os.environ, "PATH": programs + os.pathsep + os.environ["PATH"], "FROM": folder, "OUT": out, "GPUS": "2", "BREAKS": ""}
        for name in ("PES", "PPLX", "LIMIT"):
            environment.pop(name, None)

        def run(*words, **changed):
            return subprocess.run([os.path.join(scripts, "gpu_all.sh"), *words], env=environment | changed, capture_output=True, text=True, timeout=50)

        done = run("moe")
        expect(done.returncode == 0 and "######## moe: passed" in done.stdout, f"{done.returncode} {done.stdout}{done.stderr}")
        expect("2 PEs: moe_dispatch moe_combine --graph" in done.stdout and "128x7168x256" in done.stdout, f"a PE for each GPU: {done.stdout}")
        expect("pplx-kernels SKIPPED" in done.stdout, f"what was left out is said: {done.stdout}")
        with open(os.path.join(out, "moe.txt"), encoding="utf-8") as file:
            expect("moe_bulk_dispatch" in file.read(), "what a part printed is kept")

        done = run("moe", PES="8")
        expect("8 PEs that share 2 GPUs" in done.stdout and "--iters 4" in done.stdout and "4096x" not in done.stdout, f"a try: {done.stdout}")

        done = run("moe", BREAKS="break")
        expect(done.returncode == 1 and "moe: FAILED: status 1" in done.stdout and "it broke" in done.stdout, f"a failure: {done.stdout}")
        done = run("soak", "moe")
        expect(done.returncode == 1 and "soak: FAILED: status 2" in done.stdout and "moe: passed" in done.stdout, f"others go on: {done.stdout}")

        began = time.monotonic()
        done = run("moe", BREAKS="hang", LIMIT="2")
        expect(done.returncode == 1 and "moe: FAILED: not finished in 2 s" in done.stdout, f"an end: {done.stdout}{done.stderr}")
        expect(time.monotonic() - began < 30, "what a part has started ends with it")

        done = run("check", BREAKS="rows", LIMIT="2", ROWS="kernels.direct.1", PYTHON="/bin/false")
        expect("check: FAILED: not finished in 2 s" in done.stdout and "| kernels.direct.1 | not finished" in done.stdout, f"a part's last words: {done.stdout}")

        done = run("mow")
        expect(done.returncode == 2 and "scripts/gpu_all.sh [PART...]" in done.stderr, f"an unknown part: {done.stderr}")
        done = run("moe", GPUS="")
        expect(done.returncode == 77 and "SKIPPED: nvidia-smi shows no GPU" in done.stdout, f"no GPU: {done.stdout}")


main()
