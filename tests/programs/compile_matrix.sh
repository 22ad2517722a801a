#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Compiles the device headers and the libraries' kernels with one or more CUDA compilers for several GPUs, and prints a table
# (Markdown). Nothing is run. docs/platforms.md has a table of what was compiled.
#   tests/programs/compile_matrix.sh [--headers] COMPILER:ARCH,ARCH...  ...
# COMPILER   an nvcc or a clang++ that compiles CUDA (CUDA_PATH names its toolkit, default /usr/local/cuda)
# ARCH       sm_90: machine code for that GPU; compute_90: PTX, which drivers compile for newer GPUs
# --headers  leaves the libraries' kernels out, which take a minute for each GPU; clang compiles the headers only, because
#            these kernels are built by nvcc. A compiler that can hurry (--Ofast-compile) does: only whether it compiles counts
# Messages of the compilers go to build/compile_matrix. Exit status 1: something did not compile.
set -euo pipefail
cd "$(dirname "$0")/../.."
usage() {
  sed -n '5,9p' "$0" >&2
  exit 2
}
units=(headers src/cuda/kernels/*.cu moe/kernels/*.cu overlap/kernels/*.cu)
[ "${1:-}" = --headers ] && units=(headers) && shift
[ $# -gt 0 ] || usage
logs=build/compile_matrix
mkdir -p "$logs"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 scripts/gen_api.py "$work"

source_of() {
  if [ "$1" = headers ]; then echo tests/headers/device_calls.cu; else echo "$1"; fi
}
# compile COMPILER ARCH UNIT
compile() {
  local compiler=$1 arch=$2 source object=$work/object
  source=$(source_of "$3")
  case $(basename "$compiler") in
    *nvcc*) # as cmake/RailshmemKernels.cmake
      local fast=()
      ! "$compiler" --help | grep -q -e --Ofast-compile || fast=(--Ofast-compile max)
      "$compiler" -std=c++20 --fatbin --fmad=false --expt-relaxed-constexpr ${fast[@]+"${fast[@]}"} -I. -Iinclude "-I$work/include" \
        -gencode "arch=compute_${arch#*_},code=$arch" -o "$object" "$source"
      ;;
    *)
      local target=(--cuda-gpu-arch="$arch")
      [ "${arch%_*}" = sm ] || target=(--cuda-gpu-arch="sm_${arch#*_}" -S)
      "$compiler" -std=c++17 -O2 -x cuda --cuda-device-only "${target[@]}" --cuda-path="${CUDA_PATH:-/usr/local/cuda}" \
        -Wno-unknown-cuda-version -I. -Iinclude "-I$work/include" -c -o "$object" "$source"
      ;;
  esac
}
version_of() {
  case $(basename "$1") in
    *nvcc*) "$1" --version | sed -n 's/.*release .*, V/nvcc /p' ;;
    *) "$1" --version | sed -n '1s/.*\(clang version [0-9.]*\).*/\1/p' ;;
  esac
}

failed=0
echo "| compiler | GPU | device headers | libraries' kernels |"
echo "| --- | --- | --- | --- |"
for request; do
  compiler=${request%%:*}
  [ "$compiler" != "$request" ] || usage
  command -v "$compiler" >/dev/null || {
    echo "compile_matrix.sh: there is no compiler $compiler" >&2
    exit 2
  }
  version=$(version_of "$compiler")
  for arch in $(tr , ' ' <<<"${request#*:}"); do
    [[ $arch =~ ^(sm|compute)_[0-9]+[a-z]?$ ]] || {
      echo "compile_matrix.sh: '$arch' is no GPU; pass sm_NUMBER or compute_NUMBER" >&2
      exit 2
    }
    headers='not tried' kernels='not tried'
    for unit in "${units[@]}"; do
      [ "$unit" = headers ] || [[ $(basename "$compiler") == *nvcc* ]] || continue
      outcome=compiled
      log=$logs/${version// /-}.$arch.${unit//\//-}.log
      compile "$compiler" "$arch" "$unit" >"$log" 2>&1 || outcome="FAILED ($log)"
      if [ "$unit" = headers ]; then headers=$outcome; else [[ $kernels == FAILED* ]] || kernels=$outcome; fi
      [ "$outcome" = compiled ] || failed=1
    done
    echo "| $version | $arch | $headers | $kernels |"
  done
done
exit $failed
