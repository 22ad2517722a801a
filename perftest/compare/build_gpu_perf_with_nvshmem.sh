#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Compiles shmem_gpu_perf against NVSHMEM, to compare two libraries by one source on one machine:
#   perftest/compare/build_gpu_perf_with_nvshmem.sh OUTPUT [NVSHMEM]
# NVSHMEM is the folder with include/ and lib/; without it the wheel (nvidia-nvshmem-cu13) of python3 is taken. The
# program finds libnvshmem_host.so.3 there, or elsewhere by LD_LIBRARY_PATH.
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
library=${2:-$("$here/../../scripts/find_nvshmem.sh")}
begin include/nvshmem.h lib/libnvshmem_device.a lib/libnvshmem_host.so.3
compile_plain
architecture=${ARCH:-sm_90}
for source in perftest/device/*.cu; do
  case $source in
    */job_railshmem.cu | */job_nccl.cu | */ring.cu) ;; # those of other libraries, and ours alone
    *) compile "$source" "$nvcc" "-arch=$architecture" -O3 -rdc=true -DRAILSHMEM_PERF_NVSHMEM \
      -isystem "$library/include" -Xcompiler=-Wall,-Wextra ;;
  esac
done
"$nvcc" "-arch=$architecture" -rdc=true "$objects"/*.o -o "$output" -L"$library/lib" -lnvshmem_device \
  -l:libnvshmem_host.so.3 -Xlinker -rpath -Xlinker "$library/lib"
