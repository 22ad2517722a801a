# SPDX-License-Identifier: BSD-3-Clause
"""Every bench ends, with every option of sizes, alone and with the others: every_bench_test.py OSHRUN SHMEM_PERF."""
import json
import os
import subprocess
import sys

oshrun, perf = sys.argv[1:3]
ENV = {k: v for k, v in os.environ.items() if not k.startswith(("SHMEM_", "RAILSHMEM_"))}
ENV.update(SHMEM_SYMMETRIC_SIZE="48M", SHMEM_TIMEOUT="30")
SHORT = ["--iters", "2", "--warmup", "0", "--repetitions", "1", "--seconds", "0.002", "--window", "2", "--threads", "2", "--format", "json"]
SIZES = [["--max-bytes", "16K"], ["--min-bytes", "32K", "--max-bytes", "64K"], ["--sizes", "8,104"]]
LIMIT_S = 60


def fail(what):
    sys.exit(f"failed: {what}")


def rows(benches, sizes):
    """The rows of one run, by bench."""
    command = [oshrun, "-n", "2", "--timeout", str(LIMIT_S), perf, *benches, *SHORT, *sizes]
    done = subprocess.run(command, env=ENV, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        fail(f"{' '.join(command)}: status {done.returncode}\n{done.stdout}{done.stderr}")
    found = {}
    for line in done.stdout.splitlines():
        row = json.loads(line)
        found.setdefault(row["bench"], []).append(row["bytes"])
    return found


listed = subprocess.run([perf, "--list"], env=ENV, capture_output=True, text=True, check=True).stdout
names = [line.split()[0] for line in listed.splitlines() if line.strip()]
if "put_bw" not in names or "barrier_lat" not in names:
    fail(f"--list names no benches:\n{listed}")

for name in names:
    for sizes in SIZES:
        if not rows([name], sizes):
            fail(f"{name} {sizes} printed no rows")
# An error that only PE 0 finds, while the others wait for it, ends the job.
command = [oshrun, "-n", "2", "--timeout", str(LIMIT_S), perf, "peers", "--provider", "shm"]
refused = subprocess.run(command, env={**ENV, "SHMEM_OFI_PROVIDER": "shm"}, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
if refused.returncode != 1 or "shmem_perf: PE 0: " not in refused.stderr:
    fail(f"{' '.join(command)}: status {refused.returncode}\n{refused.stderr}")

for sizes in SIZES:
    together = rows(names, sizes)
    if len(together.get("barrier_lat", [])) != 1:
        fail(f"barrier_lat has no messages, so it has one row, but with {sizes}: {together.get('barrier_lat')}")
print(f"{len(names)} benches, {len(SIZES)} choices of sizes")
