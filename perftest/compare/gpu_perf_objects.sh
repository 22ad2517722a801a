#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Sourced by build_gpu_perf_with_*.sh: what a build of shmem_gpu_perf against another library begins with, and how its
# sources become objects.

# begin FILE...: each FILE must be in the folder $library. Makes the folder of objects, and goes to the root. Makes the
# paths in library and output absolute.
# shellcheck disable=SC2154 # the sourcing script sets here, library and output
begin() {
  for needed; do
    if [ ! -e "$library/$needed" ]; then
      echo "${0##*/}: no $needed in $library" >&2
      exit 1
    fi
  done
  library=$(cd "$library" && pwd)
  mkdir -p "$(dirname "$output")"
  output=$(cd "$(dirname "$output")" && pwd)/$(basename "$output")
  cd "$here/../.." || exit
  objects=${OBJECTS:-$output.objects}
  mkdir -p "$objects"
}

# compile SOURCE COMMAND...: objects first, so that a change of one file recompiles one file.
compile() {
  source=$1
  shift
  object=$objects/$(echo "$source" | tr / _).o
  if [ -f "$object" ] && [ -z "$(find perftest \( -name '*.h' -o -name '*.cuh' -o -path "$source" \) -newer "$object")" ]; then
    return
  fi
  echo "$source"
  "$@" -std=c++20 -I. -c "$source" -o "$object"
}

# compile_plain: the sources that know neither CUDA nor a library.
compile_plain() {
  for source in perftest/device/*.cpp perftest/device/coll/*.cpp perftest/device/overlap/*.cpp perftest/harness/launcher.cpp perftest/harness/options.cpp \
    perftest/harness/pattern.cpp perftest/harness/progress.cpp perftest/harness/report.cpp \
    perftest/harness/size_options.cpp perftest/harness/stats.cpp; do
    compile "$source" "${CXX:-c++}" -O1 -Wall -Wextra
  done
}
