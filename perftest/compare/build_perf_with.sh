#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Compiles shmem_perf against another OpenSHMEM library, to compare libraries by one source on one machine:
#   perftest/compare/build_perf_with.sh oshc++ /tmp/shmem_perf_other [extra compiler flags]
set -eu
if [ $# -lt 2 ]; then
  echo "usage: $0 COMPILER OUTPUT [FLAGS...]; COMPILER is the library's C++ wrapper, for example oshc++" >&2
  exit 2
fi
compiler=$1
output=$2
shift 2
cd "$(dirname "$0")/../.."
sources="perftest/main.cpp perftest/harness/*.cpp perftest/host/*.cpp perftest/floor/partner.cpp
         perftest/floor/memory.cpp perftest/floor/memory_pair.cpp perftest/floor/flag.cpp perftest/floor/reduce.cpp"
fabric=""
if pkg-config --exists libfabric; then
  sources="$sources perftest/floor/fabric.cpp perftest/floor/fabric_floors.cpp"
  fabric=$(pkg-config --cflags --libs libfabric)
fi
# Objects first, so that a change of one file recompiles one file. -iquote: the library's shmem.h must be found, not ours.
objects=$output.objects
mkdir -p "$objects"
for source in $sources; do
  object=$objects/$(echo "$source" | tr / _).o
  if [ -f "$object" ] && [ -z "$(find perftest \( -name '*.h' -o -path "$source" \) -newer "$object")" ]; then
    continue
  fi
  echo "$source"
  "$compiler" -std=c++20 -O2 -g -Wall -Wextra -Wshadow -iquote . -c "$source" -o "$object" "$@"
done
# shellcheck disable=SC2086
"$compiler" "$objects"/*.o -o "$output" $fabric "$@"
