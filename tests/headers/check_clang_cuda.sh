#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The headers compile with clang as the compiler of kernels, also together with host code in one unit, and cost a kernel
# that does not communicate nothing. Usage: check_clang_cuda.sh SOURCE_DIR INCLUDE. Exit 77 (ctest: skipped) without nvcc, whose
# toolkit clang uses, or without a clang that knows that toolkit.
set -u
source_dir=$1
include=$2
failed=0
# shellcheck source=tests/headers/with_nvcc.sh
. "$source_dir/tests/headers/with_nvcc.sh"
toolkit=$(dirname "$(dirname "$(readlink -f "$nvcc")")")

# Newer toolkits than a clang was made for are fine as long as it gets through their headers.
compile() {
  "$clang" -std=c++17 -O2 -x cuda --cuda-gpu-arch=sm_90 --cuda-path="$toolkit" -Wno-unknown-cuda-version "$@"
}
echo '__global__ void nothing() {}' >"$work/nothing.cu"
for clang in clang++ $(seq -f 'clang++-%.0f' 40 -1 19); do
  command -v "$clang" >/dev/null && compile -c "$work/nothing.cu" -o "$work/nothing.o" 2>"$work/why" && break
  clang=''
done
if [ -z "$clang" ]; then
  echo "SKIPPED: no clang that knows CUDA in $toolkit"
  exit 77
fi
"$clang" --version | head -n 1

for unit in device_calls use_cuda; do
  if ! compile -Wall -Wextra -Werror -I"$include" -c "$source_dir/tests/headers/$unit.cu" -o "$work/$unit.o"; then
    echo "FAILED: $unit.cu"
    failed=1
  fi
done

silent() {
  compile "$@" -I"$include" --cuda-device-only -Xcuda-ptxas -v -c "$source_dir/tests/headers/silent_kernel.cu" \
    -o "$work/silent.cubin" 2>&1 | grep 'Used'
}
silent >"$work/without" && silent -DWITH_SHMEM >"$work/with"
if ! grep -q 'Used' "$work/with" || ! cmp "$work/without" "$work/with"; then
  echo "FAILED: a kernel that does not communicate differs with shmem.h:"
  diff "$work/without" "$work/with"
  failed=1
fi
exit $failed
