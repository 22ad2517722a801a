#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Formats the C and C++ sources in place:
#   scripts/format.sh [FILE...]        all sources, or these
#   scripts/format.sh --check [FILE...]  only name the files that would change; exit 1 when there are any
# clang-format 14 everywhere, because versions disagree; exit 77 when it is not there. CLANG_FORMAT names another path.
set -eu
cd "$(dirname "$0")/.."

check=
if [ "${1:-}" = --check ]; then
  check=yes
  shift
fi
tool=${CLANG_FORMAT:-$(command -v clang-format-14 || command -v clang-format || true)}
if [ -z "$tool" ] || ! "$tool" --version | grep -q 'version 14\.'; then
  echo "SKIPPED: no clang-format 14 (the package clang-format-14, or pip install clang-format==14.0.6)"
  exit 77
fi
if [ $# -eq 0 ]; then
  # shellcheck disable=SC2046
  set -- $(scripts/list_sources.sh c)
fi
if [ -z "$check" ]; then
  exec "$tool" --style=file -i "$@"
fi
changed=$("$tool" --style=file --dry-run "$@" 2>&1 | sed -n 's/^\([^:]*\):[0-9]*:[0-9]*: warning: code should.*/\1/p' | sort -u)
if [ -n "$changed" ]; then
  echo "not formatted (scripts/format.sh does it):"
  echo "$changed"
  exit 1
fi
