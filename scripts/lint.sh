#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The checks of the sources; ctest runs each of them under the label lint.
#   scripts/lint.sh                  all of them, clang-tidy on a few files
#   scripts/lint.sh CHECK...         only these: layers fds spdx lines words headers api reference spelling markdown
#                                    links performance site shell tests format tidy
#   scripts/lint.sh --tidy           clang-tidy on all files (minutes)
# BUILD_DIR (default build/release) is where clang-tidy finds compile_commands.json. Exit 77: all that was asked was
# skipped, because a tool is missing.
set -u
cd "$(dirname "$0")/.." || exit 1
build=${BUILD_DIR:-build/release}

# Small files from different corners, which clang-tidy reads in every run.
tidy_sample="src/base/env_types.cpp src/heap/offset_allocator.cpp src/proxy/post/operation.cpp
             bootstrap/local/oshrun/line_tagger.cpp transports/ofi/nic_choice.cpp"

# Versions of these tools disagree. Those of Debian 12 decide; PyPI has them for other systems. Another version only
# reports: its check counts as skipped when it finds something.
codespell_that_decides=2.2.2
clang_tidy_that_decides=14.0.6

# decided_by TOOL VERSION STATUS: STATUS where the tool is of that version, else 77 for a failure.
decided_by() {
  [ "$3" -ne 0 ] || return 0
  case "$("$1" --version 2>&1)" in
    "$2" | *"version $2"*) return "$3" ;;
  esac
  echo "SKIPPED: another version of $1 reports this; $2 decides (python3 -m pip install $1==$2)"
  return 77
}

missing() {
  if command -v "$1" >/dev/null; then return 1; fi
  echo "SKIPPED: no $1"
}

check_layers() { python3 scripts/check_layers.py .; }
check_fds() { python3 scripts/check_fds.py .; }
check_words() { python3 scripts/check_words.py .; }

check_spdx() {
  # shellcheck disable=SC2046
  without=$(for file in $(scripts/list_sources.sh code); do
    head -n 4 "$file" | grep -q 'SPDX-License-Identifier: BSD-3-Clause' || echo "$file"
  done)
  [ -z "$without" ] || {
    echo "no SPDX line among the first four:"
    echo "$without"
    return 1
  }
}

# Sources have their limit in check_layers.py; this is for everything else. Decision records are few and short.
check_lines() {
  set -- docs/decisions/0*.md
  [ $# -le 40 ] || echo "docs/decisions has $# records; merge those of one theme (limit 40)"
  wc -l "$@" | awk '$2 != "total" && $1 > 60 { print $2 ": " $1 " lines; shorten the record (limit 60)"; bad = 1 } END { exit bad }' &&
    [ $# -le 40 ] || return 1
  # shellcheck disable=SC2046
  wc -l $(scripts/list_sources.sh text | grep -vE '(^|/)LICENSE$|\.(json|csv|png|svg|pdf)$|^scripts/api/table\.toml$') |
    awk '$2 != "total" && $1 > 500 { print $2 ": " $1 " lines; split it by concept (limit 500)"; bad = 1 } END { exit bad }'
}

# All public headers in one folder, those that scripts/gen_api.py writes among them.
collect_headers() {
  [ ! -e "$scratch/include" ] || return 0
  python3 scripts/gen_api.py "$scratch" && cp -R include "$scratch/"
}
check_headers() { collect_headers && python3 tests/headers/check_headers.py --include "$scratch/include" --nvcc "${NVCC:-nvcc}"; }
check_api() { collect_headers && python3 scripts/check_api.py --include "$scratch/include"; }
check_reference() { python3 scripts/gen_api.py --check; }

check_spelling() {
  missing codespell && return 77
  # shellcheck disable=SC2046
  codespell --ignore-words tests/lint/codespell_ignore.txt $(scripts/list_sources.sh text | grep -v codespell_ignore)
  decided_by codespell "$codespell_that_decides" $?
}

check_markdown() {
  missing mdl && return 77
  # shellcheck disable=SC2046
  mdl -s tests/lint/markdown_style.rb $(scripts/list_sources.sh text | grep '\.md$')
}

# The parser may be installed for the system's Python only.
check_links() {
  python=python3
  python3 -c 'import markdown_it' 2>/dev/null || [ ! -x /usr/bin/python3 ] || python=/usr/bin/python3
  # shellcheck disable=SC2046
  "$python" scripts/check_links.py $(scripts/list_sources.sh text | grep '\.md$')
}

check_performance() { python3 docs/performance/tables.py --check; }

check_site() { scripts/docs.sh --check; }

# Tests get the fake driver from on_fake_gpus() alone, which disables them where they need kernels that the build lacks.
check_tests() {
  # shellcheck disable=SC2046
  ! grep -nE 'TARGET_FILE(_DIR)?:railshmem_fake_cuda|driver/fake_cuda' $(scripts/list_sources.sh text | grep -E '(CMakeLists\.txt|\.cmake)$') |
    grep -vE '^(cmake/RailshmemFakeGpus\.cmake|tests/unit/CMakeLists\.txt):'
}

check_shell() {
  missing shellcheck && return 77
  # shellcheck disable=SC2046
  shellcheck $(scripts/list_sources.sh shell)
}

check_format() { scripts/format.sh --check; }

check_tidy() {
  missing clang-tidy && return 77
  if [ ! -f "$build/compile_commands.json" ]; then
    echo "SKIPPED: no $build/compile_commands.json; configure first, or set BUILD_DIR"
    return 77
  fi
  files=$tidy_sample
  if [ -n "$whole" ]; then
    if grep -q '^RAILSHMEM_BATCHES:BOOL=ON' "$build/CMakeCache.txt"; then
      echo "$build compiles its files in batches; configure it with -DRAILSHMEM_BATCHES=OFF"
      return 1
    fi
    # the files that this configuration compiles
    files=$(scripts/list_sources.sh c | grep -E '^(src|bootstrap|transports|perftest)/.*\.cpp$' |
      while read -r file; do if grep -qF "/$file\"" "$build/compile_commands.json"; then echo "$file"; fi; done)
  fi
  # shellcheck disable=SC2086
  printf '%s\n' $files | xargs -P "$(nproc)" -n 1 clang-tidy -p "$build" --quiet \
    --extra-arg=-include --extra-arg="$PWD/tests/lint/source_location.h" --extra-arg=-Wno-unknown-warning-option 2>&1 |
    grep -vE '^[0-9]+ warnings? (and [0-9]+ errors? )?generated|^Suppressed|^Use -header-filter' >"$scratch/tidy"
  cat "$scratch/tidy"
  ! grep -qE ': (warning|error): |^Error while' "$scratch/tidy"
  decided_by clang-tidy "$clang_tidy_that_decides" $?
}

whole=
checks=
for argument; do
  case $argument in
    --tidy) whole=yes checks="$checks tidy" ;;
    layers | fds | spdx | lines | words | headers | api | reference | spelling | markdown | links | performance | site | shell | tests | format | tidy) checks="$checks $argument" ;;
    *)
      sed -n '3,9p' "$0" >&2
      exit 2
      ;;
  esac
done
checks=${checks:-layers fds spdx lines words headers api reference spelling markdown links performance site shell tests format tidy}
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT

failed='' skipped='' passed=''
for check in $checks; do
  "check_$check"
  case $? in
    0) passed="$passed $check" ;;
    77) skipped="$skipped $check" ;;
    *) failed="$failed $check" ;;
  esac
done
echo "lint: passed:${passed:- none}; skipped:${skipped:- none}; failed:${failed:- none}"
[ -z "$failed" ] || exit 1
[ -n "$passed" ] || exit 77
