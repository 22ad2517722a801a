#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Programs written against include/compat/nvshmem.h compile without -rdc, link with the library, and run on one PE.
# Usage: check_compat.sh SOURCE_DIR INCLUDE LIBRARY_DIR [CXX]. Exit 77 (ctest: skipped) when only nvcc's half could not run.
set -u
source_dir=$1
include=$2
library_dir=$3
cxx=${4:-c++}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
includes="-I$include/compat -I$include"
here=$source_dir/tests/compat

# run NAME: the host's calls, on a heap of the host.
run() {
  if ! SHMEM_HEAP_KIND=host LD_LIBRARY_PATH="$library_dir${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" \
    timeout 60 "$work/$1" >"$work/output" 2>&1; then
    echo "FAILED: $1 does not run:"
    cat "$work/output"
    exit 1
  fi
  echo "ran: $1"
}

fail() {
  echo "FAILED: $1"
  exit 1
}

# shellcheck disable=SC2086
"$cxx" -std=c++17 -Wall -Wextra -Wshadow -pedantic -Werror $includes "$here/host_calls.cpp" -o "$work/host" \
  -L"$library_dir" -lrailshmem || fail "host_calls.cpp with $cxx"
run host
toolkit=${CUDA_HOME:-/usr/local/cuda}
if [ -f "$toolkit/include/cuda_fp16.h" ]; then
  # shellcheck disable=SC2086
  "$cxx" -std=c++17 -Wall -Wextra -Wshadow -pedantic -Werror $includes -isystem "$toolkit/include" \
    "$here/host_calls.cpp" -o "$work/host_cuda" -L"$library_dir" -lrailshmem ||
    fail "host_calls.cpp with $cxx and the CUDA toolkit's headers"
  run host_cuda
fi

nvcc=${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
if [ ! -x "$nvcc" ]; then
  echo "SKIPPED: no nvcc (set NVCC to its path); the kernels' half was not compiled"
  exit 77
fi
# Nobody runs these kernels, so their code need not be fast. Old compilers lack the option.
fast=''
! "$nvcc" --help | grep -q -e --Ofast-compile || fast='--Ofast-compile max'
# shellcheck disable=SC2086
"$nvcc" -std=c++17 -arch=sm_90 $fast -Werror all-warnings $includes -x cu -c "$here/host_calls.cpp" -o "$work/host.o" ||
  fail "host_calls.cpp with nvcc"
# shellcheck disable=SC2086
"$nvcc" -std=c++17 -arch=sm_90 $fast -Werror all-warnings $includes -c "$here/kernels.cu" -o "$work/kernels.o" ||
  fail "kernels.cu with nvcc"
# shellcheck disable=SC2086
"$nvcc" -std=c++17 -arch=sm_90 $fast -Werror all-warnings $includes -c "$here/brought.cu" -o "$work/brought.o" ||
  fail "brought.cu with nvcc"
# Not linked: its program needs the CUDA driver library, which a machine without a GPU lacks.
# shellcheck disable=SC2086
"$nvcc" -std=c++17 -arch=sm_90 $fast -Werror all-warnings $includes -c "$here/modules.cu" -o "$work/modules.o" ||
  fail "modules.cu with nvcc"
"$nvcc" -arch=sm_90 "$work/host.o" "$work/kernels.o" -o "$work/both" -L"$library_dir" -lrailshmem || fail "linking"
run both
