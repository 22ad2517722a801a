#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What scripts/gen_api.py writes: none of it is tracked, a second run touches no file, and a run mends exactly the file that is wrong and
# removes the one that it does not write.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
out=$folder/out
fail() {
  echo "FAILED: $*"
  exit 1
}
files() { (cd "$out" && find . -type f | sed 's,^\./,,' | LC_ALL=C sort); }
# written_by_a_run: runs the script, and names the files that it has written
written_by_a_run() {
  touch -d '1 hour ago' "$folder/mark"
  find "$out" -type f -exec touch -d '2 hours ago' {} +
  python3 "$root/scripts/gen_api.py" "$out"
  (cd "$out" && find . -type f -newer "$folder/mark" | sed 's,^\./,,')
}

python3 "$root/scripts/gen_api.py" "$out"
files >"$folder/first"
for file in include/pshmem.h include/shmem/rma.h src/api/entries/rma.cpp tests/conformance/type_lists.h docs/env.md docs/reference/rma.md; do
  grep -qx "$file" "$folder/first" || fail "$file is not written"
done
while read -r file; do
  [ ! -e "$root/$file" ] || fail "$file is in the sources, where it would be found before the one that is written"
done <"$folder/first"

again=$(written_by_a_run)
[ -z "$again" ] || fail "a second run has written $again"
echo '// changed by hand' >>"$out/include/shmem/rma.h"
: >"$out/include/shmem/of_an_older_table.h"
again=$(written_by_a_run)
[ "$again" = include/shmem/rma.h ] || fail "a run that finds include/shmem/rma.h changed has written '$again'"
files | cmp - "$folder/first" || fail "a run leaves files of an older table, or not all of its own"
echo "ok: $(wc -l <"$folder/first") files"
