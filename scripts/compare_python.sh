#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Measures the Python package against C, C++ and NCCL, in turns in one go, and prints one table with goals.
#   scripts/compare_python.sh
# ONLY     parts: calls collectives triton fsdp ddp              (default: all)
# PES      PEs, one GPU each                                     (default: 2)
# ROUNDS   turns of ours and C or C++; the median counts         (default: 2). NCCL takes turns inside of a process
# FROM     folder with bin/, lib/ and python/ (scripts/build_gpu_carry.sh, scripts/build_python_carry.sh), or a build folder
#          whose package PYTHONPATH names                        (default: build/gpu-carry)
# PYTHON   a Python with torch, for that package                 (default: python3)
# DEVICE   cuda, or cpu: a try of the programs with small models, gloo for NCCL and no C    (default: cuda)
# BUDGET   seconds after which no run begins and a running one is ended    (default: 230)
# LIMIT    seconds after which one run is ended                            (default: 100)
# ROWS     folder that keeps rows, traces and outputs            (default: a new one in /tmp)
# FSDP_OPTIONS, DDP_OPTIONS   more options for python/bench/fsdp_step.py and ddp_step.py
# A run that fails is named below the table, with the end of its output; the other runs go on.
# Exit status: 1 when a run failed or data were wrong, 77 without a GPU for each PE. A goal that is missed does not count.
set -u
root=$(cd "$(dirname "$0")/.." && pwd)
case ${1:-} in ?*)
  sed -n '3,18p' "$0" >&2
  exit 2
  ;;
esac
from=${FROM:-$root/build/gpu-carry}
python=${PYTHON:-python3}
device=${DEVICE:-cuda}
pes=${PES:-2}
rounds=${ROUNDS:-2}
budget=${BUDGET:-230}
only=${ONLY:-calls collectives triton fsdp ddp}
for part in $only; do
  case $part in
    calls | collectives | triton | fsdp | ddp) ;;
    *)
      echo "compare_python.sh: ONLY names '$part'; there are calls, collectives, triton, fsdp and ddp" >&2
      exit 2
      ;;
  esac
done
case $device in
  cpu) ;;
  cuda)
    gpus=$(nvidia-smi -L 2>/dev/null | grep -c '^GPU')
    if [ "$gpus" -lt "$pes" ]; then
      echo "compare_python.sh: SKIPPED: nvidia-smi shows $gpus GPUs for $pes PEs; DEVICE=cpu tries the programs"
      exit 77
    fi
    ;;
  *)
    echo "compare_python.sh: DEVICE is '$device'; accepted: cuda, cpu" >&2
    exit 2
    ;;
esac
program() {
  local at
  for at in "$from/bin/$1" "$from/perftest/$1"; do
    [ -x "$at" ] && echo "$at" && return
  done
  echo "$from/bin/$1"
}
rows=${ROWS:-$(mktemp -d)}
mkdir -p "$rows"
rm -f "$rows"/*.json "$rows"/*.log "$rows"/failed
export LD_LIBRARY_PATH=$from/lib:$from${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}:/usr/local/cuda/lib64
export PYTHONPATH=$from/python:$from/python/with${PYTHONPATH:+:$PYTHONPATH}
export SHMEM_TIMEOUT=60 SHMEM_WAIT_TIMEOUT=60 IPATH_NO_BACKTRACE=1 HFI_NO_BACKTRACE=1 PYTHONDONTWRITEBYTECODE=1
export OMP_NUM_THREADS=4
bench=$root/python/bench

# job NAME NAME=VALUE... COMMAND...: all PEs; what it printed goes to NAME.log.
job() {
  local name=$1 status left=$((budget - SECONDS)) began=$SECONDS
  shift
  if [ "$left" -le 5 ]; then
    echo "$name: not begun: BUDGET of $budget s is spent" | tee -a "$rows/failed"
    return
  fi
  [ "$left" -le "${LIMIT:-100}" ] || left=${LIMIT:-100}
  timeout -k 5 "$left" "$(program oshrun)" -n "$pes" --timeout "$left" env "$@" >"$rows/$name.log" 2>&1 </dev/null
  status=$?
  echo "compare_python.sh: $name: status $status, $((SECONDS - began)) s" >&2
  [ "$status" -eq 0 ] || echo "$name: status $status" >>"$rows/failed"
}
# ours NAME PROGRAM OPTION...: one of python/bench.
ours() {
  local name=$1 file=$2
  shift 2
  job "$name" "$python" "$bench/$file" --out "$rows/$name.json" "$@"
}
# theirs NAME ARGUMENT...: shmem_gpu_perf.
theirs() {
  local name=$1
  shift
  [ "$device" = cpu ] || job "$name" "$(program shmem_gpu_perf)" "$@" --timeout 30 --format json --out "$rows/$name.json"
}
small=()
[ "$device" = cuda ] || small=(--device cpu --layers 2 --hidden 64 --heads 4 --vocab 100 --sequence 32)
on=(--device "$device")

turn() {
  local round=$1 part
  for part in $only; do
    case $part in
      calls)
        SHMEM_SYMMETRIC_SIZE=256M ours "ours_calls_$round" stream_calls.py "${on[@]}"
        SHMEM_SYMMETRIC_SIZE=256M theirs "c_calls_$round" put_on_cpu put_signal_on_cpu fcollect_on_cpu reduce_on_cpu \
          put_on_stream put_signal_on_stream fcollect_on_stream reduce_on_stream --sizes 8,8K
        ;;
      collectives)
        local sizes=()
        [ "$device" = cuda ] || sizes=(--sizes 65536 --calls 5)
        SHMEM_SYMMETRIC_SIZE=2G ours "ours_collectives_$round" stream_collectives.py "${on[@]}" ${sizes[@]+"${sizes[@]}"}
        for order in '' --graph; do
          # shellcheck disable=SC2086
          SHMEM_SYMMETRIC_SIZE=2G theirs "c_collectives${order#-}_$round" allgather reducescatter allreduce --dtype float \
            --memory heap --sizes 1M,16M,64M,256M --repetitions 11 $order
        done
        ;;
      triton)
        [ "$device" = cuda ] || continue
        SHMEM_HEAP_KIND=device SHMEM_SYMMETRIC_SIZE=256M ours "ours_triton_$round" triton_ping_pong.py
        for threads in 128 256; do
          SHMEM_SYMMETRIC_SIZE=256M theirs "c_pingpong_${threads}_$round" put_signal_pingpong --scope warp,block \
            --threads $threads --sizes 8,1K,16K --iters 2000 --repetitions 11 --validate
        done
        ;;
    esac
  done
}
for part in $only; do
  case $part in
    fsdp)
      # A fixed workspace: products give equal bits in every run.
      # shellcheck disable=SC2086
      CUBLAS_WORKSPACE_CONFIG=:4096:8 SHMEM_SYMMETRIC_SIZE=1G ours ours_fsdp fsdp_step.py "${on[@]}" ${small[@]+"${small[@]}"} \
        --trace "$rows" --rounds 3 --steps 6 --warmup 2 ${FSDP_OPTIONS:-}
      # Few wide layers: the GPU, and not the host, decides how long a step takes.
      mkdir -p "$rows/wide"
      # shellcheck disable=SC2086
      [ "$device" = cpu ] || SHMEM_SYMMETRIC_SIZE=1G ours ours_fsdp_wide fsdp_step.py "${on[@]}" --layers 4 --hidden 4096 --heads 32 \
        --losses 0 --trace "$rows/wide" --rounds 5 --steps 6 --warmup 2 ${FSDP_OPTIONS:-}
      ;;
    ddp)
      # shellcheck disable=SC2086
      SHMEM_SYMMETRIC_SIZE=1G ours ours_ddp ddp_step.py "${on[@]}" ${small[@]+"${small[@]}"} ${DDP_OPTIONS:-}
      ;;
  esac
done
for ((round = 1; round <= rounds; ++round)); do turn $round; done

if [ -s "$rows/failed" ]; then
  while IFS=: read -r name why; do
    echo "== $name:$why; the end of $rows/$name.log:"
    tail -n 25 "$rows/$name.log" 2>/dev/null
  done <"$rows/failed"
fi
echo
[ "$device" = cuda ] || echo "DEVICE=cpu: small models, and gloo for NCCL. This tries the programs; its results say nothing about the goals."
[ "$device" = cpu ] || nvidia-smi --query-gpu=name,driver_version --format=csv,noheader | sort | uniq -c
# shellcheck disable=SC2086
"$python" "$root/perftest/compare/python_compare.py" --rows "$rows" --only $only
status=$?
if [ -s "$rows/failed" ]; then
  echo
  sed 's/^/FAILED: /' "$rows/failed"
  exit 1
fi
exit $status
