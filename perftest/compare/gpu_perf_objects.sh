#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Sourced by build_gpu_perf_with_*.sh: how the sources of shmem_gpu_perf become objects of a build against another
# library. Uses the variables objects (their folder), CXX and ARCH; the current folder is the root.

# shellcheck disable=SC2154 # the sourcing script sets objects
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
