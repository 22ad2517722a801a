#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs one set of device benches against RailSHMEM and against NVSHMEM on this machine's GPUs, in turn, in one go, with
# the raw floors; prints a markdown table with ratios.
#   scripts/compare_nvshmem.sh [GROUP...]      groups: bandwidth latency collective stream (default: all)
# PES        PEs, one GPU each                            (default: 2)
# ROUNDS     every group is run this often; the median counts   (default: 3)
# OURS       our shmem_gpu_perf       (default: that of build/gpu-carry, else of build/release)
# THEIRS     the one for NVSHMEM      (default: that of build/gpu-carry; built there when it is missing)
# NVSHMEM    folder of NVSHMEM with lib/                  (default: the wheel of python3)
# LAUNCHER   with the option that takes the number of PEs last   (default: mpirun ... -n; without mpirun: oshrun -n)
# BOOTSTRAP  uid: NVSHMEM starts from a file with a unique id; any other value is its NVSHMEM_BOOTSTRAP   (default: uid)
# RUN_TIMEOUT  seconds after which one run is killed      (default: 100)
# HEAP       symmetric bytes of each PE                   (default: 2 GiB)
# ROWS       folder that keeps the JSON rows              (default: a temporary one, removed)
# Exit status: 1 when a run failed or its rows lack a partner, 77 when there are not enough GPUs.
set -u
root=$(cd "$(dirname "$0")/.." && pwd)
carry=$root/build/gpu-carry
pes=${PES:-2}
rounds=${ROUNDS:-3}
limit=${RUN_TIMEOUT:-100}
heap=${HEAP:-2147483648}
ours=${OURS:-$carry/bin/shmem_gpu_perf}
[ -x "$ours" ] || ours=$root/build/release/perftest/shmem_gpu_perf
theirs=${THEIRS:-$carry/bin/shmem_gpu_perf_nvshmem}

# shellcheck source=perftest/compare/gpu_compare_jobs.sh
. "$root/perftest/compare/gpu_compare_jobs.sh"
case ${1:-} in -*)
  sed -n '3,16p' "$0" >&2
  exit 2
  ;;
esac
gpus=$(nvidia-smi -L 2>/dev/null | grep -c '^GPU')
[ "$gpus" -ge "$pes" ] || fail "SKIPPED: $gpus GPUs for $pes PEs (PES sets their number)" 77
[ -x "$ours" ] || fail "no $ours; build the target shmem_gpu_perf, or scripts/build_gpu_carry.sh"
nvshmem=${NVSHMEM:-$("$root/scripts/find_nvshmem.sh")} || exit 1
if [ ! -x "$theirs" ]; then
  "$root/perftest/compare/build_gpu_perf_with_nvshmem.sh" "$theirs" "$nvshmem" >&2 || fail "the build against NVSHMEM failed"
fi
libraries=$carry/lib:$nvshmem/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
prepare_jobs
# NVSHMEM: no network card is looked for, and no multicast object, which virtual machines may lack.
export SHMEM_SYMMETRIC_SIZE=$heap NVSHMEM_SYMMETRIC_SIZE=$heap NVSHMEM_REMOTE_TRANSPORT=none NVSHMEM_DISABLE_NVLS=1

# Options of a group; the floors run beside ours only. Small enough for seconds a run.
bandwidth=(put_bw get_bw p_bw amo_bw --ctas 32 --sizes '1K,8K,64K,1M,4M,32M,256M')
bandwidth_floors=(floor_copy_kernel floor_read_kernel floor_copy_engine)
latency=(p_lat g_lat put_lat amo_lat signal_pingpong put_signal_pingpong --sizes '8,1K,32K')
latency_floors=(floor_store floor_load floor_atomic floor_flag floor_pinned)
collective=(barrier team_sync team_barrier fcollect alltoall_in_kernel broadcast reduce --scope 'thread,warp,block'
  --sizes '256,1K,4K,64K,1M')
stream=(put_on_stream get_on_stream put_signal_on_stream barrier_on_stream barrier_in_graph barrier_on_cpu
  fcollect_on_stream alltoall_on_stream reduce_on_stream --sizes '256,4K,64K,1M')
stream_floors=(floor_launch floor_launch_in_graph floor_launch_on_cpu floor_copy_engine)

number=0
[ $# -gt 0 ] || set -- bandwidth latency collective stream
for ((round = 1; round <= rounds; ++round)); do
  for group in "$@"; do
    case $group in
      bandwidth) options=("${bandwidth[@]}") floors=("${bandwidth_floors[@]}") ;;
      latency) options=("${latency[@]}") floors=("${latency_floors[@]}") ;;
      collective) options=("${collective[@]}") floors=() ;;
      stream) options=("${stream[@]}") floors=("${stream_floors[@]}") ;;
      *) fail "no group '$group'; there are bandwidth, latency, collective and stream" 2 ;;
    esac
    number=$((number + 1))
    # Only the first round compares bytes: it takes a while on the host.
    validate=()
    [ "$round" -gt 1 ] || validate=(--validate)
    run ours "$ours" "$rows/ours_$number.json" "${floors[@]}" "${options[@]}" "${validate[@]}"
    if [ "${BOOTSTRAP:-uid}" = uid ]; then
      SHMEM_PERF_RENDEZVOUS=$scratch/id_$number run NVSHMEM "$theirs" "$rows/theirs_$number.json" "${options[@]}" \
        "${validate[@]}"
    else
      NVSHMEM_BOOTSTRAP=$BOOTSTRAP run NVSHMEM "$theirs" "$rows/theirs_$number.json" "${options[@]}" "${validate[@]}"
    fi
  done
done

rows_of ours
ours_rows=("${found[@]}")
rows_of theirs
theirs_rows=("${found[@]}")
[ ${#ours_rows[@]} -gt 0 ] || fail "no run of ours gave a row"
python3 "$root/perftest/compare/gpu_compare.py" --ours "${ours_rows[@]}" --theirs "${theirs_rows[@]}" || failures=$((failures + 1))
[ "$failures" -eq 0 ]
