#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# docs/performance/tables.py --check passes on the pages of the tree, and fails where a row, a table or a field was changed alone.
set -eu
docs=$(cd "$(dirname "$0")/../../docs" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

fresh() {
  rm -rf "$scratch/performance"
  cp -r "$docs/performance.md" "$docs/performance" "$scratch"
}
check() { python3 "$scratch/performance/tables.py" --check >"$scratch/said" 2>&1; }
must_fail() {
  if check; then
    echo "not found: $1" && exit 1
  fi
  grep -q "$2" "$scratch/said" || { cat "$scratch/said" && exit 1; }
}

fresh
check || { cat "$scratch/said" && exit 1; }
sed -i '1s/"value": [0-9.]*/"value": 0.5/' "$scratch/performance/host.jsonl"
must_fail 'a changed row' 'run docs/performance/tables.py'
fresh
sed -i '1s/"commit": "[^"]*", //' "$scratch/performance/host.jsonl"
must_fail 'a missing field' 'host.jsonl:1: lacks commit'
fresh
sed -i '1s/"multicast": "[^"]*"/"multicast": "perhaps"/' "$scratch/performance/kernels.jsonl"
must_fail 'an unknown multicast' 'kernels.jsonl:1: lacks a valid multicast'
fresh
sed -i 's/^<!-- rows host-node -->/<!-- rows nothing -->/' "$scratch/performance.md"
must_fail 'a table without rows' 'no table for the rows of host-node; no rows for the table nothing'
fresh
python3 - "$scratch/performance/gpu.md" <<'EOF'
import pathlib, sys
page = pathlib.Path(sys.argv[1])
page.write_text(page.read_text(encoding="utf-8").replace("**missed**", "met", 1), encoding="utf-8")
EOF
must_fail 'a missed goal that the page calls met' 'gpu.md does not say'
echo passed
