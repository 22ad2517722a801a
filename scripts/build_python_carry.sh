#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Collects in one folder what a machine with GPUs needs for the Python tests of gpu_check.sh, beside its own Python, torch and
# pytest: the package railshmem with its module, the libraries, plug-ins and the launcher.
#   scripts/build_python_carry.sh [PYTHON]   PYTHON: of the version that the machine has, with headers; from 3.12 on any later
#                                            one will do there (default: python3)
# BUILD  the configured build to take ours from   (default: build/release)
# CARRY  the folder to fill                       (default: build/gpu-carry)
# JOBS   at once                                  (default: 1)
# NANOBIND_PYTHON  a Python that has nanobind     (default: that of build/python/venv, see scripts/python.sh --install)
# pytest is taken along from PyPI where that can be reached.
set -eu
cd "$(dirname "$0")/.."
build=${BUILD:-build/release}
carry=${CARRY:-build/gpu-carry}
python=${1:-python3}
nanobind_python=${NANOBIND_PYTHON:-build/python/venv/bin/python3}
if [ ! -f "$build/CMakeCache.txt" ]; then
  echo "build_python_carry.sh: $build is not configured; run cmake --preset release, or set BUILD" >&2
  exit 1
fi
nanobind=$("$nanobind_python" -c 'import nanobind, pathlib; print(pathlib.Path(nanobind.__file__).parent)') || {
  echo "build_python_carry.sh: $nanobind_python has no nanobind; run scripts/python.sh --install" >&2
  exit 1
}
headers=$("$python" -c 'import sysconfig; print(sysconfig.get_paths()["include"])')
# The stable ABI begins with 3.12: one module serves that version and all later ones.
suffix=$("$python" -c 'import sys, sysconfig; print(".abi3.so" if sys.version_info >= (3, 12) else sysconfig.get_config_var("EXT_SUFFIX"))')
stable=''
[ "$suffix" != .abi3.so ] || stable=-DPy_LIMITED_API=0x030C0000

targets=$(cmake --build "$build" --target help)
plugins=$(echo "$targets" | grep -o '^librailshmem-[a-z-]*\.so' | grep -v -e overlap -e moe || true)
device=''
! echo "$targets" | grep -Eq '(^|[ /])railshmem_device(:|$)' || device=railshmem_device
# shellcheck disable=SC2016,SC2086
cmake --build "$build" --parallel "${JOBS:-1}" --target railshmem railshmem_moe oshrun $plugins $device
package=$carry/python/railshmem
rm -rf "$carry/python"
mkdir -p "$package" "$carry/bin" "$carry/lib/railshmem"
(cd python/railshmem && find . -name '*.py' -o -name '*.cpp' -o -name '*.h' -o -name py.typed) | while read -r file; do
  mkdir -p "$package/$(dirname "$file")"
  cp "python/railshmem/$file" "$package/$file"
done
cp -RL "$build/include" "$package/include"
# The device functions, for kernels of Triton and Numba.
mkdir -p "$package/lib/railshmem"
find "$build/railshmem" -name 'librailshmem_device.*' -exec cp {} "$package/lib/railshmem/" \;
[ -e "$package/lib/railshmem/librailshmem_device.bc" ] ||
  echo "build_python_carry.sh: SKIPPED: librailshmem_device.bc, which kernels of Triton need; it takes clang 19 or 20" >&2

# shellcheck disable=SC2016,SC2086
"${CXX:-c++}" -std=c++20 -O2 -DNDEBUG $stable -shared -fPIC -fvisibility=hidden -fno-strict-aliasing -ffunction-sections -fdata-sections \
  -Wl,--gc-sections -Wl,-s -I. "-I$build/include" -isystem "$headers" -isystem "$nanobind/include" -isystem "$nanobind/ext/robin_map/include" \
  python/src/*.cpp "$nanobind/src/nb_combined.cpp" -o "$package/_core$suffix" -L"$build" -lrailshmem -Wl,-rpath,'$ORIGIN/../../lib'

find "$build" -name oshrun -type f -perm -u+x -exec cp {} "$carry/bin/" \;
mkdir -p "$package/bin"
cp "$carry/bin/oshrun" "$package/bin/"
# railshmem.moe opens it beside librailshmem.so.
cp -L "$build/moe/librailshmem-moe.so.0" "$carry/lib/"
for plugin in $plugins; do cp "$build/railshmem/$plugin" "$carry/lib/railshmem/"; done
# Our library, and libfabric with what it needs, under the names that are asked for.
here_already='^(linux-vdso|ld-linux.*|libc|libm|libdl|librt|libpthread|libresolv|libutil|libstdc\+\+|libgcc_s)[.-]'
not_ours='^(libcuda|libmpi|libopen-.*|libpmix|libpython.*)\.'
for program in "$package/_core$suffix" "$carry"/lib/railshmem/librailshmem-libfabric.so; do
  [ ! -e "$program" ] || LD_LIBRARY_PATH=$PWD/$build ldd "$program"
done | awk '$2 == "=>" && $3 ~ /^\// { print $1, $3 }' | sort -u | while read -r name path; do
  if echo "$name" | grep -Eq -e "$here_already" -e "$not_ours"; then continue; fi
  cp -L "$path" "$carry/lib/$name"
done
"$nanobind_python" -m pip --quiet --disable-pip-version-check --timeout 15 --retries 1 install --no-compile --target "$carry/python/with" \
  pytest || echo "build_python_carry.sh: SKIPPED: pytest, which the machine must have then" >&2
du -sh "$carry/python" "$carry"
