#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Fuzzes the parsers of tests/fuzz with libFuzzer, ASan and UBSan:
#   scripts/fuzz.sh MINUTES [TARGET...]       builds, and runs each target for so long, as many at once as there are CPUs
#   scripts/fuzz.sh --build                   only builds (build/fuzz)
#   scripts/fuzz.sh --run BUILD SECONDS TARGET  one target of that build, as ctest runs it
#   scripts/fuzz.sh --pack FILE.tar.gz        builds, and packs the targets and their inputs for a machine without clang: there, run.sh
# CXX names a clang of version 16 or newer with libFuzzer (Debian: clang-19 and libclang-rt-19-dev). Exit 77: no such clang.
# Inputs that reach new code are kept in build/fuzz/corpus, so the next run begins with them. An input that fails is kept in
# build/fuzz/crashes: tests/README.md says how it becomes a test.
set -uo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
build=$here/build/fuzz

# find_clang: the first compiler that links a program with libFuzzer.
find_clang() {
  local compiler scratch found=''
  scratch=$(mktemp -d) || return 1
  cat >"$scratch/probe.cpp" <<'END'
#include <cstddef>
#include <cstdint>
#include <source_location>
extern "C" int LLVMFuzzerTestOneInput(const uint8_t*, size_t) { return std::source_location::current().line() == 0; }
END
  for compiler in ${CXX:+"$CXX"} clang++-19 clang++-20 clang++-21 clang++-18 clang++-17 clang++-16 clang++; do
    command -v "$compiler" >/dev/null || continue
    if "$compiler" -std=c++20 -fsanitize=fuzzer,address,undefined "$scratch/probe.cpp" -o "$scratch/probe" 2>/dev/null; then
      found=$compiler
      break
    fi
  done
  rm -rf "$scratch"
  [ -n "$found" ] || {
    echo "SKIPPED: no clang of version 16 or newer with libFuzzer (Debian: clang-19 libclang-rt-19-dev)" >&2
    return 77
  }
  echo "$found"
}

build_all() {
  local cxx
  cxx=$(find_clang) || return
  cmake -S "$here" --preset fuzz -DCMAKE_CXX_COMPILER="$cxx" -DCMAKE_C_COMPILER="${cxx/++/}" >/dev/null &&
    cmake --build "$build" --target tests_fuzz --parallel "$(nproc)"
}

# run BUILD SECONDS TARGET: begins with the seeds, the inputs of past crashes and the corpus of earlier runs.
run() {
  local build=$1 seconds=$2 target=$3 dictionary=$here/tests/fuzz/$3.dict options=()
  local corpus=$build/corpus/$target crashes=$build/crashes
  mkdir -p "$corpus" "$crashes"
  rm -rf "$corpus.seeds"
  "$build/tests/fuzz/fuzz_replay" --write "$target" "$here/tests/fuzz/crashes/$target" "$corpus.seeds" || return
  [ ! -e "$dictionary" ] || options+=("-dict=$dictionary")
  # An input of these parsers takes microseconds; one that takes seconds or much memory is a fault too.
  "$build/tests/fuzz/fuzz_$target" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=2048 -malloc_limit_mb=512 \
    -close_fd_mask=2 -error_exitcode=1 -timeout_exitcode=1 -print_final_stats=1 "-artifact_prefix=$crashes/$target-" "${options[@]}" "$corpus" "$corpus.seeds"
}

# pack FILE: the targets, which need no library but the system's, with their seeds and the corpus of earlier runs.
pack() {
  local file=$1 folder target
  folder=$(mktemp -d) || return
  mkdir "$folder/seeds"
  cp "$here/tests/fuzz/run_packed.sh" "$folder/run.sh" &&
    for target in $(targets); do
      "$build/tests/fuzz/fuzz_replay" --write "$target" "$here/tests/fuzz/crashes/$target" "$folder/seeds/$target" || return
      find "$build/corpus/$target" -type f -exec cp -t "$folder/seeds/$target" '{}' + 2>/dev/null
      objcopy --strip-debug "$build/tests/fuzz/fuzz_$target" "$folder/fuzz_$target" || return
    done
  cp "$here"/tests/fuzz/*.dict "$folder" && tar -caf "$file" -C "$folder" . && rm -r "$folder"
}

targets() {
  (cd "$build/tests/fuzz" && printf '%s\n' fuzz_* | grep -vE '\.|^fuzz_replay$' | sed 's/^fuzz_//')
}

export ASAN_OPTIONS="detect_stack_use_after_return=1${ASAN_OPTIONS:+:$ASAN_OPTIONS}"
export UBSAN_OPTIONS="print_stacktrace=1${UBSAN_OPTIONS:+:$UBSAN_OPTIONS}"
export LSAN_OPTIONS="suppressions=$here/tests/support/lsan.supp:print_suppressions=0${LSAN_OPTIONS:+:$LSAN_OPTIONS}"

case ${1:-} in
  --build) build_all ;;
  --run)
    [ $# -eq 4 ] || { sed -n '3,10p' "$0" >&2; exit 2; }
    run "$2" "$3" "$4"
    ;;
  --pack)
    [ $# -eq 2 ] || { sed -n '3,10p' "$0" >&2; exit 2; }
    build_all && pack "$2"
    ;;
  [0-9]*)
    seconds=$((60 * $1))
    shift
    build_all || exit
    [ $# -gt 0 ] || mapfile -t all < <(targets)
    mkdir -p "$build/logs"
    # shellcheck disable=SC2016
    printf '%s\n' "${@:-${all[@]}}" | xargs -P "$(nproc)" -I '{}' sh -c \
      '"$0" --run "$1" "$2" "$3" >"$1/logs/$3.log" 2>&1 || echo "$3: failed; see $1/logs/$3.log"; grep -H stat::number_of "$1/logs/$3.log"' \
      "$here/scripts/fuzz.sh" "$build" "$seconds" '{}' | tee "$build/logs/summary"
    ! grep -q ': failed' "$build/logs/summary"
    ;;
  *)
    sed -n '3,10p' "$0" >&2
    exit 2
    ;;
esac
