#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What a tool of another version reports does not fail a check; what the version that decides reports does.
set -eu
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# shellcheck disable=SC2016
# ends VERSION STATUS: how lint.sh ends when a codespell of that version finds something.
ends() {
  printf '#!/bin/sh\n[ "$1" != --version ] || { echo %s; exit 0; }\necho "a finding"\nexit 65\n' "$1" >"$work/codespell"
  chmod +x "$work/codespell"
  status=0
  PATH=$work:$PATH scripts/lint.sh spelling >"$work/said" 2>&1 || status=$?
  cat "$work/said"
  if [ "$status" -ne "$2" ] || ! grep -q 'a finding' "$work/said"; then
    echo "FAILED: codespell $1: status $status, expected $2, with the finding in the output"
    exit 1
  fi
}
decides=$(sed -n 's/^codespell_that_decides=//p' scripts/lint.sh)
ends "$decides" 1
ends "$decides.1" 77
ends 9.9.9 77
