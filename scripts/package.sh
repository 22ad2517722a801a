#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds packages of the sources (docs/packages.md) and tries them.
#   scripts/package.sh deb [SUITE]   Debian packages. They are built on this machine and tried in a bare root of its own release;
#                                    with another SUITE (trixie, ...) they are built in such a root and tried in a second one
#   scripts/package.sh rpm           RPM packages. They are built on this machine, checked by rpmlint, installed into a folder and tried
#   scripts/package.sh container     Images of the Containerfile, built by buildah on a bare root instead of a registry's image; they
#                                    run their default command, and build a program and run it
#   scripts/package.sh conda [CHANNEL [MPI...]]   Conda packages, built by rattler-build (PyPI's, in an environment of its own) with the
#                                    packages of CHANNEL (default: conda-forge) and tested in an environment with nothing else.
#                                    stand-ins: empty packages in place of a channel's, and this machine's compilers and libraries.
#                                    MPI: nompi (the default), openmpi, mpich
# BUILD   build folder     (default: build/package); the packages are in $BUILD/packages.SUITE, packages.rpm or packages.conda
# CACHED  a folder that keeps downloaded packages and the compiler cache of roots for the next run
# PYTHON  runs rattler-build         (default: python3)
# Roots need root and debootstrap. Exit status 77: a tool or root is missing, a message names it, and nothing was built.
set -euo pipefail
cd "$(dirname "$0")/.."
build=${BUILD:-build/package}
say() { printf 'package.sh: %s\n' "$*"; }
usage() {
  sed -n '4,16p' "$0" >&2
  exit 2
}
skip() {
  say "SKIPPED: $*"
  exit 77
}

# build_packages DEB|RPM: a build for the prefix /usr, which decides where libraries lie.
build_packages() {
  local folders=()
  if [ "$1" = RPM ]; then
    folders=(-DCMAKE_INSTALL_LIBDIR="$(rpm --eval %_lib)" -DCMAKE_INSTALL_BINDIR=bin)
  else # a folder of their own for programs, because Open MPI's package has other programs of their names
    local multiarch
    multiarch=$(dpkg-architecture -qDEB_HOST_MULTIARCH)
    folders=(-DCMAKE_INSTALL_LIBDIR="lib/$multiarch" -DCMAKE_INSTALL_BINDIR="lib/$multiarch/railshmem/bin")
  fi
  cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX=/usr "${folders[@]}" -DCPACK_GENERATOR="$1" \
    -DRAILSHMEM_TESTS=OFF -DRAILSHMEM_EXAMPLES=OFF -DRAILSHMEM_PYTHON=OFF
  cmake --build "$build"
  rm -rf "$build/packages"
  (cd "$build" && cpack)
}

# in_root ROOT SUITE: runs the script on standard input in the root, at the sources of the commit.
in_root() {
  local cached=()
  [ -z "${CACHED:-}" ] || cached=(--cached "$CACHED")
  printf 'bash -euc %q </dev/null\n' "$(cat)" | scripts/test_in_root.sh "$2" --keep "$1" --shell ${cached[@]+"${cached[@]}"}
}

try_debs() {
  local suite=$1 here root
  here=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
  [ "$(id -u)" -eq 0 ] || skip "a root of its own needs mounts: run it as root"
  command -v debootstrap >/dev/null || skip "no debootstrap: apt-get install debootstrap"
  root=$(mktemp -d "${TMPDIR:-/var/tmp}/railshmem-package-$suite.XXXXXX")
  # Nothing is mounted there in this namespace: scripts/test_in_root.sh has its own.
  # shellcheck disable=SC2064
  trap "rm -rf --one-file-system '$root' '$root.build'" EXIT
  if [ "$suite" != "$here" ]; then
    say "building in a root of $suite"
    mkdir "$root.build"
    in_root "$root.build" "$suite" <<'SCRIPT'
scripts/install_packages.sh build
apt-get -qq install -y --no-install-recommends dpkg-dev file ccache >/dev/null
BUILD=build/package scripts/package.sh build-only
SCRIPT
    rm -rf "$build/packages.$suite"
    mkdir -p "$build"
    cp -R "$root.build/railshmem/build/package/packages" "$build/packages.$suite"
  else
    build_packages DEB
    rm -rf "$build/packages.$suite"
    cp -R "$build/packages" "$build/packages.$suite"
  fi
  say "trying in a bare root of $suite"
  : | in_root "$root" "$suite"
  cp -R "$build/packages.$suite" "$root/packages"
  in_root "$root" "$suite" <<<'tests/install/try_packages.sh /packages /railshmem'
  say "$suite: $(find "$build/packages.$suite" -maxdepth 1 -type f -name '*.deb' | wc -l) packages in $build/packages.$suite, installed and tried"
}

# try_rpms: built and tried on this machine, because a root of a system that has rpm cannot be made by Debian's tools.
try_rpms() {
  for tool in rpmbuild rpmlint; do
    command -v $tool >/dev/null || skip "no $tool: apt-get install rpm rpmlint"
  done
  [ "$(id -u)" -eq 0 ] || skip "rpm changes its root: run it as root"
  build_packages RPM
  rm -rf "$build/packages.rpm"
  cp -R "$build/packages" "$build/packages.rpm"
  rpmlint --config cmake/packages/rpmlint.toml "$build"/packages.rpm/*.rpm
  tests/install/try_rpms.sh "$build/packages.rpm" "$PWD"
  say "$(find "$build/packages.rpm" -maxdepth 1 -type f -name '*.rpm' | wc -l) packages in $build/packages.rpm, installed and tried"
}

try_container() {
  local suite root container
  suite=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
  [ "$(id -u)" -eq 0 ] || skip "a root of its own needs mounts: run it as root"
  for tool in buildah debootstrap; do
    command -v $tool >/dev/null || skip "no $tool: apt-get install $tool"
  done
  root=$(mktemp -d "${TMPDIR:-/var/tmp}/railshmem-package-$suite.XXXXXX")
  # shellcheck disable=SC2064
  trap "rm -rf --one-file-system '$root'" EXIT
  : | in_root "$root" "$suite"
  rm -rf --one-file-system "$root/railshmem"
  container=$(buildah from scratch)
  buildah add --quiet "$container" "$root" / >/dev/null
  buildah commit --quiet --rm "$container" localhost/railshmem-base >/dev/null
  local options=(--isolation chroot --build-arg BASE=localhost/railshmem-base --layers)
  buildah bud "${options[@]}" --tag localhost/railshmem .
  buildah bud "${options[@]}" --target build --tag localhost/railshmem-build .
  tests/install/try_container.sh localhost/railshmem localhost/railshmem-build
}

try_conda() {
  local tools=$build/conda-tools
  command -v patchelf >/dev/null || skip "no patchelf: apt-get install patchelf"
  [ -x "$tools/bin/python" ] || "${PYTHON:-python3}" -m venv "$tools" || skip "no venv: apt-get install python3-venv"
  "$tools/bin/pip" install -q py-rattler-build==0.73.0
  rm -rf "$build/packages.conda"
  git archive --prefix=sources/ HEAD | tar x -C "$tools" # without builds
  "$tools/bin/python" -W ignore tests/install/conda_package.py "$tools/sources" "$build/packages.conda" "${1:-https://conda.anaconda.org/conda-forge}" "${@:2}"
  say "packages in $build/packages.conda, built and tested"
}

case ${1:-} in
  deb)
    # shellcheck disable=SC1091
    try_debs "${2:-$(. /etc/os-release && echo "$VERSION_CODENAME")}"
    ;;
  rpm) try_rpms ;;
  container) try_container ;;
  conda) try_conda "${@:2}" ;;
  build-only) build_packages DEB ;; # in a root
  *) usage ;;
esac
