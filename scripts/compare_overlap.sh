#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Overlapped products on this machine's GPUs: product alone, beside bare copies, our collective then product, ours, NCCL
# then product, and PyTorch's fused operators, in turns; prints a markdown table with goals.
#   scripts/compare_overlap.sh [BENCH...]     benches: ag_gemm gemm_rs (default: both)
# PES          PEs, one GPU each                              (default: 2)
# PIECES       of ours, in turn                               (default: auto,1,2,4)
# SHAPES       MxKxN,... instead of the usual ones of a bench; PyTorch's side takes them for all-gather and reduce-scatter
# ROUNDS       each side runs this often, one after the other (default: 2)
# REPETITIONS  turns of a run                                 (default: 9)
# BUDGET       seconds after which no run begins and a running one is ended   (default: 230)
# PYTHON       a Python with torch; without one its columns stay empty        (default: python3)
# OURS, LAUNCHER, ROWS: see compare_nccl.sh
# Exit status: 1 when a run of ours failed, 77 without enough GPUs.
set -u
root=$(cd "$(dirname "$0")/.." && pwd)
carry=$root/build/gpu-carry
pes=${PES:-2}
rounds=${ROUNDS:-2}
budget=${BUDGET:-230}
repetitions=${REPETITIONS:-9}
python=${PYTHON:-python3}
ours=${OURS:-$carry/bin/shmem_gpu_perf}
[ -x "$ours" ] || ours=$root/build/release/perftest/shmem_gpu_perf
# shellcheck source=scripts/gpu_compare_jobs.sh
. "$root/scripts/gpu_compare_jobs.sh"
[ $# -gt 0 ] || set -- ag_gemm gemm_rs
for bench; do
  case $bench in
    ag_gemm | gemm_rs) ;;
    *)
      sed -n '3,16p' "$0" >&2
      exit 2
      ;;
  esac
done
gpus=$(nvidia-smi -L 2>/dev/null | grep -c '^GPU')
[ "$gpus" -ge "$pes" ] || fail "SKIPPED: $gpus GPUs for $pes PEs" 77
[ -x "$ours" ] || fail "no $ours; build the target shmem_gpu_perf, or scripts/build_gpu_carry.sh"
# cuBLASLt: of a wheel, as PyTorch uses it, else of the toolkit.
cublas=$("$python" -c '
import glob, importlib.util, os
spec = importlib.util.find_spec("nvidia")
for place in spec.submodule_search_locations if spec else []:
    for found in glob.glob(os.path.join(place, "*", "lib", "libcublasLt.so.*")):
        print(os.path.dirname(found), end=":")' 2>/dev/null || true)/usr/local/cuda/lib64
# shellcheck disable=SC2034 # of gpu_compare_jobs.sh
libraries=$carry/lib:$root/build/release:$root/build/release/overlap:$cublas${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
prepare_jobs
has_torch=''
if "$python" -c 'import torch; assert torch.cuda.is_available()' 2>/dev/null; then has_torch=yes; else
  echo "compare_overlap.sh: PyTorch SKIPPED: $python has no torch that sees a GPU" >&2
fi

# time_left: sets limit; fails where too little is left for a run.
time_left() {
  limit=$((budget - SECONDS))
  [ "$limit" -le 100 ] || limit=100
  [ "$limit" -ge 10 ]
}
shapes=()
[ -z "${SHAPES:-}" ] || shapes=(--shapes "$SHAPES")
for ((round = 1; round <= rounds; ++round)); do
  for bench; do
    time_left || break 2
    run ours "$ours" "$rows/ours_${bench}_$round.json" "$bench" --pieces "${PIECES:-auto,1,2,4}" --repetitions "$repetitions" \
      ${shapes[@]+"${shapes[@]}"}
  done
  if [ -z "$has_torch" ] || ! time_left; then continue; fi
  echo "compare_overlap.sh: PyTorch" >&2
  timeout -k 5 "$limit" "$python" "$root/scripts/overlap_torch.py" --out "$rows/torch_$round.json" --pes "$pes" \
    --repetitions "$repetitions" ${SHAPES:+--ag "$SHAPES" --rs "$SHAPES"} >&2 ||
    echo "compare_overlap.sh: PyTorch's side ended with status $?" >&2
done

rows_of ours
ours_rows=("${found[@]}")
[ ${#ours_rows[@]} -gt 0 ] || fail "no run of ours gave a row"
rows_of torch
echo
nvidia-smi --query-gpu=name,driver_version,clocks.sm,power.draw --format=csv,noheader
python3 "$root/scripts/overlap_compare.py" "${ours_rows[@]}" ${found[@]+"${found[@]}"} || failures=$((failures + 1))
[ "$failures" -eq 0 ]
