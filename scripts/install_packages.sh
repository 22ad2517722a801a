#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Installs what RailSHMEM needs from Debian's or Ubuntu's archive:
#   scripts/install_packages.sh quickstart   what scripts/quickstart.sh needs: no MPI
#   scripts/install_packages.sh build   to build and run, also under mpirun
#   scripts/install_packages.sh test    also what the tests use
# Does nothing when everything is there. Packages that a release lacks and that are optional are left out.
set -eu

needed="cmake ninja-build g++ pkg-config libfabric-dev libhwloc-dev libcli11-dev nlohmann-json3-dev python3"
optional="libopenmpi-dev openmpi-bin libmpich-dev mpich libpmix-dev"
case ${1:-} in
  quickstart) optional= ;;
  build) ;;
  test)
    needed="$needed libgtest-dev libgmock-dev binutils git"
    optional="$optional ccache clang-19 libclang-rt-19-dev clang-22 clangd codespell ruby-mdl python3-markdown-it shellcheck clang-format-14 clang-tidy iproute2 gdb abigail-tools"
    optional="$optional python3-matplotlib python3-venv python3-dev make autoconf automake environment-modules debootstrap"
    ;;
  *)
    sed -n '3,7p' "$0" >&2
    exit 2
    ;;
esac

if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
  echo "this is neither Debian nor Ubuntu; please install the like of: $needed $optional" >&2
  exit 0
fi

installed() {
  dpkg-query -W -f '${Status}' "$1" 2>/dev/null | grep -q 'install ok installed'
}
# A tool from elsewhere, such as a newer cmake, does as well as its package.
present() {
  case $1 in
    cmake | g++ | python3 | pkg-config | ccache | codespell | shellcheck | git) command -v "$1" >/dev/null || installed "$1" ;;
    ninja-build) command -v ninja >/dev/null ;;
    environment-modules) installed environment-modules || installed lmod ;; # they exclude each other
    *) installed "$1" ;;
  esac
}
absent() {
  for package; do
    if ! present "$package"; then printf ' %s' "$package"; fi
  done
}

# shellcheck disable=SC2086
missing_needed=$(absent $needed)
# shellcheck disable=SC2086
missing_optional=$(absent $optional)
if [ -z "$missing_needed$missing_optional" ]; then
  echo "packages: everything is there"
  exit 0
fi

as_root=
if [ "$(id -u)" -ne 0 ]; then
  if command -v sudo >/dev/null; then
    as_root="sudo"
  elif [ -n "$missing_needed" ]; then
    echo "these packages are missing, and there is no sudo to install them with:$missing_needed" >&2
    exit 1
  else
    echo "packages: without (no sudo to install them with):$missing_optional"
    exit 0
  fi
fi
apt_get() {
  $as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=120 "$@"
}

if ! apt_get update; then
  if [ -n "$missing_needed" ]; then
    echo "apt-get update failed; these packages are missing:$missing_needed" >&2
    exit 1
  fi
  echo "packages: without (apt-get update failed):$missing_optional"
  exit 0
fi
found=
for package in $missing_optional; do
  if [ -n "$(apt-cache madison "$package" 2>/dev/null)" ]; then
    found="$found $package"
  else
    echo "packages: this release has no $package; going on without it"
  fi
done
if [ -z "$missing_needed$found" ]; then exit 0; fi
echo "packages: installing$missing_needed$found"
# shellcheck disable=SC2086
apt_get install -y --no-install-recommends $missing_needed $found >/dev/null
