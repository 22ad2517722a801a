#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A release tarball is the same at each run, has all that scripts/gen_api.py writes, and builds where no Python is found: the library, the
# launcher, and an example, which runs. Usage: try_tarball.sh SOURCE_DIR BUILD_DIR CMAKE WORK. WORK keeps its place, so that a
# compiler cache finds the objects again. Exit 77: the sources are no git checkout.
set -euo pipefail
source_dir=$1 build_dir=$2 cmake=$3 work=$4
fail() {
  echo "FAILED: $*"
  exit 1
}
git -C "$source_dir" rev-parse HEAD >/dev/null 2>&1 || {
  echo "SKIPPED: $source_dir is no git checkout"
  exit 77
}
rm -rf "$work"
mkdir -p "$work/tools"
for time in first second; do
  "$cmake" -DOUT="$work/$time" -DMAN="$build_dir/man" -P "$source_dir/cmake/dist.cmake"
done
tarball=$(echo "$work"/first/railshmem-*.tar.gz)
cmp "$tarball" "$work/second/$(basename "$tarball")" || fail "two runs make different tarballs"
tar -x -f "$tarball" -C "$work"
unpacked=$work/$(basename "$tarball" .tar.gz)
for file in include/pshmem.h src/api/entries/rma.cpp docs/reference/rma.md man/man1/oshrun.1 man/man3/shmem_put.3; do
  [ -e "$unpacked/generated/$file" ] || fail "the tarball lacks generated/$file"
done

# Any Python that the build calls says so and fails.
for name in python python3 python3.{9..14}; do
  printf '#!/bin/sh\necho called >>"%s"\nexit 1\n' "$work/python_was_called" >"$work/tools/$name"
done
chmod +x "$work"/tools/*
export PATH=$work/tools:$PATH
# How fast the code is does not matter here.
options=(-DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS_RELEASE=-O0 -DCMAKE_C_FLAGS_RELEASE=-O0 -DRAILSHMEM_BATCHES=ON)
for part in TESTS EXAMPLES PERFTEST PYTHON CUDA MPI PMIX OFI BITCODE; do options+=("-DRAILSHMEM_$part=OFF"); done
"$cmake" -S "$unpacked" -B "$work/build" -G Ninja "${options[@]}" >"$work/log" 2>&1 || { cat "$work/log"; fail "it does not configure"; }
! grep -E '^_?Python3?_EXECUTABLE:[A-Z]*=/' "$work/build/CMakeCache.txt" || fail "CMake has looked for a Python"
"$cmake" --build "$work/build" --target railshmem oshrun >"$work/log" 2>&1 || { tail -n 40 "$work/log"; fail "it does not build"; }
"$cmake" -E rm -f "$work/hello"
cc -std=c11 "$unpacked/examples/01_hello.c" -I "$work/build/include" -o "$work/hello" -L "$work/build" -lrailshmem "-Wl,-rpath,$work/build"
timeout 60 "$work/build/bin/oshrun" -n 2 "$work/hello"
[ ! -e "$work/python_was_called" ] || fail "the build has called a Python"
rm -rf "$work/first" "$work/second"
