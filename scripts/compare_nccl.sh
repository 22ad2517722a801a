#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs all-gather, reduce-scatter, all-reduce and all-to-all of RailSHMEM and of NCCL on this machine's GPUs, in turn, in
# one go, with floors; prints markdown tables with ratios and goals (issue 18).
#   scripts/compare_nccl.sh [GROUP...]      groups: graph stream memory gemm (default: all)
# graph: calls in replayed CUDA graphs. stream: call by call. memory: ours in heap, registered and unregistered memory.
# gemm: a product of matrices beside all-gathers (needs cuBLAS: the toolkit's or the wheel's).
# PES        PEs, one GPU each                            (default: 2). With fewer GPUs PEs share them: a check that ours
#            works, few sizes, no NCCL, which refuses two ranks on a GPU
# SIZES      totals                                       (default: 8 KiB to 1 GiB, doubling)
# DTYPE      type of an element                           (default: float)
# ROUNDS     every group is run this often; the median counts   (default: 3)
# BUDGET     seconds after which no run begins and a running one is ended   (default: 480)
# OURS       our shmem_gpu_perf       (default: that of build/gpu-carry, else of build/release)
# THEIRS     the one for NCCL         (default: that of build/gpu-carry; built there when it is missing)
# NCCL       folder of NCCL with lib/libnccl.so.2         (default: that of scripts/find_nccl.sh)
# LAUNCHER   with the option that takes the number of PEs last   (default: mpirun ... -n; without mpirun: oshrun -n)
# RUN_TIMEOUT  seconds after which one run is killed      (default: 100)
# HEAP       symmetric bytes of each PE                   (default: 6 GiB)
# ROWS       folder that keeps the JSON rows, which plot_perf.py draws   (default: a temporary one, removed)
# Exit status: 1 when a run failed or data were wrong, 77 without a GPU. A goal that is missed does not count.
set -u
root=$(cd "$(dirname "$0")/.." && pwd)
carry=$root/build/gpu-carry
pes=${PES:-2}
rounds=${ROUNDS:-3}
budget=${BUDGET:-480}
ours=${OURS:-$carry/bin/shmem_gpu_perf}
[ -x "$ours" ] || ours=$root/build/release/perftest/shmem_gpu_perf
theirs=${THEIRS:-$carry/bin/shmem_gpu_perf_nccl}
type=${DTYPE:-float}
# shellcheck source=perftest/compare/gpu_compare_jobs.sh
. "$root/perftest/compare/gpu_compare_jobs.sh"
case ${1:-} in -*)
  sed -n '3,24p' "$0" >&2
  exit 2
  ;;
esac
[ $# -gt 0 ] || set -- graph stream memory gemm
for group; do
  case $group in
    graph | stream | memory | gemm) ;;
    *) fail "no group '$group'; there are graph, stream, memory and gemm" 2 ;;
  esac
done
gpus=$(nvidia-smi -L 2>/dev/null | grep -c '^GPU')
[ "$gpus" -gt 0 ] || fail "SKIPPED: nvidia-smi shows no GPU" 77
[ -x "$ours" ] || fail "no $ours; build the target shmem_gpu_perf, or scripts/build_gpu_carry.sh"

nccl=''
if [ "$gpus" -lt "$pes" ]; then
  echo "compare_nccl.sh: NCCL SKIPPED: $gpus GPUs for $pes PEs, and NCCL refuses two ranks on one GPU" >&2
elif ! nccl=${NCCL:-$("$root/scripts/find_nccl.sh")}; then
  echo "compare_nccl.sh: NCCL SKIPPED: none was found" >&2
  nccl=''
elif [ ! -x "$theirs" ]; then
  "$root/perftest/compare/build_gpu_perf_with_nccl.sh" "$theirs" "$nccl" >&2 || fail "the build against NCCL failed"
fi
# cuBLAS: of a wheel, else of the toolkit.
cublas=$("${PYTHON:-python3}" -c '
import glob, importlib.util, os
spec = importlib.util.find_spec("nvidia")
for place in spec.submodule_search_locations if spec else []:
    for found in glob.glob(os.path.join(place, "*", "lib", "libcublas.so.*")):
        print(os.path.dirname(found), end=":")' 2>/dev/null || true)/usr/local/cuda/lib64
libraries=$carry/lib:${nccl:+$nccl/lib:}$cublas${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
prepare_jobs
export SHMEM_SYMMETRIC_SIZE=${HEAP:-6442450944}
# NVLS needs multicast objects, which this comparison does without; all ranks are on this machine.
export NCCL_NVLS_ENABLE=0 NCCL_IB_DISABLE=1 NCCL_SOCKET_IFNAME=${NCCL_SOCKET_IFNAME:-lo}

collectives=(allgather reducescatter allreduce alltoall --dtype "$type" --repetitions 11)
floors=(floor_exchange_engine floor_exchange_kernel floor_exchange_read --repetitions 5)
launches=(floor_launch floor_launch_in_graph --repetitions 11)
sizes=(--min-bytes 8K --max-bytes 1G)
floor_sizes=(--min-bytes 8K --max-bytes 2G) # an all-reduce stands beside twice its vector
memory_sizes=(--sizes '64K,1M,16M,64M,256M,1G')
if [ "$gpus" -lt "$pes" ]; then
  # Kernels of PEs that share a GPU take turns of milliseconds.
  sizes=(--sizes '8K,256K,4M' --iters 4 --repetitions 3)
  collectives=(allgather reducescatter allreduce alltoall --dtype "$type")
  floors=(floor_exchange_engine floor_exchange_kernel floor_exchange_read)
  launches=(floor_launch floor_launch_in_graph --iters 4 --repetitions 3)
  floor_sizes=("${sizes[@]}")
  memory_sizes=("${sizes[@]}")
  gemm_turns=1
fi
if [ -n "${SIZES:-}" ]; then
  sizes=(--sizes "$SIZES")
  floor_sizes=(--sizes "$SIZES")
fi

# bounded_run ...: run, unless the time is over.
bounded_run() {
  limit=$((budget - SECONDS))
  [ "$limit" -le "${RUN_TIMEOUT:-100}" ] || limit=${RUN_TIMEOUT:-100}
  if [ "$limit" -lt 5 ]; then
    echo "compare_nccl.sh: left out, over $budget s: $1 $group of round $round" >&2
    return
  fi
  run "$@"
}
number=0
# ours_and_nccl ARGUMENT...: one run of each; NCCL's in plain memory and in windows.
ours_and_nccl() {
  bounded_run ours "$ours" "$rows/ours_$number.json" "$@"
  [ -z "$nccl" ] ||
    SHMEM_PERF_RENDEZVOUS=$scratch/id_$number bounded_run NCCL "$theirs" "$rows/nccl_$number.json" "$@" \
      --memory unregistered,heap
}

for ((round = 1; round <= rounds; ++round)); do
  # Only the first round compares data.
  validate=()
  [ "$round" -gt 1 ] || validate=(--validate)
  for group; do
    number=$((number + 1))
    case $group in
      graph | stream)
        graph=()
        [ "$group" = stream ] || graph=(--graph)
        ours_and_nccl "${collectives[@]}" "${graph[@]}" "${sizes[@]}" "${validate[@]}"
        bounded_run floors "$ours" "$rows/ours_${number}_floors.json" "${floors[@]}" "${graph[@]}" "${floor_sizes[@]}"
        ;;
      memory)
        bounded_run ours "$ours" "$rows/ours_$number.json" "${collectives[@]}" --memory heap,registered,unregistered \
          "${memory_sizes[@]}" "${validate[@]}"
        bounded_run ours "$ours" "$rows/ours_${number}_graph.json" "${collectives[@]}" --graph \
          --memory heap,registered,unregistered "${memory_sizes[@]}" "${validate[@]}"
        ;;
      gemm)
        ours_and_nccl gemm_beside --dtype bfloat16 --repetitions "${gemm_turns:-7}"
        ;;
    esac
  done
  bounded_run floors "$ours" "$rows/ours_launch_$round.json" "${launches[@]}"
done

rows_of ours
ours_rows=("${found[@]}")
rows_of nccl
nccl_rows=("${found[@]}")
[ ${#ours_rows[@]} -gt 0 ] || fail "no run of ours gave a row"
python3 "$root/perftest/compare/nccl_compare.py" --ours "${ours_rows[@]}" --nccl "${nccl_rows[@]}" || failures=$((failures + 1))
[ "$failures" -eq 0 ]
