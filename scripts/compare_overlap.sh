#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Overlapped products on this machine's GPUs: product alone, beside bare copies, our collective then product, ours, NCCL
# then product, and PyTorch's fused operators, in turns; prints markdown tables with goals.
#   scripts/compare_overlap.sh [BENCH|GROUP...]     benches: ag_gemm gemm_rs (default: both); groups: usual models small nodes
#                                                   (default: usual small)
# usual: the benches' own shapes. models: layers of Llama 7B, 70B and 405B, PES as tensor parallelism. small: 16 to 1024 rows,
# where ours may take 1.02 of the time of collective then product. nodes: two shapes, each PE a node, over libfabric's shm;
# beside the bound of a pipeline. NCCL and PyTorch are for the other groups.
# PES          PEs, one GPU each                              (default: 2). With fewer GPUs PEs share them: a check that ours
#              works, of one small shape, without PyTorch
# PIECES       of ours, in turn                               (default: auto,1,2,4; small: auto; nodes: auto,1,2,4,8)
# PROTOCOLS    of ours, all-gather inside a node, in turn     (default: usual: get,put; else auto)
# SHAPES       MxKxN or lists of shmem_gpu_perf,... instead of the usual ones of a bench
# TOKENS       rows of layers of models                       (default: 8192)
# ROUNDS       each side runs this often, one after the other (default: 2)
# REPETITIONS  turns of a run                                 (default: 9)
# BUDGET       seconds after which no run begins and a running one is ended   (default: 230)
# PYTHON       a Python with torch; without one its columns stay empty        (default: python3)
# OURS, LAUNCHER, ROWS: see compare_nccl.sh
# Exit status: 1 when a run of ours failed, 77 without a GPU.
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
# shellcheck source=perftest/compare/gpu_compare_jobs.sh
. "$root/perftest/compare/gpu_compare_jobs.sh"
benches=()
groups=()
for word; do
  case $word in
    ag_gemm | gemm_rs) benches+=("$word") ;;
    usual | models | small | nodes) groups+=("$word") ;;
    *)
      sed -n '3,21p' "$0" >&2
      exit 2
      ;;
  esac
done
[ ${#benches[@]} -gt 0 ] || benches=(ag_gemm gemm_rs)
[ ${#groups[@]} -gt 0 ] || groups=(usual small)
gpus=$(nvidia-smi -L 2>/dev/null | grep -c '^GPU')
[ "$gpus" -gt 0 ] || fail "SKIPPED: nvidia-smi shows no GPU" 77
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
few=()
if [ "$gpus" -lt "$pes" ]; then
  # Kernels of PEs that share a GPU take turns of milliseconds.
  echo "compare_overlap.sh: PyTorch SKIPPED: $gpus GPUs for $pes PEs" >&2
  groups=(usual) rounds=1 repetitions=1 PIECES=auto PROTOCOLS=auto SHAPES=${SHAPES:-1024x1024x1024}
  few=(--iters 2)
elif "$python" -c 'import torch; assert torch.cuda.is_available()' 2>/dev/null; then has_torch=yes; else
  echo "compare_overlap.sh: PyTorch SKIPPED: $python has no torch that sees a GPU" >&2
fi

# time_left: sets limit; fails where too little is left for a run.
time_left() {
  limit=$((budget - SECONDS))
  [ "$limit" -le 100 ] || limit=100
  [ "$limit" -ge 10 ]
}
# options_of GROUP: sets the array options.
options_of() {
  options=(--repetitions "$repetitions" --tokens "${TOKENS:-8192}" "${few[@]}")
  case $1 in
    usual)
      options+=(--pieces "${PIECES:-auto,1,2,4}" --protocol "${PROTOCOLS:-get,put}")
      [ -z "${SHAPES:-}" ] || options+=(--shapes "$SHAPES")
      ;;
    models) options+=(--pieces "${PIECES:-auto,1,2,4}" --shapes 'llama-7b,llama-70b,llama-405b') ;;
    small) options+=(--pieces "${PIECES:-auto}" --shapes small) ;;
    nodes) options+=(--pieces "${PIECES:-auto,1,2,4,8}" --shapes '8192x8192x8192,4096x8192x4096') ;;
  esac
}
for ((round = 1; round <= rounds; ++round)); do
  for group in "${groups[@]}"; do
    options_of "$group"
    measured=()
    for bench in "${benches[@]}"; do
      time_left || break 3
      if [ "$group" = nodes ]; then
        # Behind a gather that is under way cuBLASLt loads kernels; a scatter's sums want no time slices (docs/overlap.md).
        context=own
        [ "$bench" = ag_gemm ] || context=program
        SHMEM_GPU_CONTEXT=${SHMEM_GPU_CONTEXT:-$context} SHMEM_NODE_SIZE=1 SHMEM_OFI_PROVIDER=shm run nodes "$ours" "$rows/nodes_${bench}_$round.json" "$bench" "${options[@]}"
      else
        file=$rows/ours_${group}_${bench}_$round.json
        run ours "$ours" "$file" "$bench" "${options[@]}"
        [ ! -s "$file" ] || measured+=("$file")
      fi
    done
    if [ -z "$has_torch" ] || [ ${#measured[@]} -eq 0 ] || ! time_left; then continue; fi
    echo "compare_overlap.sh: PyTorch: $group" >&2
    timeout -k 5 "$limit" "$python" "$root/perftest/compare/overlap_torch.py" --out "$rows/torch_${group}_$round.json" --pes "$pes" \
      --repetitions "$repetitions" --like "${measured[@]}" >&2 ||
      echo "compare_overlap.sh: PyTorch's side ended with status $?" >&2
  done
done

rows_of nodes
between=("${found[@]}")
rows_of ours
inside=("${found[@]}")
[ $((${#inside[@]} + ${#between[@]})) -gt 0 ] || fail "no run of ours gave a row"
rows_of torch
inside+=("${found[@]}")
echo
nvidia-smi --query-gpu=name,driver_version,clocks.sm,power.draw --format=csv,noheader
python3 "$root/perftest/compare/overlap_compare.py" "${inside[@]}" --nodes "${between[@]}" || failures=$((failures + 1))
[ "$failures" -eq 0 ]
