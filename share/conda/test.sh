#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Tries the installed package: PREFIX names it, CC the compiler. Runs in a folder with the files that recipe.yaml lists.
set -eu

two() {
  oshrun -n 2 --timeout 60 "$@"
}
oshcc examples/01_hello.c -o hello
two ./hello
SHMEM_NODE_SIZE=1 two ./hello # as if each PE had a host of its own: by libfabric

export PKG_CONFIG_PATH="$PREFIX/lib/pkgconfig"
# shellcheck disable=SC2046
"${CC:-cc}" examples/01_hello.c -o by_pkg_config $(pkg-config --cflags --libs railshmem)
two ./by_pkg_config

cmake -G Ninja -S tests/install/consumer -B by_cmake -DCMAKE_PREFIX_PATH="$PREFIX" -DEXAMPLE="$PWD/examples/02_ring.c"
cmake --build by_cmake
two by_cmake/consumer

two shmem_perf put_lat --sizes 8
