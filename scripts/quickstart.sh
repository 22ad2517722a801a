#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# From a fresh Debian or Ubuntu to two PEs that exchange data:
#   scripts/quickstart.sh [--no-install | --installed]
# Installs the packages that are missing (unless --no-install), builds into build/release, and measures put bandwidth
# between two PEs of this machine, through shared memory and through libfabric's TCP. --installed only measures, with the
# oshrun and the shmem_perf that PATH leads to.
set -eu
cd "$(dirname "$0")/.."

install=yes build=yes
for argument; do
  case $argument in
    --no-install) install= ;;
    --installed) install='' build='' ;;
    *)
      sed -n '3,7p' "$0" >&2
      exit 2
      ;;
  esac
done

step() { printf '\n== %s\n' "$*"; }

if [ -n "$install" ]; then
  step "packages"
  scripts/install_packages.sh build
fi
if [ -n "$build" ]; then
  scripts/check_cmake.sh

  step "build"
  cmake --preset release -DRAILSHMEM_TESTS=OFF
  cmake --build build/release --parallel "$(nproc)"
  PATH=$PWD/build/release/bin:$PWD/build/release/perftest:$PATH
fi

step "put bandwidth between 2 PEs, load/store (p2p)"
SHMEM_TRANSPORT=p2p oshrun -n 2 --timeout 300 shmem_perf put_bw --validate

step "put bandwidth between 2 PEs, libfabric over TCP (ofi, tcp)"
SHMEM_TRANSPORT=ofi SHMEM_OFI_PROVIDER=tcp oshrun -n 2 --timeout 300 shmem_perf put_bw --validate

step "RailSHMEM works: 2 PEs, both transports, every byte checked"
