#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What is written for a machine with several GPUs, in one go, because such machines are had for a short time: the
# comparisons with NCCL, PyTorch, pplx-kernels and NVSHMEM, an FSDP2 step, all checks, and the soak.
#   scripts/gpu_all.sh [PART...]     default: all parts, in this order:
# nccl       compare_nccl.sh in graphs                      300 s
# nodes      collectives over tcp and shm, the PEs as two nodes, beside puts that move as many bytes    120 s
# overlap    compare_overlap.sh, ag_gemm and gemm_rs        180 s
# moe        dispatch and combine of few and of many tokens, 8 bits and bf16; compare_moe.sh where PPLX is set  120 s
# nvshmem    compare_nvshmem.sh collective                  100 s
# fsdp       compare_python.sh, FSDP2 with NCCL             150 s
# check      gpu_check.sh                                   400 s
# soak       gpu_soak.sh 300 10                             340 s
# PES        PEs (default: the GPUs). With fewer GPUs the PEs share them: that tries the programs, with few small sizes,
#            and tells nothing about speed. NCCL and NVSHMEM are left out then, and the FSDP2 step runs on CPUs
# OUT        folder for PART.txt, what a part printed, and PART/, its rows    (default: a new one in /tmp)
# LIMIT      seconds after which a part is ended, instead of those above
# FROM       as for gpu_check.sh
# PYTHON, NCCL, NVSHMEM, PPLX, AT_ONCE, ROUNDS and the rest: as the scripts of the parts take them
# Exit status: 1 when a part failed or was ended, 77 without a GPU. A goal that is missed does not count.
# shellcheck disable=SC2317 # parts are called by their names
set -u
root=$(cd "$(dirname "$0")/.." && pwd)
all_parts=(nccl nodes overlap moe nvshmem fsdp check soak)
parts=("$@")
[ ${#parts[@]} -gt 0 ] || parts=("${all_parts[@]}")
for part in "${parts[@]}"; do
  case " ${all_parts[*]} " in
    *" $part "*) ;;
    *)
      sed -n '3,20p' "$0" >&2
      exit 2
      ;;
  esac
done
gpus=$(nvidia-smi -L 2>/dev/null | grep -c '^GPU')
if [ "$gpus" -eq 0 ]; then
  echo "gpu_all.sh: SKIPPED: nvidia-smi shows no GPU"
  exit 77
fi
export PES=${PES:-$gpus} BUDGET
from=${FROM:-$root/build/gpu-carry}
[ -d "$from" ] || from=$root/build/release
export FROM=$from
out=${OUT:-$(mktemp -d)}
mkdir -p "$out"
shared='' # whether PEs share GPUs
[ "$gpus" -ge "$PES" ] || shared=yes

program() {
  local at
  for at in "$from/bin/$1" "$from/perftest/$1" "$from/bootstrap/local/$1"; do
    [ -x "$at" ] && echo "$at" && return
  done
  echo "gpu_all.sh: no $1 in $from; build it (scripts/build_gpu_carry.sh) or set FROM" >&2
  exit 2
}
oshrun=$(program oshrun) || exit 2
perf=$(program shmem_gpu_perf) || exit 2
export OURS=$perf
libraries=$from/lib:$from${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}

# ours TITLE ARGUMENT...: one run of shmem_gpu_perf by all PEs, under a title.
ours() {
  echo "== $1"
  shift
  env "LD_LIBRARY_PATH=$libraries" "$oshrun" -n "$PES" --timeout 100 "$perf" "$@" || failed_run=1
}

nccl() { ROWS=$out/nccl "$root/scripts/compare_nccl.sh" graph; }

nodes() {
  local provider sizes=64K,1M,16M,64M,256M turns=(--repetitions 5)
  [ -z "$shared" ] || sizes=64K,1M turns=(--iters 4 --repetitions 3)
  for provider in 'tcp;ofi_rxm' shm; do
    export SHMEM_NODE_SIZE=$(((PES + 1) / 2)) SHMEM_OFI_PROVIDER=$provider SHMEM_HEAP_KIND=device SHMEM_SYMMETRIC_SIZE=2G
    ours "$provider: two nodes, all-gather, reduce-scatter, all-reduce, all-to-all" allgather reducescatter allreduce alltoall \
      --dtype float --memory heap --sizes "$sizes" --validate "${turns[@]}"
    ours "$provider: two nodes, puts of an all-gather's bytes" floor_puts --sizes "$sizes" "${turns[@]}"
  done
}

overlap() {
  local shapes='' result=0
  # The shape that published figures of eight GPUs are of, with fewer rows, too.
  [ "$PES" -ne 8 ] || [ -n "$shared" ] || shapes=32768x16384x8192,16384x16384x8192,8192x16384x8192,4096x16384x8192
  BUDGET=$((BUDGET * 3 / 5))
  SHAPES=$shapes ROWS=$out/overlap/ag_gemm "$root/scripts/compare_overlap.sh" usual ag_gemm || result=1
  BUDGET=$((BUDGET * 2 / 3))
  ROWS=$out/overlap/gemm_rs "$root/scripts/compare_overlap.sh" usual gemm_rs || result=1
  return "$result"
}

moe() {
  local few=1x7168x256,4x7168x256,16x7168x256,64x7168x256,128x7168x256 many=4096x7168x256
  local turns=(--repetitions 3)
  [ -z "$shared" ] || few=4x7168x256 many=64x7168x256 turns=(--iters 4 --repetitions 1)
  export SHMEM_SYMMETRIC_SIZE=4G
  ours "few tokens, top 8 of 256, in graphs" moe_dispatch moe_combine --graph --validate --shapes "$few" "${turns[@]}"
  ours "many tokens, call by call" moe_dispatch moe_combine moe_bulk_dispatch moe_bulk_combine --validate --shapes "$many" "${turns[@]}"
  if [ -n "$shared" ] || [ -z "${PPLX:-}" ]; then
    echo "gpu_all.sh: pplx-kernels SKIPPED: they need a GPU for each PE, and PPLX to name their checkout"
  else
    ROWS=$out/moe "$root/scripts/compare_moe.sh"
  fi
}

nvshmem() { ROWS=$out/nvshmem "$root/scripts/compare_nvshmem.sh" collective; }
fsdp() {
  local device=cuda
  [ -z "$shared" ] || device=cpu
  DEVICE=$device ONLY=fsdp ROWS=$out/fsdp "$root/scripts/compare_python.sh"
}
check() { LOGS=$out/check "$root/scripts/gpu_check.sh"; }
soak() { PES=$((PES > 4 ? PES / 2 * 2 : 4)) "$root/scripts/gpu_soak.sh" 300 10; }

# seconds_of PART: what it may take.
seconds_of() { sed -n "s/^# $1  .*[^0-9]\([0-9]*\) s\$/\1/p" "$0"; }

# ended PART: runs it in a process group of its own, at most its seconds long; what it prints goes to its file and here.
ended() {
  local part=$1 limit watch status
  limit=${LIMIT:-$(seconds_of "$part")}
  BUDGET=$((limit - 15)) # the scripts of parts begin nothing after it, and print what they have
  failed_run=0
  set -m
  (
    "$part"
    exit $(($? | failed_run))
  ) >"$out/$part.txt" 2>&1 </dev/null &
  local job=$!
  (sleep "$limit" && kill -TERM -- "-$job") 2>/dev/null &
  watch=$!
  set +m
  wait "$job"
  status=$?
  for _ in {1..50}; do # scripts that were ended print what they have
    kill -0 -- "-$job" 2>/dev/null || break
    sleep 0.2
  done
  kill -- "-$watch" 2>/dev/null
  wait "$watch" 2>/dev/null
  return "$status"
}

nvidia-smi --query-gpu=name,driver_version --format=csv,noheader | sort | uniq -c
echo "$PES PEs${shared:+ that share $gpus GPUs: a try of the programs, whose times say nothing}; outputs in $out"
result=0
for part in "${parts[@]}"; do
  began=$SECONDS
  ended "$part"
  status=$?
  case $status in
    0) verdict=passed ;;
    77) verdict=SKIPPED ;;
    143) verdict="FAILED: not finished in ${LIMIT:-$(seconds_of "$part")} s" result=1 ;;
    *) verdict="FAILED: status $status" result=1 ;;
  esac
  echo
  echo "######## $part: $verdict, $((SECONDS - began)) s"
  cat "$out/$part.txt"
done
exit $result
