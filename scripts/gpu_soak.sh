#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Kernels of all PEs do everything at once, at random (tests/gpu/multi_gpu/soak_kernels.cu), on two nodes made of this host: half
# of the PEs reach each other directly, the others through the network. Every byte and count is checked. Then again with
# a PE that is killed at half time: every other one must end soon, with an error that names it.
#   scripts/gpu_soak.sh [seconds (default 300) [seconds of the one with a killed PE (default: as many)]]
# PES       how many, even             (default: the GPUs, at least 4; they share the GPUs by turns)
# PROVIDER  of libfabric               (default: tcp;ofi_rxm)
# SEED      of all that is random      (default: 1)
# BLOCKS THREADS OPS   of a kernel     (default: 12, 128, 100)
# FROM      as for gpu_check.sh
# PROGRAM LAUNCHER     instead of soak_kernels and oshrun of FROM
# Exit status: 1 when something was wrong, 77 without a GPU.
set -u
root=$(cd "$(dirname "$0")/.." && pwd)
seconds=${1:-300}
killed_seconds=${2:-$seconds}
from=${FROM:-$root/build/gpu-carry}
[ -d "$from" ] || from=$root/build/release
gpus=$(nvidia-smi -L 2>/dev/null | grep -c '^GPU')
if [ "$gpus" -eq 0 ] && [ -z "${PROGRAM:-}" ]; then
  echo "gpu_soak.sh: SKIPPED: nvidia-smi shows no GPU"
  exit 77
fi
pes=${PES:-$((gpus > 4 ? gpus / 2 * 2 : 4))}
provider=${PROVIDER:-tcp;ofi_rxm}
program=${PROGRAM:-}
launcher=${LAUNCHER:-}
for folder in bin tests/gpu/multi_gpu bootstrap/local; do
  [ -z "$program" ] && [ -x "$from/$folder/soak_kernels" ] && program=$from/$folder/soak_kernels
  [ -z "$launcher" ] && [ -x "$from/$folder/oshrun" ] && launcher=$from/$folder/oshrun
done
if [ -z "$program" ] || [ -z "$launcher" ]; then
  echo "gpu_soak.sh: no soak_kernels or no oshrun in $from; build them (scripts/build_gpu_carry.sh) or set FROM" >&2
  exit 2
fi
export LD_LIBRARY_PATH=$from/lib:$from${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
options=(--seed "${SEED:-1}" --blocks "${BLOCKS:-12}" --threads "${THREADS:-128}" --ops "${OPS:-100}")
settings=("SHMEM_NODE_SIZE=$((pes / 2))" "SHMEM_OFI_PROVIDER=$provider" SHMEM_WAIT_TIMEOUT=60)
status=0

echo "== gpu_soak.sh: $pes PEs on $gpus GPUs, two nodes of $((pes / 2)), $provider between them"
env "${settings[@]}" SHMEM_TIMEOUT=30 timeout -k 5 $((seconds + 120)) \
  "$launcher" -n "$pes" --timeout $((seconds + 110)) "$program" --seconds "$seconds" "${options[@]}" || status=1

# Without a launcher: only the library ends the PEs that are left.
victim=$((pes - 1))
deadline=$((killed_seconds / 2 + 60))
echo "== gpu_soak.sh: $pes PEs again, of which PE $victim is killed after $((killed_seconds / 2)) s; all others must have ended after $deadline s"
began=$SECONDS
hand_on=()
for setting in "${settings[@]}" SHMEM_TIMEOUT=10 ${RAILSHMEM_FAKE_GPUS:+RAILSHMEM_FAKE_GPUS=$RAILSHMEM_FAKE_GPUS} \
  SHMEM_SYMMETRIC_SIZE=64M; do
  hand_on+=(--env "$setting")
done
if python3 "$root/tests/fault/run_fault.py" --ranks "$pes" --victim "$victim" --within "$deadline" "${hand_on[@]}" \
  --expect "PE [0-9]+: error:.*PE $victim" -- "$program" --seconds "$killed_seconds" "${options[@]}" --kill "$victim"; then
  echo "gpu_soak.sh: all PEs but the killed one ended with an error that names it, after $((SECONDS - began)) s: passed"
else
  echo "gpu_soak.sh: the PEs did not end as they must when PE $victim is killed: FAILED"
  status=1
fi
exit $status
