#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs dispatch and combine of librailshmem-moe and the benchmark of pplx-kernels, once built on NVSHMEM and once on
# RailSHMEM's headers of NVSHMEM's names, on this machine's GPUs, in turn, in one go; prints a markdown table.
#   PPLX=CHECKOUT scripts/compare_moe.sh [--build]      --build: compiles the two programs and ends; needs no GPU
# PPLX       a checkout of github.com/perplexityai/pplx-kernels; nothing of it is part of this repository
# PES        PEs, one GPU each                            (default: 2)
# ROUNDS     every program is run this often; the median counts   (default: 3)
# OURS       our shmem_gpu_perf       (default: that of build/gpu-carry, else of build/release)
# BUILD      the build that librailshmem.so is taken from (default: build/release)
# BUILT      folder for the two programs                  (default: build/compare_moe); they are built when missing
# NVSHMEM    folder of NVSHMEM with include/ and lib/     (default: the wheel of python3)
# MPI        folder of MPI with include/ and lib/         (default: that of mpicxx)
# NVCC, ARCH compiler and architecture                    (default: nvcc, sm_90a)
# LAUNCHER   an MPI's, with the option that takes the number of PEs last   (default: mpirun ... -n)
# RUN_TIMEOUT  seconds after which one run is killed      (default: 100)
# HEAP       symmetric bytes of each PE                   (default: 4 GiB)
# ROWS       folder that keeps the output of each run     (default: a temporary one, removed)
# A PE of theirs has 1 to so many tokens, by chance with the PE's number as the seed; ours always has all of them.
# Exit status: 1 when a build or a run failed, 77 when there are not enough GPUs.
set -u
root=$(cd "$(dirname "$0")/.." && pwd)
carry=$root/build/gpu-carry
pes=${PES:-2}
rounds=${ROUNDS:-3}
limit=${RUN_TIMEOUT:-100}
heap=${HEAP:-4294967296}
build=${BUILD:-$root/build/release}
built=${BUILT:-$root/build/compare_moe}
ours=${OURS:-$carry/bin/shmem_gpu_perf}
[ -x "$ours" ] || ours=$build/perftest/shmem_gpu_perf
# shellcheck source=perftest/compare/gpu_compare_jobs.sh
. "$root/perftest/compare/gpu_compare_jobs.sh"
only_build=''
case ${1:-} in
  '') ;;
  --build) only_build=1 ;;
  *)
    sed -n '3,20p' "$0" >&2
    exit 2
    ;;
esac
sources=${PPLX:+$PPLX/csrc}
if [ -z "$sources" ] || [ ! -f "$sources/all_to_all/bench_all_to_all.cpp" ]; then
  fail "PPLX names no checkout of pplx-kernels; git clone https://github.com/perplexityai/pplx-kernels, and set PPLX" 2
fi
gpus=$(nvidia-smi -L 2>/dev/null | grep -c '^GPU')
if [ -z "$only_build" ] && [ "$gpus" -lt "$pes" ]; then
  fail "SKIPPED: $gpus GPUs for $pes PEs (PES sets their number)" 77
fi
nvshmem=${NVSHMEM:-$("$root/scripts/find_nvshmem.sh")} || exit 1

# Of the MPI's compiler wrapper: nvcc does not know all of its options.
if [ -n "${MPI:-}" ]; then
  mpi_compile=("-I$MPI/include") mpi_link=("-L$MPI/lib" -lmpi)
elif command -v mpicxx >/dev/null; then
  said=$(mpicxx --showme:compile 2>/dev/null || mpicxx -compile_info)
  read -r -a mpi_compile <<<"$(grep -oE '(^| )-I[^ ]+' <<<"$said" | tr -d '\n')"
  said=$(mpicxx --showme:link 2>/dev/null || mpicxx -link_info)
  read -r -a mpi_link <<<"$(grep -oE '(^| )-[lL][^ ]+' <<<"$said" | tr -d '\n')"
else
  fail "no mpicxx; set MPI to the folder of an MPI with include/ and lib/"
fi

# build_theirs PROGRAM COMPILE-OPTION... -- LINK-OPTION...: the benchmark without PyTorch, which it does not need.
build_theirs() {
  local program=$built/$1 objects=$built/$1.objects options=() source object
  shift
  while [ "$1" != -- ]; do
    options+=("$1")
    shift
  done
  shift
  mkdir -p "$objects"
  rm -f "$objects"/*.o
  for source in all_to_all/{intranode_combine,intranode_dispatch,internode_combine,internode_dispatch}.cu core/kernels.cu \
    all_to_all/{all_to_all,intranode,internode,bench_all_to_all}.cpp core/distributed.cpp; do
    object=$objects/$(basename "$source").o
    "${NVCC:-nvcc}" -x cu -std=c++17 -O3 -w --expt-relaxed-constexpr "-arch=${ARCH:-sm_90a}" "${options[@]}" "-I$sources" "${mpi_compile[@]}" \
      -c "$sources/$source" -o "$object" || return 1
  done
  "${NVCC:-nvcc}" "-arch=${ARCH:-sm_90a}" "${options[@]}" "$objects"/*.o -o "$program" "$@" "${mpi_link[@]}" -lcuda
}
if [ -n "$only_build" ] || [ ! -x "$built/pplx_nvshmem" ]; then
  build_theirs pplx_nvshmem -rdc=true "-I$nvshmem/include" -- "-L$nvshmem/lib" -lnvshmem_device -l:libnvshmem_host.so.3 >&2 ||
    fail "pplx-kernels did not compile on NVSHMEM"
fi
if [ -n "$only_build" ] || [ ! -x "$built/pplx_railshmem" ]; then
  build_theirs pplx_railshmem -include cooperative_groups.h "-I$build/include" \
    "-I$build/include/compat" -- "-L$build" -lrailshmem >&2 || fail "pplx-kernels did not compile on RailSHMEM"
fi
if [ -n "$only_build" ]; then
  echo "compare_moe.sh: built $built/pplx_nvshmem and $built/pplx_railshmem" >&2
  exit
fi

[ -x "$ours" ] || fail "no $ours; build the target shmem_gpu_perf, or scripts/build_gpu_carry.sh"
if [ -z "${LAUNCHER:-}" ] && ! command -v mpirun >/dev/null; then
  fail "no mpirun, by which the benchmark of pplx-kernels starts; set LAUNCHER"
fi
libraries=$carry/lib:$build:$nvshmem/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
prepare_jobs
# NVSHMEM: no network card is looked for, and no multicast object, which virtual machines may lack.
export SHMEM_SYMMETRIC_SIZE=$heap NVSHMEM_SYMMETRIC_SIZE=$heap NVSHMEM_REMOTE_TRANSPORT=none NVSHMEM_DISABLE_NVLS=1

# run_theirs WHO PROGRAM FILE: one job of at most $limit seconds; what it prints goes to FILE.
run_theirs() {
  local status=0
  echo "$script: pplx-kernels on $1" >&2
  timeout -k 5 "$limit" "${launch[@]}" "$pes" env "LD_LIBRARY_PATH=$libraries" "$2" >"$3" </dev/null || status=$?
  [ "$status" -ne 0 ] || return 0
  echo "$script: pplx-kernels on $1 ended with status $status$([ "$status" -ne 124 ] || echo ": over $limit s")" >&2
  failures=$((failures + 1))
}
shapes=''
for experts in 8 16 64 256; do
  for tokens in 1 4 16 64 128; do shapes=$shapes,${tokens}x7168x$experts; done
done
for ((round = 1; round <= rounds; ++round)); do
  validate=()
  [ "$round" -gt 1 ] || validate=(--validate)
  run ours "$ours" "$rows/ours_$round.json" moe_dispatch moe_combine --shapes "${shapes#,}" --repetitions 5 "${validate[@]}"
  run_theirs NVSHMEM "$built/pplx_nvshmem" "$rows/nvshmem_$round.txt"
  run_theirs RailSHMEM "$built/pplx_railshmem" "$rows/railshmem_$round.txt"
done
rows_of ours
[ ${#found[@]} -gt 0 ] || fail "no run of ours gave a row"
python3 "$root/perftest/compare/moe_compare.py" --ours "${found[@]}" --nvshmem "$rows"/nvshmem_*.txt --railshmem "$rows"/railshmem_*.txt ||
  failures=$((failures + 1))
[ "$failures" -eq 0 ]
