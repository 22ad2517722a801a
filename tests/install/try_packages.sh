#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Installs RailSHMEM's Debian packages into the system that it runs in, uses them and removes them. scripts/package.sh runs it
# in a bare root.
#   try_packages.sh FOLDER TREE     FOLDER: with the .deb files; TREE: the sources, for programs to build
set -euo pipefail
folder=$1 tree=$2
export DEBIAN_FRONTEND=noninteractive
step() { printf '== %s\n' "$*"; }
fail() {
  echo "FAILED: $*" >&2
  exit 1
}
# install PACKAGE...: ours from FOLDER, others from the archive. Ours come with what they depend on, and nothing recommended.
install() {
  local package wanted=()
  for package; do
    if compgen -G "$folder/${package}_*.deb" >/dev/null; then wanted+=("$folder/${package}"_*.deb); else wanted+=("$package"); fi
  done
  apt-get -q install -y --no-install-recommends "${wanted[@]}" >/tmp/apt.log 2>&1 || {
    tail -n 30 /tmp/apt.log >&2
    fail "apt-get install $*"
  }
}
apt-get -qq update

step "the launcher, the library and its benchmarks, without a compiler"
install railshmem librailshmem0 railshmem-perftest
command -v gcc >/dev/null && fail "a compiler came along"
shmem_info --version
oshrun.railshmem -n 2 --timeout 60 shmem_perf put_lat --sizes 8
if SHMEM_NODE_SIZE=1 oshrun.railshmem -n 2 --timeout 60 shmem_perf put_lat --sizes 8 >/tmp/without 2>&1; then
  fail "a network without librailshmem0-libfabric"
fi
grep -q libfabric /tmp/without || fail "the message without librailshmem0-libfabric does not name it: $(cat /tmp/without)"

step "networks by libfabric"
install librailshmem0-libfabric
SHMEM_NODE_SIZE=1 SHMEM_OFI_PROVIDER='tcp;ofi_rxm' oshrun.railshmem -n 2 --timeout 60 shmem_perf put_lat --sizes 8

step "programs: oshcc, CMake, pkg-config, man pages"
install librailshmem-dev railshmem-doc gcc g++ cmake make pkg-config man-db libc6-dev
work=$(mktemp -d)
cd "$work"
oshcc.railshmem "$tree/examples/01_hello.c" -o hello
oshrun.railshmem -n 2 --timeout 60 ./hello
# shellcheck disable=SC2046
gcc "$tree/examples/01_hello.c" -o by_pkg_config $(pkg-config --cflags --libs railshmem)
oshrun.railshmem -n 2 --timeout 60 ./by_pkg_config >/dev/null
cmake -S "$tree/tests/install/consumer" -B consumer -DEXAMPLE="$tree/examples/02_ring.c" >/dev/null
cmake --build consumer >/dev/null
oshrun.railshmem -n 2 --timeout 60 consumer/consumer
for page in oshrun oshcc shmem_put shmem_long_put railshmem; do man -w $page >/dev/null || fail "man $page"; done

step "the module file"
install environment-modules
oshcc=$(. /usr/share/modules/init/bash && module use /usr/share/railshmem/modulefiles && module load railshmem && command -v oshcc)
case $oshcc in */railshmem/bin/oshcc) ;; *) fail "module load railshmem leads to '$oshcc'" ;; esac

# started BOOTSTRAP LAUNCHER...: the launcher starts two PEs, which find each other by that bootstrap.
started() {
  local bootstrap=$1
  shift
  SHMEM_BOOTSTRAP=$bootstrap timeout 120 "$@" ./hello | tee /tmp/hello.log
  grep -q 'of 2' /tmp/hello.log || fail "$* with SHMEM_BOOTSTRAP=$bootstrap did not start two PEs"
}
step "start by Open MPI: MPI, PMIx"
install librailshmem0-mpi-openmpi librailshmem0-pmix openmpi-bin
for bootstrap in mpi pmix; do started $bootstrap mpirun.openmpi --allow-run-as-root --oversubscribe -n 2; done

step "start by MPICH: MPI, PMI"
install librailshmem0-mpi-mpich mpich
for bootstrap in mpi pmi; do started $bootstrap mpiexec.mpich -n 2; done

step "removal"
mapfile -t ours < <(dpkg-query -W -f '${Package}\n' '*railshmem*')
apt-get -qq purge -y "${ours[@]}" >/dev/null
left=$(find /usr -iname '*railshmem*' -not -path '/usr/share/man/cat*' -not -path '/usr/src/*')
[ -z "$left" ] || fail "left behind: $left"
echo "packages: installed, used and removed: ${ours[*]}"
