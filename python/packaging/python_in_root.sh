#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Tries the Python package in a bare Debian, made by debootstrap:
#   scripts/python.sh root [OPTION]... [SUITE]   SUITE: bookworm (default), trixie, ...
#     --checkout      instead of a wheel: scripts/install_packages.sh build, then `pip install ./python` from the commit that is checked out
#     --cached DIR    keeps packages, and with --checkout the compiler cache, in DIR for the next run
# The root gets Python and venv, and no CUDA, libfabric, hwloc and MPI. There a wheel of build/python/wheels (scripts/python.sh wheel) is
# installed; `python -m railshmem.info`, the first program of docs/python.md by two PEs, and the numpy tests of python/tests/pes by two PEs run.
# Needs root and debootstrap; exit status 77 says that one of both is missing. Python packages come from PyPI, by this machine's pip.
set -euo pipefail
cd "$(dirname "$0")/../.."
here=$PWD

say() { printf 'python.sh root: %s\n' "$*"; }
skip() {
  say "SKIPPED: $*"
  exit 77
}
usage() {
  sed -n '4,6p' "$0" >&2
  exit 2
}

suite=bookworm checkout='' cached=()
while [ $# -gt 0 ]; do
  case $1 in
    --checkout) checkout=yes ;;
    --cached)
      cached=(--cached "${2:?--cached needs a directory}")
      shift
      ;;
    -*) usage ;;
    *) suite=$1 ;;
  esac
  shift
done
[ "$(id -u)" -eq 0 ] || skip "a root of its own needs mounts: run it as root (sudo scripts/python.sh root $suite)"
command -v debootstrap >/dev/null || skip "no debootstrap: apt-get install debootstrap"
wheels=$here/build/python/wheels
[ -n "$checkout" ] || ls "$wheels"/*.whl >/dev/null 2>&1 || {
  say "there is no wheel in $wheels; build one for the root's Python: PYTHON=python3.11 scripts/python.sh wheel (bookworm has 3.11)" >&2
  exit 2
}

root=$(mktemp -d "${TMPDIR:-/var/tmp}/railshmem-python-$suite.XXXXXX")
tools=$(mktemp -d)
# Nothing is mounted there in this namespace: scripts/test_in_root.sh has its own.
trap 'rm -rf --one-file-system "$root" "$tools"' EXIT
# inside: runs the script on standard input in the root, at the sources of the commit
inside() { printf 'bash -c %q </dev/null\n' "$(cat)" | scripts/test_in_root.sh "$suite" --keep "$root" --shell "${cached[@]}"; }

inside <<'SCRIPT'
set -eu
export DEBIAN_FRONTEND=noninteractive
apt-get -qq update
apt-get -qq install -y --no-install-recommends python3 python3-venv >/dev/null
python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])' >/root/version
SCRIPT
version=$(cat "$root/root/version")

# The root may lack what this machine needs to reach PyPI (certificates, a proxy), so packages are fetched outside.
python3 -m venv "$tools/venv" || skip "python3 -m venv failed; on Debian and Ubuntu install python3-venv"
fetch() { "$tools/venv/bin/python3" -m pip --quiet --disable-pip-version-check download --only-binary :all: --python-version "$version" --dest "$root/root/wheels" "$@"; }
fetch 'numpy>=1.22' 'pytest>=7'
if [ -z "$checkout" ]; then
  minor=${version#*.}
  tag=cp3$((minor < 12 ? minor : 12)) # the stable ABI begins with 3.12
  if ! cp "$wheels"/railshmem-*-"$tag"-*.whl "$root/root/wheels/" 2>/dev/null; then
    say "$suite has Python $version, and $wheels has no wheel for it; build one: PYTHON=python3.$minor scripts/python.sh wheel" >&2
    exit 2
  fi
else
  fetch 'scikit-build-core>=0.11' 'nanobind>=2.5' pathspec
fi
say "Python $version; packages: $(cd "$root/root/wheels" && echo *.whl)"

if [ -z "$checkout" ]; then
  inside <<'SCRIPT'
set -eu
for library in libcuda libfabric libhwloc libmpi libmpich libpmix; do
  ! ls -d /usr/lib/*/"$library".so* /usr/lib/"$library".so* 2>/dev/null || {
    echo "this root is not bare: it has $library" >&2
    exit 1
  }
done
python3 -m venv /root/venv
/root/venv/bin/pip --quiet install --no-index --find-links /root/wheels railshmem numpy pytest
SCRIPT
else
  inside <<'SCRIPT'
set -eu
scripts/install_packages.sh build
DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends python3-dev $(command -v ccache >/dev/null || echo ccache) >/dev/null
python3 -m venv /root/venv
export CMAKE_BUILD_PARALLEL_LEVEL="${JOBS:-$(nproc)}"
/root/venv/bin/pip --quiet install --no-index --find-links /root/wheels numpy pytest
/root/venv/bin/pip install --no-index --find-links /root/wheels ./python
SCRIPT
fi

inside <<'SCRIPT'
set -eu
mkdir /tmp/programs
sed -n '/^```python$/,/^```$/p' docs/python.md | sed '1d; /^```$/,$d' >/tmp/programs/hello.py
cp -R python/tests /tmp/programs/
cd /tmp/programs # where no folder named python or railshmem is
export PATH=/root/venv/bin:$PATH
python -W error -m railshmem.info
python -c 'import railshmem; print(railshmem.get_include()); print(railshmem.get_cmake_dir())'
timeout 60 oshrun -n 2 python hello.py | sort | tee said
printf 'PE %d: my left neighbour is PE %d\n' 0 1 1 0 | cmp - said
timeout 300 tests/run.sh "$(command -v python)" "$(command -v oshrun)" pes 2
SCRIPT
say "$suite: passed: ${checkout:+pip install ./python, }the first program and the numpy tests by two PEs"
