#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What rattler-build runs in a copy of the sources, with PREFIX, BUILD_PREFIX, CPU_COUNT, CMAKE_ARGS and mpi (variants.yaml)
# in its environment.
set -eu

case ${mpi:-nompi} in nompi) with_mpi=OFF ;; *) with_mpi=ON ;; esac
# conda packages have no lib64. CMAKE_ARGS has several words.
# shellcheck disable=SC2086
cmake ${CMAKE_ARGS:-} -G Ninja -S . -B build/conda -DCMAKE_BUILD_TYPE=Release \
  -DCMAKE_INSTALL_PREFIX="$PREFIX" -DCMAKE_PREFIX_PATH="$PREFIX" -DCMAKE_INSTALL_LIBDIR=lib \
  -DRAILSHMEM_HWLOC=ON -DRAILSHMEM_OFI=ON -DRAILSHMEM_PMIX=ON -DRAILSHMEM_MPI=$with_mpi -DRAILSHMEM_CUDA=OFF \
  -DRAILSHMEM_BATCHES=ON -DRAILSHMEM_TESTS=OFF -DRAILSHMEM_EXAMPLES=OFF -DRAILSHMEM_PYTHON=OFF -DRAILSHMEM_BITCODE=OFF
cmake --build build/conda --parallel "${CPU_COUNT:-1}"
cmake --install build/conda

# The folder with the compilers goes after the build. Their names stay: conda's compilers put them into PATH.
if [ -n "${BUILD_PREFIX:-}" ]; then sed -i "s|$BUILD_PREFIX/bin/||g" "$PREFIX"/bin/osh*c* "$PREFIX"/bin/oshC*; fi
