#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Every device header compiles alone, for host threads and for kernels, from an installed-like include path.
# Usage: check_device_headers.sh SOURCE_DIR [CXX]. Exit 77 (ctest: skipped) when only nvcc's half could not run.
set -u
source_dir=$1
cxx=${2:-c++}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0

# compile LABEL EXTENSION COMMAND...: each header into an object of its own, twice included to prove its guard.
compile() {
  label=$1
  extension=$2
  shift 2
  for path in "$source_dir"/include/shmem/device/*.h "$source_dir"/include/shmem/device/names/*.h; do
    name=${path#"$source_dir"/include/}
    printf '#include <%s>\n#include <%s>\n' "$name" "$name" >"$work/alone.$extension"
    if ! "$@" -I"$source_dir/include" -c "$work/alone.$extension" -o "$work/alone.o" 2>"$work/messages"; then
      echo "FAILED: $name with $label"
      cat "$work/messages"
      failed=1
    fi
  done
  echo "done: $label"
}

for standard in 17 20; do
  compile "$cxx c++$standard" cpp "$cxx" -std=c++$standard -Wall -Wextra -Wshadow -pedantic -Werror
done

nvcc=${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
if [ ! -x "$nvcc" ]; then
  [ $failed -ne 0 ] && exit 1
  echo "SKIPPED: no nvcc (set NVCC to its path); the kernels' half was not compiled"
  exit 77
fi
compile "nvcc c++17 sm_90" cu "$nvcc" -std=c++17 -arch=sm_90 -Werror all-warnings

# Templates and inline functions produce no code until a kernel calls them.
if ! "$nvcc" -std=c++17 -arch=sm_90 -Werror all-warnings -I"$source_dir/include" \
    -c "$source_dir/tests/headers/device_calls.cu" -o "$work/calls.o"; then
  echo "FAILED: device_calls.cu"
  failed=1
fi

# Including shmem.h must not cost a kernel that does not communicate anything: the same code, the same resources.
silent() {
  "$nvcc" -std=c++17 -arch=sm_90 "$@" -I"$source_dir/include" -ptx "$source_dir/tests/headers/silent_kernel.cu" \
    -o "$work/silent.ptx" && sed -n '/\.entry/,$p' "$work/silent.ptx" | grep -v '^ *\.file\|^ *\.loc\|^//' &&
    "$nvcc" -std=c++17 -arch=sm_90 "$@" -I"$source_dir/include" -cubin -Xptxas -v \
      "$source_dir/tests/headers/silent_kernel.cu" -o "$work/silent.cubin" 2>&1 | grep 'Used'
}
silent >"$work/without" && silent -DWITH_SHMEM >"$work/with"
if ! grep -q 'Used' "$work/with" || ! cmp "$work/without" "$work/with"; then
  echo "FAILED: a kernel that does not communicate differs with shmem.h:"
  diff "$work/without" "$work/with"
  failed=1
fi

"$nvcc" -std=c++17 -arch=sm_90 -I"$source_dir/include" -cubin -Xptxas -v "$source_dir/tests/headers/registers.cu" \
  -o "$work/registers.cubin" >"$work/registers" 2>&1
if ! grep -q 'Used' "$work/registers" || sed -n 's/.*Used \([0-9]*\) registers.*/\1/p' "$work/registers" | awk '$1 > 64 { bad = 1 } END { exit !bad }'; then
  echo "FAILED: a kernel of tests/headers/registers.cu needs more than 64 registers, or does not compile:"
  cat "$work/registers"
  failed=1
fi
exit $failed
