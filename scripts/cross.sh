#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds for 64-bit ARM with Debian's cross compiler, without CUDA and MPI, and runs tests under QEMU:
#   scripts/cross.sh [--install] [--build-only] [CTEST_ARGUMENT...]
#     --install        the compiler and QEMU by apt-get first (needs root)
#     --build-only     no tests
#     CTEST_ARGUMENT   which tests run, instead of those that tests/cross_tests.txt leaves
# The libraries of that machine are Debian packages, unpacked under build/cross/sysroot; this machine's own packages stay
# as they are. PEs that oshrun starts are programs of that machine, so the kernel must know QEMU: as root the script
# tells it (binfmt_misc) and takes that back at its end.
set -euo pipefail
cd "$(dirname "$0")/.."

tools=(g++-aarch64-linux-gnu qemu-user-static)
packages=(libc6-dev libstdc++-12-dev libfabric-dev libhwloc-dev libpmix-dev libgtest-dev libgmock-dev libcli11-dev nlohmann-json3-dev)
build=build/cross
sysroot=$PWD/$build/sysroot

say() { printf 'cross: %s\n' "$*"; }
refuse() {
  say "$*" >&2
  exit 2
}

build_only=''
while [ $# -gt 0 ]; do
  case $1 in
    --install) apt-get install -y --no-install-recommends "${tools[@]}" ;;
    --build-only) build_only=yes ;;
    --help)
      sed -n '3,11p' "$0"
      exit 0
      ;;
    *) break ;;
  esac
  shift
done
for tool in aarch64-linux-gnu-g++ qemu-aarch64-static apt-get dpkg-deb; do
  command -v "$tool" >/dev/null || refuse "no $tool: apt-get install ${tools[*]}"
done

# ---- libraries of that machine --------------------------------------------------------------------------------------
# apt with a state of its own, in which nothing is installed yet: so it fetches what the packages need, too.
apt=(apt-get -qq -o APT::Architecture=arm64 -o APT::Architectures::=arm64 -o APT::Install-Recommends=false -o APT::Sandbox::User=root
  -o Dir::State="$PWD/$build/apt/state" -o Dir::State::status="$PWD/$build/apt/status" -o Dir::Cache="$PWD/$build/apt/cache")
unpack_libraries() {
  mkdir -p "$build"/apt/{state/lists/partial,cache/archives/partial} "$sysroot"/usr/{bin,sbin,lib}
  : >"$build/apt/status"
  "${apt[@]}" update
  "${apt[@]}" install --download-only -y "${packages[@]}" >/dev/null
  local folder archive
  for folder in bin sbin lib; do ln -sfn "usr/$folder" "$sysroot/$folder"; done
  for archive in "$build"/apt/cache/archives/*.deb; do
    dpkg-deb --fsys-tarfile "$archive" | tar -x --keep-directory-symlink -C "$sysroot"
  done
  touch "$build/sysroot.complete"
}
if [ ! -e "$build/sysroot.complete" ]; then
  say "fetching ${packages[*]} for arm64"
  unpack_libraries
fi

# ---- the build ------------------------------------------------------------------------------------------------------
cmake -S . -B "$build/release" -G Ninja --toolchain cmake/toolchains/aarch64-linux-gnu.cmake -DRAILSHMEM_SYSROOT="$sysroot" \
  -DCMAKE_BUILD_TYPE=Release -DRAILSHMEM_BATCHES=ON -DRAILSHMEM_CUDA=OFF -DRAILSHMEM_MPI=OFF -DRAILSHMEM_PYTHON=OFF -DRAILSHMEM_WERROR=ON
cmake --build "$build/release" --parallel "$(nproc)"
say "built: $(file -b "$(readlink -f "$build"/release/librailshmem.so)" | cut -d, -f1-2)"
[ -z "$build_only" ] || exit 0

# ---- tests ----------------------------------------------------------------------------------------------------------
binfmt=/proc/sys/fs/binfmt_misc
register_qemu() {
  [ -e $binfmt/register ] || mount -t binfmt_misc binfmt_misc $binfmt
  # The ELF header of a program or library of that machine; F: the kernel keeps QEMU open, P: it hands over argv[0].
  printf '%s' ':railshmem-aarch64:M::\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00:\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff:'"$(command -v qemu-aarch64-static)"':F' \
    >$binfmt/register
}
if ! grep -qs interpreter $binfmt/*aarch64*; then
  [ "$(id -u)" -eq 0 ] || refuse "the kernel does not know QEMU for arm64: install binfmt-support, or run this as root"
  register_qemu
  trap 'echo -1 >$binfmt/railshmem-aarch64' EXIT
fi
export QEMU_LD_PREFIX=$sysroot
run() { ctest --test-dir "$build/release" --parallel "$((2 * $(nproc)))" --timeout 300 --output-on-failure "$@"; }
if [ $# -gt 0 ]; then
  run "$@"
else
  left_out=$(sed -e '/^#/d' -e '/^$/d' tests/cross_tests.txt | paste -sd '|')
  status=0
  run --exclude-regex "^($left_out)\$" --label-regex '^unit$' || status=1
  run --exclude-regex "^($left_out)\$" --label-regex '^conformance$' --tests-regex '[.](p2p|shm|tcp_rxm)[.]2$' || status=1
  exit $status
fi
