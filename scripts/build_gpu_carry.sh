#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Collects in one folder what a machine with GPUs needs to run gpu_check.sh, shmem_gpu_perf, compare_nvshmem.sh and
# compare_nccl.sh, when building there is slow or impossible: the programs, the library, the launcher, and the shared
# libraries they need beside the C and C++ ones.
#   scripts/build_gpu_carry.sh [NVSHMEM]      NVSHMEM: its folder with include/ and lib/; default: the wheel of python3
# BUILD  the configured build to take ours from   (default: build/release)
# CARRY  the folder to fill, and then to pack as CARRY.tar.xz   (default: build/gpu-carry)
# JOBS   at once                                  (default: 1)
# PYTHON the Python to build the package for, as build_python_carry.sh takes it; without it there are no Python tests
# NCCL   its folder with include/ and lib/        (default: that of scripts/find_nccl.sh)
# GPUs and compiler: see build_gpu_perf_with_nvshmem.sh. The libraries of NVSHMEM, NCCL and cuBLAS and those of a launcher
# (MPI, PMIx) are not taken along: they are large, or come with the driver or launcher that they talk to. A program for
# NVSHMEM or NCCL is left out, with a message, where that library is not found here.
set -eu
cd "$(dirname "$0")/.."
build=${BUILD:-build/release}
carry=${CARRY:-build/gpu-carry}
if [ ! -f "$build/CMakeCache.txt" ]; then
  echo "build_gpu_carry.sh: $build is not configured; run cmake --preset release, or set BUILD" >&2
  exit 1
fi
if ! grep -q '^RAILSHMEM_KERNEL_EFFORT:[A-Z]*=3' "$build/CMakeCache.txt"; then
  echo "build_gpu_carry.sh: the kernels of $build are not for GPUs (docs/building.md); configure it with -DRAILSHMEM_KERNEL_EFFORT=3" >&2
  exit 1
fi
nvshmem=${1:-$(scripts/find_nvshmem.sh || true)}
nccl=${NCCL:-$(scripts/find_nccl.sh || true)}
tests="ring_gpu_test memory_gpu_test multi_kernels multi_blocking_calls multi_own_memory multi_own_pe multi_shapes multi_compat_names multi_stream_full soak_kernels device_collectives stream_nodes stream_ops stream_own stream_parts stream_puts coll_ops coll_pieces many_teams moe moe_bulk moe_bulk_layout moe_masks overlap overlap_search pageable_copies registered_buffers nccl_window topology"
examples="device_ring put_signal_pipeline jacobi expert_puts moe_dispatch stream_ordered cuda_graph data_parallel tensor_parallel_mlp"
targets=$(cmake --build "$build" --target help)
plugins=$(echo "$targets" | grep -o '^librailshmem-[a-z-]*\.so' | grep -v -e overlap -e moe || true)
tests="$tests $(echo "$targets" | grep -o '^loaded_kernels' | head -n 1 || true)"  # where there is NVRTC
# shellcheck disable=SC2046,SC2086
cmake --build "$build" --parallel "${JOBS:-1}" --target shmem_gpu_perf oshrun $tests $plugins \
  $(printf 'example_%s ' $examples)
mkdir -p "$carry/bin" "$carry/lib/railshmem"
if [ -n "$nvshmem" ]; then
  OBJECTS=$carry.objects perftest/compare/build_gpu_perf_with_nvshmem.sh "$carry/bin/shmem_gpu_perf_nvshmem" "$nvshmem"
else
  echo "build_gpu_carry.sh: SKIPPED: shmem_gpu_perf_nvshmem, without which compare_nvshmem.sh cannot run" >&2
fi
if [ -n "$nccl" ]; then
  OBJECTS=$carry.objects_nccl perftest/compare/build_gpu_perf_with_nccl.sh "$carry/bin/shmem_gpu_perf_nccl" "$nccl"
else
  echo "build_gpu_carry.sh: SKIPPED: shmem_gpu_perf_nccl, without which compare_nccl.sh measures ours alone" >&2
fi

cp "$build/perftest/shmem_gpu_perf" "$carry/bin/"
for program in $tests; do find "$build/tests/gpu" -name "$program" -type f -perm -u+x -exec cp {} "$carry/bin/" \;; done
for example in $examples; do cp "$build/examples/$example" "$carry/bin/"; done
find "$build" -name oshrun -type f -perm -u+x -exec cp {} "$carry/bin/" \;
for plugin in $plugins; do cp "$build/railshmem/$plugin" "$carry/lib/railshmem/"; done
strip "$carry"/bin/*
rm -rf "$carry/include"
cp -RL "$build/include" "$carry/include"

# Takes every library that ldd finds outside the C and C++ run time, under the name that programs ask for. Some of these
# libraries load others.
here_already='^(linux-vdso|ld-linux.*|libc|libm|libdl|librt|libpthread|libresolv|libutil|libstdc\+\+|libgcc_s)[.-]'
not_ours='^(libcuda|libnvshmem.*|libnccl|libcublas.*|libmpi|libopen-.*|libpmix)\.'
for program in "$carry"/bin/shmem_gpu_perf "$carry"/bin/oshrun "$carry"/lib/railshmem/librailshmem-libfabric.so; do
  ldd "$program"
done | awk '$2 == "=>" && $3 ~ /^\// { print $1, $3 }' | sort -u | while read -r name path; do
  if echo "$name" | grep -Eq -e "$here_already" -e "$not_ours"; then continue; fi
  cp -L "$path" "$carry/lib/$name"
done
[ -z "${PYTHON:-}" ] || BUILD=$build CARRY=$carry scripts/build_python_carry.sh "$PYTHON"
# In one file, because a link may be narrow and a machine may take only so much.
tar cf - -C "$(dirname "$carry")" "$(basename "$carry")" | xz -T0 -3 >"$carry.tar.xz"
du -sh "$carry" "$carry.tar.xz"
most=$((64 * 1024)) # KiB that some machines take
if [ "$(du -sk "$carry.tar.xz" | cut -f 1)" -gt $most ]; then
  echo "build_gpu_carry.sh: $carry.tar.xz is larger than 64 MiB" >&2
  exit 1
fi
