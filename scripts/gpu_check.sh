#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Everything that this machine's GPUs can test: the device API on one GPU, GPU memory between processes, kernels between
# PEs over NVLink, over the network (libfabric's shm and tcp between PEs of this host) and over both, host
# collectives and stream-ordered calls with graphs, torch tensors of Python, the examples, a short soak
# (scripts/gpu_soak.sh); prints a table.
# What needs two GPUs runs beside others of its kind where there are four or more: the times of such rows overlap. With
# AT_ONCE so many rows run at once on all GPUs.
#   scripts/gpu_check.sh [--sanitize]     --sanitize: also compute-sanitizer's memcheck, racecheck and synccheck over the device tests
# FROM     folder with bin/ and lib/ (scripts/build_gpu_carry.sh), or a build folder   (default: build/gpu-carry, else
#          build/release)
# CUDA_VISIBLE_DEVICES   only these
# PYTHON   a Python with torch, for the package in FROM    (default: python3)
# NCCL     folder with lib/libnccl.so.2, for the test of windows   (default: that of find_nccl.sh, else the loader's)
# AT_ONCE  rows at once, which share all GPUs: some three times as fast with 8, where there are CPUs enough; device.memory,
#          which asks how much memory is free, runs alone   (default: 1, or a row for each two GPUs). Not many on one GPU:
#          there the PEs of a row take turns already, and with 8 coll_ops was not done in time
# ROWS     a regular expression: only the rows whose names match, as '^python'
# LOGS     folder for the outputs    (default: a new one in /tmp)
# Exit status: 1 when a test failed, 77 without a GPU, 143 when a signal ended it, with the rows that were done.
set -u
root=$(cd "$(dirname "$0")/.." && pwd)
sanitize=''
case ${1:-} in
  '') ;;
  --sanitize) sanitize=yes ;;
  *)
    sed -n '3,20p' "$0" >&2
    exit 2
    ;;
esac
gpus=$(nvidia-smi -L 2>/dev/null | grep -c '^GPU')
if [ "$gpus" -eq 0 ]; then
  echo "gpu_check.sh: SKIPPED: nvidia-smi shows no GPU"
  exit 77
fi
if [ -n "${CUDA_VISIBLE_DEVICES:-}" ]; then
  IFS=, read -r -a visible <<<"$CUDA_VISIBLE_DEVICES"
  gpus=${#visible[@]}
else
  mapfile -t visible < <(seq 0 $((gpus - 1)))
fi
from=${FROM:-$root/build/gpu-carry}
[ -d "$from" ] || from=$root/build/release
logs=${LOGS:-$(mktemp -d)}
mkdir -p "$logs"
# cuBLASLt: of a wheel, as PyTorch uses it, else of the toolkit.
cublas=$("${PYTHON:-python3}" -c '
import glob, importlib.util, os
spec = importlib.util.find_spec("nvidia")
for place in spec.submodule_search_locations if spec else []:
    for found in glob.glob(os.path.join(place, "*", "lib", "libcublasLt.so.*")):
        print(os.path.dirname(found), end=":")' 2>/dev/null || true)
# The toolkit last: NVRTC.
export LD_LIBRARY_PATH=$from/lib:$from:$from/overlap:$from/moe${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}:$cublas/usr/local/cuda/lib64
export SHMEM_TIMEOUT=30 SHMEM_WAIT_TIMEOUT=30 IPATH_NO_BACKTRACE=1 HFI_NO_BACKTRACE=1

# program NAME: prints the path of a program, in either kind of folder.
program() {
  local at
  for at in "$from/bin/$1" "$from/tests/gpu/one_gpu/$1" "$from/tests/gpu/multi_gpu/$1" "$from/examples/$1" "$from/perftest/$1"; do
    [ -x "$at" ] && echo "$at" && return
  done
  echo "$from/bin/$1"
}

# has_nvrtc: loaded_kernels was built, and finds the compiler that it needs while it runs.
has_nvrtc() {
  local loaded
  loaded=$(program loaded_kernels)
  [ -x "$loaded" ] && ! ldd "$loaded" | grep -q 'libnvrtc.*not found'
}

names=()
measured=() # rows that print figures, which go below the table
# table: what ran so far.
table() {
  local name
  echo
  nvidia-smi --query-gpu=name,driver_version --format=csv,noheader | sort | uniq -c
  echo
  echo "| test | result | time |"
  echo "| --- | --- | --- |"
  for name in "${names[@]}"; do cat "$logs/$name.row" 2>/dev/null || echo "| $name | not finished | |"; done
  for name in "${measured[@]}"; do
    [ -e "$logs/$name.log" ] || continue
    echo
    echo "$name:"
    grep -E '^(device_ring|put_signal_pipeline|jacobi|expert_puts|moe_dispatch|stream_ordered|cuda_graph|data_parallel|tensor_parallel_mlp|soak_kernels|gpu_soak\.sh|registered_buffers|nccl_window): ' "$logs/$name.log"
  done
}
# Whoever ends this script before its time gets the table, too.
trap 'echo "gpu_check.sh: ended by a signal; rows below the last one had not begun"; table; exit 143' TERM

# row NAME SECONDS COMMAND...: runs it; the output goes to a log, and its end to the screen when it failed.
row() {
  local name=$1 limit=$2 began=$SECONDS status verdict
  shift 2
  # In the process group of this script, so that a signal to that group ends the row, too.
  timeout --foreground -k 5 "$limit" "$@" >"$logs/$name.log" 2>&1
  status=$?
  case $status in
    0) verdict=passed ;;
    77) verdict=SKIPPED ;;
    124 | 137) verdict="FAILED: not finished in $limit s" ;;
    *) verdict="FAILED: status $status" ;;
  esac
  echo "| $name | $verdict | $((SECONDS - began)) s |" >"$logs/$name.row"
  case $verdict in FAILED*)
    echo "== $name: $verdict; the end of $logs/$name.log:"
    tail -n 25 "$logs/$name.log"
    ;;
  esac
}

# Lane i has the visible GPUs 2i and 2i + 1, or with AT_ONCE all of them, these first.
at_once=${AT_ONCE:-0}
case $at_once in '' | *[!0-9]*)
  echo "gpu_check.sh: AT_ONCE is '$at_once', which is no number" >&2
  exit 2
  ;;
esac
lanes=$((at_once > 1 ? at_once : gpus > 3 ? gpus / 2 : 0))
on_lane=()
# lane: waits for a free lane and sets the variable lane.
lane() {
  while :; do
    for ((lane = 0; lane < lanes; ++lane)); do
      [ -n "${on_lane[lane]:-}" ] && kill -0 "${on_lane[lane]}" 2>/dev/null || return 0
    done
    wait -n
  done
}
# check NAME SECONDS GPUS COMMAND...: a row of the table. Two GPUs or less, or AT_ONCE: beside others; else alone.
check() {
  local name=$1 limit=$2 needed=$3 lane gpus_of_row
  shift 3
  [[ $name =~ ${ROWS:-.} ]] || return 0
  names+=("$name")
  if [ "$lanes" -gt 0 ] && [ "$name" != device.memory ] && { [ "$at_once" -gt 1 ] || [ "$needed" -le 2 ]; }; then
    lane
    # Lanes begin with different GPUs, so that rows of two PEs share all of them.
    local first=$((2 * lane % gpus))
    gpus_of_row="${visible[*]:first} ${visible[*]:0:first}"
    [ "$at_once" -gt 1 ] || gpus_of_row="${visible[2 * lane]} ${visible[2 * lane + 1]}"
    gpus_of_row=${gpus_of_row% }
    row "$name" "$limit" env "CUDA_VISIBLE_DEVICES=${gpus_of_row// /,}" "$@" &
    on_lane[lane]=$!
  else
    wait
    row "$name" "$limit" "$@" & # a signal does not interrupt what runs in the foreground
    wait
  fi
}

# kernels NAME PES NAME=VALUE...: the device API between PEs, device memory that programs allocated themselves, and host
# code on the heap of GPUs: collectives, and calls in the order of streams and graphs.
kernels() {
  local name=$1 pes=$2
  shift 2
  check "kernels.$name.$pes" 150 "$pes" env "$@" "$(program oshrun)" -n "$pes" --timeout 140 "$(program multi_kernels)"
  check "blocking_calls.$name.$pes" 150 "$pes" env SHMEM_GPU_CONTEXT=own "$@" "$(program oshrun)" -n "$pes" --timeout 140 "$(program multi_blocking_calls)"
  check "own_memory.$name.$pes" 150 "$pes" env "$@" "$(program oshrun)" -n "$pes" --timeout 140 "$(program multi_own_memory)"
  check "own_pe.$name.$pes" 150 "$pes" env "$@" "$(program oshrun)" -n "$pes" --timeout 140 "$(program multi_own_pe)"
  check "shapes.$name.$pes" 150 "$pes" env "$@" "$(program oshrun)" -n "$pes" --timeout 140 "$(program multi_shapes)"
  check "compat_names.$name.$pes" 150 "$pes" env "$@" "$(program oshrun)" -n "$pes" --timeout 140 "$(program multi_compat_names)"
  local program
  local context
  local queues  # of a context; as many streams as there are, less the library's, may wait at once
  for program in device_collectives many_teams pageable_copies stream_nodes stream_ops stream_own stream_parts stream_puts topology; do
    [ "$program" = pageable_copies ] && context=own || context=program
    [ "$program" = stream_puts ] && queues=32 || queues=8
    check "$program.$name.$pes" 150 "$pes" env SHMEM_HEAP_KIND=device SHMEM_COLLECTIVE_CHUNK=65536 SHMEM_GPU_CONTEXT=$context CUDA_DEVICE_MAX_CONNECTIONS=$queues "$@" "$(program oshrun)" -n "$pes" --timeout 140 \
      "$(program "$program")"
  done
  local loaded=(sh -c 'exit 77')
  ! has_nvrtc || loaded=("$(program oshrun)" -n "$pes" --timeout 140 "$(program loaded_kernels)" "$from/include"
    "$root/tests/gpu/multi_gpu/loaded_kernels.cu")
  check "loaded_kernels.$name.$pes" 150 "$pes" env SHMEM_HEAP_KIND=device "$@" "${loaded[@]}"
}

# coll_benches NAME PES NAME=VALUE...: the benches of collectives on a stream, whose results the GPU compares: call by call
# and in graphs, in all kinds of memory, of float and of 16-bit elements.
coll_benches() {
  local name=$1 pes=$2 order called
  shift 2
  for order in stream graph; do
    called=(--dtype float)
    [ $order = stream ] || called=(--dtype bfloat16 --graph)
    check "perf.coll.$order.$name.$pes" 150 "$pes" env SHMEM_SYMMETRIC_SIZE=256M "$@" "$(program oshrun)" -n "$pes" \
      --timeout 140 "$(program shmem_gpu_perf)" allgather reducescatter allreduce alltoall --validate "${called[@]}" \
      --memory heap,registered,unregistered --sizes 8K,256K,4M,32M --iters 4 --repetitions 3
  done
}

check device.one_gpu 300 1 "$(program ring_gpu_test)"
check device.memory 300 2 "$(program memory_gpu_test)"
counts=$(printf '%s\n' 1 2 "$gpus" | sort -nu)
for pes in $counts; do
  kernels direct "$pes"
  coll_benches direct "$pes"
done
# collectives NAME PES ALGORITHMS [LARGEST]: collectives on streams, every kind of buffer, each path at all sizes.
collectives() {
  check "coll_ops.$1.$2" 150 "$2" env SHMEM_HEAP_KIND=device "SHMEM_COLLECTIVES=$3" "$(program oshrun)" -n "$2" --timeout 140 \
    "$(program coll_ops)" "${4:-3000}"
}
for pes in $counts; do
  collectives by_size "$pes" ''
  check "coll_pieces.$pes" 150 "$pes" env SHMEM_HEAP_KIND=device "$(program oshrun)" -n "$pes" --timeout 140 "$(program coll_pieces)"
  check "registered_buffers.$pes" 150 "$pes" env SHMEM_HEAP_KIND=device "$(program oshrun)" -n "$pes" --timeout 140 \
    "$(program registered_buffers)"
  measured+=("registered_buffers.$pes")
done
for pes in $(printf '%s\n' 2 "$gpus" | awk '$1 > 1' | sort -nu); do
  check "registered_buffers.direct.$pes" 150 "$pes" env SHMEM_HEAP_KIND=device SHMEM_COLLECTIVES=fcollect=direct "$(program oshrun)" \
    -n "$pes" --timeout 140 "$(program registered_buffers)"
done
check registered_buffers.silent 150 2 env SHMEM_HEAP_KIND=device SHMEM_TIMEOUT=2 "$(program oshrun)" -n 2 --timeout 140 \
  "$(program registered_buffers)" silent
# NCCL's library: NCCL, or that of PyTorch's wheel.
nccl=${NCCL:-$("$root/scripts/find_nccl.sh" 2>/dev/null || true)}
check nccl_window 150 2 env SHMEM_HEAP_KIND=device "$(program oshrun)" -n 2 --timeout 140 "$(program nccl_window)" \
  "${nccl:+$nccl/lib/}libnccl.so.2"
measured+=(nccl_window)
for pes in $(printf '%s\n' 2 "$gpus" | awk '$1 > 1' | sort -nu); do
  collectives packets "$pes" fcollect=packets,alltoall=packets,reduce=packets,reducescatter=packets,broadcast=packets
  collectives parts "$pes" reduce=parts
  collectives direct "$pes" fcollect=direct,alltoall=direct,reduce=direct,reducescatter=direct
  collectives staged "$pes" fcollect=staged,alltoall=staged,reduce=staged,reducescatter=staged
  collectives engines "$pes" fcollect=engines,alltoall=engines,broadcast=engines
  # Long enough for direct and engines by the table, also behind a meeting that finds memory which peers do not reach.
  collectives by_size_long "$pes" '' 300000
  collectives packets_long "$pes" fcollect=packets,alltoall=packets,reduce=packets,reducescatter=packets,broadcast=packets 100000
  # 100000 elements: chunks of several turns in each block.
  collectives staged_long "$pes" fcollect=staged,alltoall=staged,reduce=staged,reducescatter=staged 100000
  collectives engines_long "$pes" fcollect=engines,alltoall=engines,broadcast=engines 100000
done
for pes in $(printf '%s\n' 2 "$gpus" | awk '$1 > 1' | sort -nu); do
  kernels shm "$pes" SHMEM_NODE_SIZE=1 SHMEM_OFI_PROVIDER=shm
  kernels tcp "$pes" SHMEM_NODE_SIZE=1 'SHMEM_OFI_PROVIDER=tcp;ofi_rxm'
  coll_benches tcp "$pes" SHMEM_NODE_SIZE=1 'SHMEM_OFI_PROVIDER=tcp;ofi_rxm'
done
# Puts and gets of streams by the host: beside a kernel that fills the GPU, all lengths, and when a PE dies.
for provider in shm 'tcp;ofi_rxm'; do
  far=(env SHMEM_HEAP_KIND=device SHMEM_NODE_SIZE=1 "SHMEM_OFI_PROVIDER=$provider")
  check "stream_full.${provider%%;*}.2" 150 2 "${far[@]}" "$(program oshrun)" -n 2 --timeout 140 "$(program multi_stream_full)"
  check "stream_puts.no_slots.${provider%%;*}.2" 150 2 "${far[@]}" SHMEM_DEVICE_PAYLOADS=0 CUDA_DEVICE_MAX_CONNECTIONS=32 "$(program oshrun)" \
    -n 2 --timeout 140 "$(program stream_puts)"
  check "stream_puts.killed.${provider%%;*}.2" 100 2 "${far[@]}" bash -c '"$@" 2>&1 | grep "PE 0: .*PE 1"' lost \
    "$(program oshrun)" -n 2 --timeout 90 "$(program stream_puts)" killed
done
# Products that hide collectives: bit for bit, and the bench on short shapes.
for pes in $counts; do
  check "overlap.direct.$pes" 150 "$pes" env SHMEM_HEAP_KIND=device "$(program oshrun)" -n "$pes" --timeout 140 "$(program overlap)"
done
# It waits in calls that block, while collectives between nodes are under way: in the library's own context (decision 0025).
check overlap.two_streams.2 150 2 env SHMEM_OVERLAP_STREAMS=2 SHMEM_HEAP_KIND=device "$(program oshrun)" -n 2 --timeout 140 "$(program overlap)"
check overlap.shm.2 150 2 env SHMEM_GPU_CONTEXT=own SHMEM_HEAP_KIND=device SHMEM_NODE_SIZE=1 SHMEM_OFI_PROVIDER=shm "$(program oshrun)" -n 2 --timeout 140 \
  "$(program overlap)" 100
check overlap_search.2 150 2 env SHMEM_HEAP_KIND=device XDG_CACHE_HOME="$(mktemp -d)/railshmem_search" "$(program oshrun)" -n 2 --timeout 140 \
  "$(program overlap_search)"
check perf.overlap.2 150 2 "$(program oshrun)" -n 2 --timeout 140 "$(program shmem_gpu_perf)" ag_gemm gemm_rs --shapes 4096x4096x4096 \
  --pieces auto,whole,1,4 --repetitions 3
# Mixture of experts: bit for bit, with routings that change from launch to launch of a graph, and the bench.
for pes in $counts; do
  check "moe.direct.$pes" 150 "$pes" env SHMEM_HEAP_KIND=device "$(program oshrun)" -n "$pes" --timeout 140 "$(program moe)" 200
  [ "$pes" -lt 2 ] || check "moe_masks.direct.$pes" 150 "$pes" env SHMEM_HEAP_KIND=device "$(program oshrun)" -n "$pes" --timeout 140 "$(program moe_masks)"
  check "moe_bulk.direct.$pes" 150 "$pes" env SHMEM_HEAP_KIND=device "$(program oshrun)" -n "$pes" --timeout 140 "$(program moe_bulk)" 200
  check "moe_bulk_layout.direct.$pes" 150 "$pes" env SHMEM_HEAP_KIND=device "$(program oshrun)" -n "$pes" --timeout 140 "$(program moe_bulk_layout)" 200
done
# The killed PE's signal is the job's status; the others fail with another one.
for where in before dispatch between combine busy late_dispatch late_between late_combine; do
  check "moe_masks.killed_$where" 100 3 env SHMEM_HEAP_KIND=device bash -c '"$@"; [ $? -eq 137 ]' survived "$(program oshrun)" -n 3 --survive \
    --timeout 90 "$(program moe_masks)" killed "$where"
done
# Between nodes of one GPU, and between a pair and one.
for where in before dispatch between combine busy stopped late_dispatch late_between late_combine; do
  check "moe_masks.killed_$where.tcp" 100 3 env SHMEM_GPU_CONTEXT=own SHMEM_HEAP_KIND=device SHMEM_NODE_SIZE=1 'SHMEM_OFI_PROVIDER=tcp;ofi_rxm' \
    bash -c '"$@"; [ $? -eq 137 ]' survived "$(program oshrun)" -n 3 --survive --timeout 90 "$(program moe_masks)" killed "$where"
done
for where in before combine late_dispatch; do
  check "moe_masks.killed_$where.shm" 100 3 env SHMEM_GPU_CONTEXT=own SHMEM_HEAP_KIND=device SHMEM_NODE_SIZE=2 SHMEM_OFI_PROVIDER=shm \
    bash -c '"$@"; [ $? -eq 137 ]' survived "$(program oshrun)" -n 3 --survive --timeout 90 "$(program moe_masks)" killed "$where"
done
for provider in shm 'tcp;ofi_rxm'; do
  check "moe_masks.${provider%%;*}.2" 150 2 env SHMEM_GPU_CONTEXT=own SHMEM_HEAP_KIND=device SHMEM_NODE_SIZE=1 "SHMEM_OFI_PROVIDER=$provider" \
    "$(program oshrun)" -n 2 --timeout 140 "$(program moe_masks)"
  check "moe.${provider%%;*}.2" 150 2 env SHMEM_HEAP_KIND=device SHMEM_NODE_SIZE=1 "SHMEM_OFI_PROVIDER=$provider" "$(program oshrun)" -n 2 \
    --timeout 140 "$(program moe)" 50
  check "perf.moe.${provider%%;*}.2" 150 2 env SHMEM_SYMMETRIC_SIZE=1G SHMEM_NODE_SIZE=1 "SHMEM_OFI_PROVIDER=$provider" "$(program oshrun)" -n 2 \
    --timeout 140 "$(program shmem_gpu_perf)" moe_dispatch moe_combine moe_combine_late --validate --repetitions 3 --iters 10 \
    --shapes 1x7168x64,16x7168x64,128x7168x64
  measured+=("perf.moe.${provider%%;*}.2")
  check "moe_bulk.${provider%%;*}.2" 150 2 env SHMEM_HEAP_KIND=device SHMEM_NODE_SIZE=1 "SHMEM_OFI_PROVIDER=$provider" "$(program oshrun)" -n 2 \
    --timeout 140 "$(program moe_bulk)" 50
  check "moe_bulk_layout.${provider%%;*}.2" 150 2 env SHMEM_HEAP_KIND=device SHMEM_NODE_SIZE=1 "SHMEM_OFI_PROVIDER=$provider" "$(program oshrun)" -n 2 \
    --timeout 140 "$(program moe_bulk_layout)" 50
  check "perf.moe_bulk.${provider%%;*}.2" 150 2 env SHMEM_SYMMETRIC_SIZE=1G SHMEM_NODE_SIZE=1 "SHMEM_OFI_PROVIDER=$provider" "$(program oshrun)" -n 2 \
    --timeout 140 "$(program shmem_gpu_perf)" moe_bulk_dispatch moe_bulk_combine --validate --repetitions 3 --iters 10
  measured+=("perf.moe_bulk.${provider%%;*}.2")
done
check perf.moe.2 150 2 "$(program oshrun)" -n 2 --timeout 140 "$(program shmem_gpu_perf)" moe_dispatch moe_combine moe_combine_late --validate --repetitions 3
measured+=(perf.moe.2)
# Of one token of each of four PEs: other tokens cross from each, and all must make as many calls.
check perf.moe.few.4 150 4 "$(program oshrun)" -n 4 --timeout 140 "$(program shmem_gpu_perf)" moe_dispatch moe_bulk_dispatch --validate --repetitions 1 --shapes 1x7168x256
check perf.moe_bulk.2 150 2 env SHMEM_SYMMETRIC_SIZE=1G "$(program oshrun)" -n 2 --timeout 140 "$(program shmem_gpu_perf)" moe_bulk_layout moe_bulk_dispatch moe_bulk_combine --validate --repetitions 3
measured+=(perf.moe_bulk.2)
# Two nodes on this host: NVLink within, the network between.
half=$((gpus > 3 ? gpus / 2 : 2))
check coll_ops.two_nodes 150 $((2 * half)) env SHMEM_HEAP_KIND=device SHMEM_NODE_SIZE=$half 'SHMEM_OFI_PROVIDER=tcp;ofi_rxm' \
  "$(program oshrun)" -n $((2 * half)) --timeout 140 "$(program coll_ops)" 3000
check moe.two_nodes 150 $((2 * half)) env SHMEM_HEAP_KIND=device SHMEM_NODE_SIZE=$half 'SHMEM_OFI_PROVIDER=tcp;ofi_rxm' \
  "$(program oshrun)" -n $((2 * half)) --timeout 140 "$(program moe)" 20
check moe_masks.two_nodes 150 $((2 * half)) env SHMEM_GPU_CONTEXT=own SHMEM_HEAP_KIND=device SHMEM_NODE_SIZE=$half 'SHMEM_OFI_PROVIDER=tcp;ofi_rxm' \
  "$(program oshrun)" -n $((2 * half)) --timeout 140 "$(program moe_masks)"
check moe_bulk.two_nodes 150 $((2 * half)) env SHMEM_HEAP_KIND=device SHMEM_NODE_SIZE=$half 'SHMEM_OFI_PROVIDER=tcp;ofi_rxm' \
  "$(program oshrun)" -n $((2 * half)) --timeout 140 "$(program moe_bulk)" 20
# Short all-to-alls one message for each pair of nodes, and one for each pair of members.
for algorithm in gather direct; do
  check "coll_ops.alltoall_$algorithm" 150 $((2 * half)) env SHMEM_HEAP_KIND=device SHMEM_NODE_SIZE=$half \
    'SHMEM_OFI_PROVIDER=tcp;ofi_rxm' "SHMEM_COLLECTIVES=alltoall=$algorithm" "$(program oshrun)" -n $((2 * half)) --timeout 140 \
    "$(program coll_ops)" 3000
done
check coll_ops.long 150 2 env SHMEM_HEAP_KIND=device "$(program oshrun)" -n 2 --timeout 140 "$(program coll_ops)" 300000
check coll_ops.shm 150 2 env SHMEM_HEAP_KIND=device SHMEM_NODE_SIZE=1 SHMEM_OFI_PROVIDER=shm \
  "$(program oshrun)" -n 2 --timeout 140 "$(program coll_ops)" 30000
kernels two_nodes $((2 * half)) SHMEM_NODE_SIZE=$half 'SHMEM_OFI_PROVIDER=tcp;ofi_rxm'
coll_benches two_nodes $((2 * half)) SHMEM_NODE_SIZE=$half 'SHMEM_OFI_PROVIDER=tcp;ofi_rxm'

python=${PYTHON:-python3}
package=$from/python:$from/python/with${PYTHONPATH:+:$PYTHONPATH}
declare -A imported  # by module: can it be imported? torch takes seconds, so each is asked for once
# has_package ROW MODULE: the row is asked for, and MODULE of the package is there, with pytest and a torch that has a GPU.
has_package() {
  [[ $1 =~ ${ROWS:-.} ]] || return
  [ -n "${imported[$2]:-}" ] ||
    imported[$2]=$(PYTHONPATH=$package "$python" -c "import $2, pytest, torch; assert torch.cuda.is_available(); print('yes')" 2>"$logs/python.log")
  [ "${imported[$2]:=no}" = yes ]
}
no_package=(sh -c 'echo no package, torch or pytest; exit 77')
# tensors NAME PES [NAME=VALUE...]: the Python package's tests of torch tensors, on CPU and GPU.
tensors() {
  local name=$1 pes=$2 tests=("$root"/python/tests/pes/test_torch_*.py)
  shift 2
  local run=("${no_package[@]}")
  if has_package "python.$name.$pes" railshmem.torch; then
    run=("$(program oshrun)" -n "$pes" --timeout 280 "$python" -m pytest -q -x -rs -p no:cacheprovider "${tests[@]}")
  fi
  check "python.$name.$pes" 300 "$pes" env "PYTHONPATH=$package" PYTHONDONTWRITEBYTECODE=1 SHMEM_SYMMETRIC_SIZE=512M "$@" "${run[@]}"
}
for pes in $counts; do tensors direct "$pes"; done
tensors shm 2 SHMEM_NODE_SIZE=1 SHMEM_OFI_PROVIDER=shm
tensors two_nodes $((2 * half)) SHMEM_NODE_SIZE=$half 'SHMEM_OFI_PROVIDER=tcp;ofi_rxm'

# ranks FOLDER NAME PES [NAME=VALUE...]: its tests of torch.distributed, FSDP2 or mixtures of experts, on CPU and GPU.
ranks() {
  local folder=$1 name=$2 pes=$3
  shift 3
  local run=("${no_package[@]}")
  if has_package "python.$folder.$name.$pes" "railshmem.$folder"; then
    run=("$(program oshrun)" -n "$pes" --timeout 280 "$python" -m pytest -q -x -rs -p no:cacheprovider "$root/python/tests/$folder")
  fi
  check "python.$folder.$name.$pes" 300 "$pes" env "PYTHONPATH=$package" PYTHONDONTWRITEBYTECODE=1 SHMEM_SYMMETRIC_SIZE=512M \
    OMP_NUM_THREADS=1 "$@" "${run[@]}"
}
for folder in distributed fsdp; do
  ranks $folder direct 2
  ranks $folder two_nodes $((2 * half)) SHMEM_NODE_SIZE=$half 'SHMEM_OFI_PROVIDER=tcp;ofi_rxm'
done
ranks moe direct 2
ranks moe shm 2 SHMEM_GPU_CONTEXT=own SHMEM_NODE_SIZE=1 SHMEM_OFI_PROVIDER=shm
ranks moe two_nodes $((2 * half)) SHMEM_GPU_CONTEXT=own SHMEM_NODE_SIZE=$half 'SHMEM_OFI_PROVIDER=tcp;ofi_rxm'
ranks symm_mem direct 2  # compiles the backend first; all members are on one node
if has_package python.symm_mem.ends railshmem.symm_mem; then
  check python.symm_mem.ends 300 1 env "PYTHONPATH=$package" PYTHONDONTWRITEBYTECODE=1 "$python" -m pytest -q -x -rs \
    -p no:cacheprovider "$root/python/tests/jobs/test_symm_mem_ends.py"
fi

# example NAME PROGRAM PES [OPTION...] [-- NAME=VALUE...]: what it printed goes below the table.
example() {
  local name=$1 program=$2 pes=$3 options=()
  shift 3
  while [ $# -gt 0 ] && [ "$1" != -- ]; do
    options+=("$1")
    shift
  done
  [ $# -gt 0 ] && shift
  check "example.$program.$name.$pes" 150 "$pes" env "$@" "$(program oshrun)" -n "$pes" --timeout 140 "$(program "$program")" \
    ${options[@]+"${options[@]}"}
  measured+=("example.$program.$name.$pes")
}
for pes in $(printf '%s\n' 2 "$gpus" | awk '$1 > 1' | sort -nu); do
  # Where PEs share a GPU their kernels take turns, of milliseconds.
  if [ "$pes" -le "$gpus" ]; then laps=1000 chunks=1000 steps=500; else laps=100 chunks=100 steps=100; fi
  example direct device_ring "$pes" --laps $laps
  example direct put_signal_pipeline "$pes" --chunks $chunks
  example direct jacobi "$pes" --steps $steps
  example direct expert_puts "$pes"
  example direct moe_dispatch "$pes"
  example direct_graph moe_dispatch "$pes" --graph
  example direct stream_ordered "$pes"
  example direct cuda_graph "$pes"
  example direct data_parallel "$pes"
  example direct_graph data_parallel "$pes" --graph
  example direct_registered data_parallel "$pes" --graph --registered
  shape=$((2048 * pes))x4096x$((4096 * pes))
  example direct tensor_parallel_mlp "$pes" --shape $shape
  example direct_graph tensor_parallel_mlp "$pes" --shape $shape --graph
  example direct_own tensor_parallel_mlp "$pes" --shape $shape --graph --own-product --calls 2
  example direct_by_block expert_puts "$pes" --by-block 1
done
shm=(SHMEM_NODE_SIZE=1 SHMEM_OFI_PROVIDER=shm)
example shm device_ring 2 --laps 100 -- "${shm[@]}"
example shm put_signal_pipeline 2 --chunks 100 -- "${shm[@]}"
example shm jacobi 2 --steps 100 -- "${shm[@]}"
example shm expert_puts 2 --rounds 10 -- "${shm[@]}"
example shm stream_ordered 2 -- "${shm[@]}"
example shm cuda_graph 2 -- "${shm[@]}"
tcp=(SHMEM_NODE_SIZE=1 'SHMEM_OFI_PROVIDER=tcp;ofi_rxm')
example shm data_parallel 2 -- "${shm[@]}"
example shm_graph data_parallel 2 --graph --registered -- "${shm[@]}"
# cuBLASLt loads kernels while collectives between nodes are under way: in the library's own context (decision 0025).
example shm tensor_parallel_mlp 2 --shape 4096x4096x8192 -- SHMEM_GPU_CONTEXT=own "${shm[@]}"
example shm_own tensor_parallel_mlp 2 --shape 2048x2048x4096 --own-product --calls 2 -- SHMEM_OVERLAP=4 "${shm[@]}"
example shm_graph tensor_parallel_mlp 2 --shape 2048x2048x4096 --graph -- SHMEM_GPU_CONTEXT=own "${shm[@]}"
example tcp data_parallel 2 -- "${tcp[@]}"
example tcp_graph data_parallel 2 --graph -- "${tcp[@]}"
example two_nodes data_parallel $((2 * half)) --graph -- SHMEM_NODE_SIZE=$half 'SHMEM_OFI_PROVIDER=tcp;ofi_rxm'

# Kernels of the Python package, where there are the package, Triton and PyTorch. PYTHON is the Python, PACKAGE the folder of the package
# railshmem where it is not installed.
python=${PYTHON:-python3}
export PYTHONPATH=${PACKAGE:-$from/python}${PYTHONPATH:+:$PYTHONPATH}
if [[ python.triton_gpu.2 =~ ${ROWS:-.} ]] && "$python" -c 'import railshmem.triton, torch, pytest' 2>/dev/null; then
  check python.triton_gpu.2 300 2 "$root/python/tests/run.sh" "$python" "$(program oshrun)" triton_gpu 2
fi

check soak 250 "$gpus" env FROM="$from" PES=$((gpus > 4 ? gpus / 2 * 2 : 4)) "$root/scripts/gpu_soak.sh" 10
measured+=(soak)

if [ -n "$sanitize" ]; then
  sanitizer=$(command -v compute-sanitizer || echo /usr/local/cuda/bin/compute-sanitizer)
  for tool in memcheck racecheck synccheck; do
    check "device.one_gpu.$tool" 500 1 "$sanitizer" --tool "$tool" --error-exitcode 3 "$(program ring_gpu_test)" --small
  done
  # The library's own kernels. The library asks the driver for features that may be missing, and goes on without them. By
  # one PE: under the sanitizer kernels that wait for those of another process were not done after minutes.
  for tool in memcheck racecheck; do
    for program in stream_ops stream_parts moe moe_bulk moe_bulk_layout; do
      check "$program.$tool" 300 1 env SHMEM_HEAP_KIND=device "$sanitizer" --tool "$tool" --report-api-errors no \
        --error-exitcode 3 "$(program "$program")"
    done
    for way in '' direct staged engines; do
      ways=${way:+fcollect=$way,alltoall=$way}
      [ "$way" != direct ] && [ "$way" != staged ] || ways=$ways,reduce=$way,reducescatter=$way
      check "coll_ops.$tool.${way:-by_size}" 300 1 env SHMEM_HEAP_KIND=device "SHMEM_COLLECTIVES=$ways" "$sanitizer" --tool "$tool" \
        --report-api-errors no --error-exitcode 3 "$(program coll_ops)" 3000
    done
  done
fi

wait
table
for name in "${names[@]}"; do
  if grep -q FAILED "$logs/$name.row"; then exit 1; fi
done
