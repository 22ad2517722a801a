#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# From a fresh Debian or Ubuntu to two PEs that exchange data:
#   scripts/quickstart.sh [--no-install | --installed]
# Installs the packages that are missing (unless --no-install), builds into build/quickstart, and measures put bandwidth
# between two PEs of this machine, through shared memory and through libfabric's TCP. With a GPU and nvcc also a kernel
# puts to another PE. --installed only measures, with the oshrun and the shmem_perf that PATH leads to.
set -eu
cd "$(dirname "$0")/.."

install=yes build=yes
for argument; do
  case $argument in
    --no-install) install= ;;
    --installed) install='' build='' ;;
    *)
      sed -n '3,8p' "$0" >&2
      exit 2
      ;;
  esac
done
started=$(date +%s)
folder=build/quickstart

step() { printf '\n== %s\n' "$*"; }

# The compute capability of the first GPU, such as 90; empty where there is no GPU, or no nvcc to compile for it.
gpu_architecture() {
  command -v nvidia-smi >/dev/null || return 0
  command -v nvcc >/dev/null || [ -x "${CUDA_PATH:-/usr/local/cuda}/bin/nvcc" ] || return 0
  nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | sed -n '1s/[^0-9]//gp'
}

# Shows ninja's "[12/340] ..." lines as one line on a terminal, elsewhere as a line for each fifth; all go to a file.
progress() {
  if [ -t 1 ]; then terminal=1; else terminal=0; fi
  awk -v terminal="$terminal" -v log_file="$1" '
    { print > log_file }
    match($0, /^\[[0-9]+\/[0-9]+\]/) {
      split(substr($0, 2, RLENGTH - 2), done, "/")
      if (terminal) { printf "\r%d of %d files compiled", done[1], done[2] }
      else if (int(5 * done[1] / done[2]) > fifth) { fifth = int(5 * done[1] / done[2]); printf "%d %%\n", 20 * fifth }
      fflush()
    }
    END { if (terminal) print "" }'
}

build() {
  set -- -DRAILSHMEM_CUDA=OFF
  if [ -n "$gpu" ]; then
    set -- -DRAILSHMEM_CUDA=ON "-DRAILSHMEM_CUDA_ARCHITECTURES=$gpu" "-DRAILSHMEM_KERNELS_FOR=$gpu" -DRAILSHMEM_KERNEL_EFFORT=3 -DRAILSHMEM_EXAMPLES=ON
  fi
  cmake --preset quickstart "$@" >"$folder.configure" 2>&1 || {
    cat "$folder.configure" >&2
    return 1
  }
  # Everything that is installed; with nvcc the job's own parts, since the other kernels take many minutes.
  set --
  if [ -n "$gpu" ]; then set -- --target railshmem oshrun shmem_perf example_device_ring; fi
  { cmake --build "$folder" --parallel "$cores" "$@" 2>&1 || : >"$folder.failed"; } | progress "$folder.log"
  if [ -e "$folder.failed" ]; then
    grep -E 'error|FAILED|undefined' -A 5 "$folder.log" | head -n 60 >&2
    echo "quickstart: the build failed; $folder.log has all of it. docs/troubleshooting.md lists known causes." >&2
    return 1
  fi
}

if [ -n "$build" ]; then
  cores=$(nproc)
  gpu=$(gpu_architecture)
  echo "quickstart: about $((1 + 6 / cores)) to $((2 + 8 / cores)) minutes on $cores cores: packages, build, two runs${gpu:+, a kernel for sm_$gpu}"
fi
if [ -n "$install" ]; then
  step "packages"
  scripts/install_packages.sh quickstart
fi
if [ -n "$build" ]; then
  scripts/check_cmake.sh
  step "build (library, plug-in for libfabric, oshrun, shmem_perf)"
  mkdir -p build
  rm -f "$folder.failed"
  build
  PATH=$PWD/$folder/bin:$PWD/$folder/perftest:$PATH
fi

step "put bandwidth between 2 PEs, load/store (p2p)"
SHMEM_TRANSPORT=p2p oshrun -n 2 --timeout 300 shmem_perf put_bw --validate

step "put bandwidth between 2 PEs, libfabric over TCP (ofi, tcp)"
SHMEM_TRANSPORT=ofi SHMEM_OFI_PROVIDER=tcp oshrun -n 2 --timeout 300 shmem_perf put_bw --validate

if [ -n "$build" ] && [ -n "$gpu" ]; then
  step "a kernel puts to the next PE"
  oshrun -n 2 --timeout 300 "$folder/examples/device_ring"
fi

step "RailSHMEM works: 2 PEs, both transports, every byte checked ($(($(date +%s) - started)) s)"
[ -n "$build" ] || exit 0
if [ -n "$gpu" ]; then complete="cmake --build $folder && "; else complete=; fi
cat <<END
Next:
  ${complete}cmake --install $folder --prefix "\$HOME/railshmem"
  export PATH="\$HOME/railshmem/bin:\$PATH" PKG_CONFIG_PATH="\$HOME/railshmem/lib/pkgconfig"
  oshcc examples/01_hello.c -o hello && oshrun -n 4 ./hello
  docs/tutorials/01-hello.md      the first of ten tutorials
  cmake --preset release && cmake --build build/release    everything, with mpirun and with nvcc's kernels (scripts/install_packages.sh build)
  scripts/test.sh                 all tests
END
