#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# scripts/check_abi.sh finds planted changes, and lets new functions pass.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
for tool in abidw abidiff cc; do
  if ! command -v $tool >/dev/null; then
    echo "SKIPPED: there is no $tool"
    exit 77
  fi
done
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export KEPT=$folder HEADERS=$folder

# library HEADER [SONAME]: builds libthing.so with the function of the header, and prints its path.
library() {
  printf '%s\n' "$1" >"$folder/thing.h"
  {
    echo '#include "thing.h"'
    echo 'int thing_put(struct thing* t, THING_N n) { return t->a + (int)n; }'
    case $1 in *thing_get*) echo 'int thing_get(void) { return 0; }' ;; esac
  } >"$folder/thing.c"
  cc -g -fPIC -shared -I"$folder" -Wl,-soname,"${2:-libthing.so.0}" -o "$folder/libthing.so" "$folder/thing.c"
  echo "$folder/libthing.so"
}
failed=0
# expect STATUS WORDS WHAT LIBRARY
expect() {
  local status=0 output
  output=$("$root/scripts/check_abi.sh" "$4" 2>&1) || status=$?
  if [ "$status" -eq "$1" ] && grep -q "$2" <<<"$output"; then
    echo "ok: $3"
  else
    printf 'FAILED: %s: status %s\n%s\n' "$3" "$status" "$output"
    failed=1
  fi
}

base='typedef int THING_N; struct thing { int a; }; int thing_put(struct thing*, THING_N);'
expect 1 'no ABI is kept for libthing.so.0' 'nothing is kept' "$(library "$base")"
"$root/scripts/check_abi.sh" --write "$(library "$base")"
expect 0 '0 functions and variables are new' 'no change' "$(library "$base")"
expect 0 '1 functions and variables are new' 'a new function' "$(library "$base int thing_get(void);")"
expect 1 'may not run' 'a longer struct' "$(library "${base/int a;/int a; long b;}")"
expect 1 'may not run' 'another type of a parameter' "$(library "${base/typedef int/typedef long}")"
expect 1 'no ABI is kept for libthing.so.1' 'a new soname' "$(library "${base/int a;/int a; long b;}" libthing.so.1)"
"$root/scripts/check_abi.sh" --write "$(library "$base int thing_get(void);")"
expect 1 'may not run' 'a function that is gone' "$(library "$base")"
exit $failed
