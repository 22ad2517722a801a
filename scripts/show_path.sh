#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Shows the functions on the path of a put to the NIC, as they call each other while programs of tests/path run:
#   scripts/show_path.sh [BUILD]                prints a table for each path, as Markdown
#   scripts/show_path.sh --write PAGE [BUILD]   writes the tables between the marks of a page, docs/architecture.md
#   scripts/show_path.sh --check PAGE [BUILD]   fails where the page shows other tables, or where a path is too long
# BUILD (default build/dev) is a build of type Debug: cmake --preset dev -DRAILSHMEM_TESTS=ON && cmake --build build/dev --target tests_dev
# Exit 77: this machine lacks something that is needed. Limits, and what counts as a function: tests/path/show_path.py.
set -euo pipefail
usage() {
  sed -n '4,6p' "$0" >&2
  exit 2
}
mode=--print
page=''
case ${1:-} in
  --write | --check)
    mode=$1
    [ $# -ge 2 ] || usage
    page=$(realpath "$2")
    shift 2
    ;;
  -*) usage ;;
esac
[ $# -le 1 ] || usage
root=$(cd "$(dirname "$0")/.." && pwd -P)
build=$(realpath -m "${1:-$root/build/dev}")

skip() {
  echo "SKIPPED: $*"
  exit 77
}
command -v gdb >/dev/null || skip "no gdb (Debian and Ubuntu: gdb)"
gdb -nx -batch -ex 'python print("yes")' 2>/dev/null | grep -q yes || skip "this gdb has no Python"
gdb -nx -batch -ex run --args true 2>/dev/null | grep -q 'exited normally' || skip "gdb may not run programs here (ptrace)"

oshrun=$build/bin/oshrun
host_put=$build/tests/path/host_put
kernel_put=$build/tests/path/emulated_kernel_put
for program in "$oshrun" "$host_put" "$kernel_put"; do
  [ -x "$program" ] || {
    echo "show_path.sh: there is no $program; build it first: cmake --build $build --target tests_dev" >&2
    exit 1
  }
done

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export PATH_ROOT=$root PATH_STACKS=$scratch/stacks PATH_TRACER=$root/tests/path/trace.py
export DEBUGINFOD_URLS=''  # gdb shall not ask the net for the sources of other libraries
# Leaks cannot be looked for in a process that is traced.
export ASAN_OPTIONS="detect_leaks=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}"
export SHMEM_SYMMETRIC_SIZE=48M SHMEM_NODE_SIZE=1

# trace PROGRAM PATH...: two PEs with only the network between them, the first one in gdb. A PATH is its name, the pattern
# of its first function, and its last function.
trace() {
  local program=$1
  shift
  PATH_WANTED=$(printf '%s\n' "$@")
  export PATH_WANTED
  # shellcheck disable=SC2016  # for the shell of each PE
  "$oshrun" -n 2 --timeout 100 -x 'SHMEM_OFI_PROVIDER=tcp;ofi_rxm' sh -c '
    [ "${RAILSHMEM_LAUNCHER_PE:-}" = 0 ] || exec "$@"
    exec gdb -nx -batch -return-child-result -x "$PATH_TRACER" --args "$@"' sh "$program" >"$scratch/output" 2>&1 && return
  if grep -q "SHMEM_OFI_PROVIDER is '[^']*'; available:" "$scratch/output"; then skip "no provider tcp;ofi_rxm"; fi
  cat "$scratch/output" >&2
  echo "show_path.sh: $program failed" >&2
  exit 1
}

trace "$host_put" 'host ^p?shmem_long_put fi_writemsg'
# The CPU reaches the memory of these GPUs, so rails may do so, too, as rails of RDMA NICs do.
export RAILSHMEM_FAKE_GPUS=2 SHMEM_TEST_REACHED_GPUS=1 SHMEM_WAIT_TIMEOUT=60
export LD_LIBRARY_PATH=$build/tests/gpu/fake_driver/driver/fake_cuda${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
# On the GPU store_pair() is the instruction that stores.
trace "$kernel_put" 'kernel ^shmem_long_put railshmem::portable::store_pair' 'proxy \bProxyLoop<.*>::run fi_writemsg'
python3 "$root/tests/path/show_path.py" "$PATH_STACKS" "$mode" "$page"
