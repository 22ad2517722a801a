#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Compiles the collectives of shmem_gpu_perf against NCCL, to compare two libraries by one source on one machine:
#   perftest/compare/build_gpu_perf_with_nccl.sh OUTPUT [NCCL]
# NCCL is the folder with include/nccl.h and lib/libnccl.so.2; without it that of scripts/find_nccl.sh is taken. The
# program finds libnccl.so.2 there, or elsewhere by LD_LIBRARY_PATH.
# ARCH (default sm_90), NVCC (default nvcc), CXX (default c++), PYTHON (default python3), OBJECTS (folder that keeps them;
# default OUTPUT.objects).
set -eu
if [ $# -lt 1 ] || [ $# -gt 2 ]; then
  sed -n '3,8p' "$0" >&2
  exit 2
fi
output=$1
here=$(cd "$(dirname "$0")" && pwd)
nvcc=${NVCC:-nvcc}
# shellcheck source=perftest/compare/gpu_perf_objects.sh
. "$here/gpu_perf_objects.sh"
library=${2:-$("$here/../../scripts/find_nccl.sh")}
begin include/nccl.h lib/libnccl.so.2
compile_plain
architecture=${ARCH:-sm_90}
for source in perftest/device/context.cu perftest/device/run.cu perftest/device/job_nccl.cu perftest/device/coll/*.cu; do
  case $source in
    */library_railshmem.cu | */floor_puts.cu | */floor_exchange.cu) ;; # ours, and a floor that needs mapped memory
    *) compile "$source" "$nvcc" "-arch=$architecture" -O3 -isystem "$library/include" -Xcompiler=-Wall,-Wextra ;;
  esac
done
"$nvcc" "-arch=$architecture" "$objects"/*.o -o "$output" -L"$library/lib" -l:libnccl.so.2 -ldl \
  -Xlinker -rpath -Xlinker "$library/lib"
