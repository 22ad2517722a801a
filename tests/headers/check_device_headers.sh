#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The device headers compile for kernels, from an installed-like include path. That each compiles alone is
# check_headers.py's to show, which takes the host's compilers: nvcc needs a second and a half for the smallest file.
# Usage: check_device_headers.sh SOURCE_DIR INCLUDE. Exit 77 (ctest: skipped) without nvcc.
set -u
source_dir=$1
include=$2
failed=0
# shellcheck source=tests/headers/with_nvcc.sh
. "$source_dir/tests/headers/with_nvcc.sh"

# Nobody runs these kernels, so their code need not be fast. Old compilers lack the option.
fast=''
! "$nvcc" --help | grep -q -e --Ofast-compile || fast='--Ofast-compile max'

# In two orders, so that none leans on what happens to come before it; twice, to prove the guards.
headers() {
  for path in "$include"/shmem/device/*.h "$include"/shmem/device/calls/*.h "$include"/shmem/device/names/*.h; do
    echo "#include <${path#"$include"/}>"
  done
}
for order in sort 'sort -r'; do
  { headers | $order; headers; } >"$work/all.cu"
  # shellcheck disable=SC2086
  if ! "$nvcc" -std=c++17 -arch=sm_90 $fast -Werror all-warnings -I"$include" -c "$work/all.cu" -o "$work/all.o"; then
    echo "FAILED: the device headers, $order"
    failed=1
  fi
done

# Templates and inline functions produce no code until a kernel calls them.
# shellcheck disable=SC2086
if ! "$nvcc" -std=c++17 -arch=sm_90 $fast -Werror all-warnings -I"$include" \
    -c "$source_dir/tests/headers/device_calls.cu" -o "$work/calls.o"; then
  echo "FAILED: device_calls.cu"
  failed=1
fi

# Host code calls the library's functions, by their names in C.
if ! "$nvcc" -std=c++17 -arch=sm_90 -Werror all-warnings -I"$include" -c "$source_dir/tests/headers/host_names.cu" -o "$work/host.o"; then
  echo "FAILED: host_names.cu"
  failed=1
fi
for name in shmem_int_put shmem_ctx_int_get shmem_float_p shmem_int_atomic_fetch_inc shmem_my_pe; do
  if ! nm -u "$work/host.o" | grep -qw "$name"; then
    echo "FAILED: host code of a CUDA unit does not call $name"
    failed=1
  fi
done

# Including shmem.h must cost a kernel that does not communicate nothing: its code and resources must not change.
silent() {
  "$nvcc" -std=c++17 -arch=sm_90 "$@" -I"$include" -ptx "$source_dir/tests/headers/silent_kernel.cu" \
    -o "$work/silent.ptx" && sed -n '/\.entry/,$p' "$work/silent.ptx" | grep -v '^ *\.file\|^ *\.loc\|^//' &&
    "$nvcc" -std=c++17 -arch=sm_90 "$@" -I"$include" -cubin -Xptxas -v \
      "$source_dir/tests/headers/silent_kernel.cu" -o "$work/silent.cubin" 2>&1 | grep 'Used'
}
silent >"$work/without" && silent -DWITH_SHMEM >"$work/with"
if ! grep -q 'Used' "$work/with" || ! cmp "$work/without" "$work/with"; then
  echo "FAILED: a kernel that does not communicate differs with shmem.h:"
  diff "$work/without" "$work/with"
  failed=1
fi

"$nvcc" -std=c++17 -arch=sm_90 -I"$include" -cubin -Xptxas -v "$source_dir/tests/headers/registers.cu" \
  -o "$work/registers.cubin" >"$work/registers" 2>&1
if ! grep -q 'Used' "$work/registers" || sed -n 's/.*Used \([0-9]*\) registers.*/\1/p' "$work/registers" | awk '$1 > 64 { bad = 1 } END { exit !bad }'; then
  echo "FAILED: a kernel of tests/headers/registers.cu needs more than 64 registers, or does not compile:"
  cat "$work/registers"
  failed=1
fi
exit $failed
