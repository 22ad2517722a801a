#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Names the files of the repository, one a line: list_sources.sh KIND
#   c: C, C++ and CUDA   code: these, scripts and build files   shell: shell scripts   text: all
set -eu
cd "$(dirname "$0")/.."
everything() {
  if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
    git ls-files --cached --others --exclude-standard | while read -r path; do
      if [ -f "$path" ]; then echo "$path"; fi
    done
  else # an unpacked archive
    find . -type f -not -path './build*' -not -path './generated/*' -not -path '*/.*' | sed 's,^\./,,'
  fi
}
sources='\.(c|cpp|h|cuh|cu|inc)$'
case ${1:-} in
  c) everything | grep -E "$sources" ;;
  code) everything | grep -E "$sources"'|\.(py|sh|cmake|in|map|supp|toml)$|(^|/)CMakeLists\.txt$|^\.ci/run$' ;;
  shell) everything | grep -E '\.sh$|^\.ci/run$|oshwrapper\.in$' ;;
  text) everything ;;
  *)
    sed -n '3,4p' "$0" >&2
    exit 2
    ;;
esac | LC_ALL=C sort
