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

# library HEADER [SONAME [MAP]]: builds libthing.so with the functions of the header, and prints its path. MAP: a version script.
library() {
  printf '%s\n' "$1" >"$folder/thing.h"
  {
    echo '#include "thing.h"'
    echo 'int thing_put(struct thing* t, THING_N n) { return t->a + (int)n; }'
    case $1 in *thing_get*) echo 'int thing_get(void) { return 0; }' ;; esac
  } >"$folder/thing.c"
  printf '%s\n' "${3:-{ global: *; \};}" >"$folder/thing.map"
  cc -g -fPIC -shared -I"$folder" -Wl,-soname,"${2:-libthing.so.0}" -Wl,--version-script="$folder/thing.map" -o "$folder/libthing.so" \
    "$folder/thing.c"
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

versions='THING_0 { global: thing_put; local: *; };'
"$root/scripts/check_abi.sh" --write "$(library "$base" libthing.so.2 "$versions")"
expect 0 '0 functions and variables are new' 'no change, with versions' "$(library "$base" libthing.so.2 "$versions")"
expect 1 'in a new node' 'a new function with the version of a release' \
  "$(library "$base int thing_get(void);" libthing.so.2 "${versions/thing_put/thing_*}")"
expect 0 '1 functions and variables are new' 'a new function with a version of its own' \
  "$(library "$base int thing_get(void);" libthing.so.2 "$versions THING_0_1 { global: thing_get; } THING_0;")"
expect 1 'may not run' 'a function that has lost its version' "$(library "$base" libthing.so.2)"
exit $failed
