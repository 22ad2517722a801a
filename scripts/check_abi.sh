#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Compares the ABI of librailshmem.so with the one that is kept in tests/abi, and says what has changed (docs/abi.md):
#   scripts/check_abi.sh LIBRARY           new functions with a new symbol version are fine; every other change is a failure
#   scripts/check_abi.sh --write LIBRARY   keeps the ABI as it is now
# LIBRARY has debug information about types: the target railshmem_abi builds one. The kept ABI is named after the
# library's soname and the processor, so a new SOVERSION needs a new one.
# REAL     the library itself: both must export the same names    (default: not compared)
# KEPT     folder of the kept ABI                                 (default: tests/abi)
# HEADERS  folder of the public headers: other types do not count (default: include, and
#          those that scripts/gen_api.py writes)
# Exit status: 1 where the ABI has changed, 77 without abidw and abidiff (Debian: abigail-tools).
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
write=
if [ "${1:-}" = --write ]; then
  write=yes
  shift
fi
if [ $# -ne 1 ] || [ "${1:0:1}" = - ]; then
  sed -n '3,12p' "$0" >&2
  exit 2
fi
library=$1
for tool in abidw abidiff xz readelf nm; do
  if ! command -v $tool >/dev/null; then
    echo "check_abi.sh: SKIPPED: there is no $tool (Debian: abigail-tools, xz-utils, binutils)"
    exit 77
  fi
done

soname=$(readelf -d "$library" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')
if [ -z "$soname" ]; then
  echo "check_abi.sh: $library has no soname" >&2
  exit 1
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
headers=${HEADERS:-$folder/include}
if [ -z "${HEADERS:-}" ]; then
  if [ -d "$root/generated" ]; then cp -R "$root/generated/include" "$folder/"; else python3 "$root/scripts/gen_api.py" "$folder"; fi
  cp -R "$root/include" "$folder/"
fi
abidw --headers-dir "$headers" --drop-private-types --no-show-locs --no-corpus-path --no-comp-dir-path \
  --no-elf-needed --exported-interfaces-only --no-parameter-names --no-write-default-sizes "$library" >"$folder/now.abi"

exports() {
  nm -D --defined-only "$1" | awk '{ print $3 }' | sort
}
if [ -n "${REAL:-}" ] && ! diff <(exports "$REAL") <(exports "$library") >"$folder/names"; then
  echo "check_abi.sh: $REAL (<) and $library (>) export different names; every exported function belongs into src/api:"
  head -n 20 "$folder/names"
  exit 1
fi

kept=${KEPT:-$root/tests/abi}/$soname.$(uname -m).abi.xz
if [ -n "$write" ]; then
  xz -9e <"$folder/now.abi" >"$kept"
  echo "check_abi.sh: kept in $kept"
  exit 0
fi
if [ ! -e "$kept" ] && compgen -G "${KEPT:-$root/tests/abi}/$soname.*.abi.xz" >/dev/null; then
  echo "check_abi.sh: SKIPPED: the ABI of $soname is kept for other processors than $(uname -m)"
  exit 77
fi
if [ ! -e "$kept" ]; then
  echo "check_abi.sh: no ABI is kept for $soname: scripts/check_abi.sh --write $library"
  exit 1
fi
xz -d <"$kept" >"$folder/kept.abi"
if ! abidiff --no-added-syms "$folder/kept.abi" "$folder/now.abi" >"$folder/changes"; then
  cat "$folder/changes"
  echo "check_abi.sh: programs that were built with $soname may not run with this library: undo the change, or raise SOVERSION"
  exit 1
fi
# symbols FILE: "name version" of what an ABI has.
symbols() { sed -n "s/.*<elf-symbol name='\([^']*\)' version='\([^']*\)'.*/\1 \2/p" "$1" | sort -u; }
released=$(symbols "$folder/kept.abi" | cut -d' ' -f2 | sort -u)
late=$(join -v 2 <(symbols "$folder/kept.abi") <(symbols "$folder/now.abi") | grep -Fw -e "${released:-no versions}" || true)
if [ -n "$late" ]; then
  echo "$late" | head -n 20
  echo "check_abi.sh: these functions are new, but have a symbol version that the last release has, so a program that needs one starts with" \
    "that release and ends in the middle: name them in a new node of src/railshmem.map"
  exit 1
fi
added=$(abidiff "$folder/kept.abi" "$folder/now.abi" | grep -c '^ *\[A\]' || true)
echo "check_abi.sh: $soname is compatible with the kept ABI; $added functions and variables are new"
