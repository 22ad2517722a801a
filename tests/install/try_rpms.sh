#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Installs RailSHMEM's RPM packages into a folder, uses them from there and removes them. scripts/package.sh runs it, as root.
#   try_rpms.sh FOLDER TREE     FOLDER: with the .rpm files; TREE: the sources, for programs to build
# The libraries that the packages need are those of this machine, so rpm itself does not look for packages that have them.
set -euo pipefail
folder=$1 tree=$2
step() { printf '== %s\n' "$*"; }
fail() {
  echo "FAILED: $*" >&2
  exit 1
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/root prefix=$work/root/usr
mkdir "$root"
in_root() { rpm --root "$root" --define '_dbpath /rpmdb' "$@"; }
unset LD_LIBRARY_PATH CPATH LIBRARY_PATH || true

step "each library that the packages need is provided by one of them or is on this machine"
here=$(/sbin/ldconfig -p)
provided=$(rpm -qp --provides "$folder"/*.rpm)
rpm -qp --requires "$folder"/*.rpm | sed -n 's/^\(lib[^(]*\)(.*/\1/p' | sort -u | while read -r library; do
  grep -q "^$library(" <<<"$provided" || grep -q "^[[:space:]]*$library " <<<"$here" || fail "nothing has $library"
done

step "installation"
in_root -i --nodeps "$folder"/*.rpm
mapfile -t ours < <(in_root -qa | sort)
echo "${ours[*]}"
[ "${#ours[@]}" -eq "$(find "$folder" -maxdepth 1 -type f -name '*.rpm' | wc -l)" ] || fail "not all packages are installed"
in_root -V --nodeps "${ours[@]}" || fail "files differ from those of the packages"

step "benchmarks, inside the host and over libfabric"
PATH=$prefix/bin:$PATH
[ "$(command -v oshrun)" = "$prefix/bin/oshrun" ] || fail "no oshrun in $prefix/bin"
shmem_info --version
oshrun -n 2 --timeout 60 shmem_perf put_lat --sizes 8
SHMEM_NODE_SIZE=1 SHMEM_OFI_PROVIDER='tcp;ofi_rxm' oshrun -n 2 --timeout 60 shmem_perf put_lat --sizes 8

step "programs: oshcc, CMake, pkg-config, man pages"
cd "$work"
libdir=$(rpm --eval %_lib)
export PKG_CONFIG_PATH=$prefix/$libdir/pkgconfig
oshcc "$tree/examples/01_hello.c" -o hello
oshrun -n 2 --timeout 60 ./hello
# shellcheck disable=SC2046
gcc "$tree/examples/01_hello.c" -o by_pkg_config $(pkg-config --cflags --libs railshmem)
oshrun -n 2 --timeout 60 ./by_pkg_config >/dev/null
# Debian's cmake does not look into lib64.
cmake -S "$tree/tests/install/consumer" -B consumer -DRailSHMEM_DIR="$prefix/$libdir/cmake/RailSHMEM" -DEXAMPLE="$tree/examples/02_ring.c" >/dev/null
cmake --build consumer >/dev/null
oshrun -n 2 --timeout 60 consumer/consumer
for page in oshrun oshcc shmem_put shmem_long_put railshmem; do man -M "$prefix/share/man" -w $page >/dev/null || fail "man $page"; done

step "removal"
in_root -e --nodeps "${ours[@]}"
left=$(find "$prefix" -not -type d)
[ -z "$left" ] || fail "left behind: $left"
echo "packages: installed, used and removed: ${ours[*]}"
