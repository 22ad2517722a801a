#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs fuzz targets on a machine without clang, from an archive that scripts/fuzz.sh --pack has made:
#   OUT=FOLDER ./run.sh SECONDS WORKERS [TARGET...]   all targets at once, each in so many processes
# Prints a line for each target. OUT (default: out) gets inputs that fail (crashes), logs, and what reached new code
# (corpus.tar.gz). Exit 1: an input has failed.
set -uo pipefail
cd "$(dirname "$0")" || exit
[ $# -ge 2 ] || { sed -n '3,7p' run.sh >&2; exit 2; }
seconds=$1 workers=$2 out=$(mkdir -p "${OUT:-out}" && cd "${OUT:-out}" && pwd) corpus=$(mktemp -d)
shift 2
targets=("$@")
[ $# -gt 0 ] || mapfile -t targets < <(printf '%s\n' fuzz_* | sed 's/^fuzz_//')
mkdir -p "$out/crashes" "$out/logs"
export ASAN_OPTIONS="detect_stack_use_after_return=1${ASAN_OPTIONS:+:$ASAN_OPTIONS}" UBSAN_OPTIONS=print_stacktrace=1

for target in "${targets[@]}"; do
  options=()
  [ ! -e "$target.dict" ] || options=("-dict=$target.dict")
  mkdir -p "$corpus/$target"
  "./fuzz_$target" "-fork=$workers" -ignore_crashes=1 -ignore_timeouts=1 -ignore_ooms=1 "-max_total_time=$seconds" -timeout=20 -rss_limit_mb=2048 \
    -malloc_limit_mb=512 -close_fd_mask=2 "-artifact_prefix=$out/crashes/$target-" "${options[@]}" "$corpus/$target" "seeds/$target" >"$out/logs/$target.log" 2>&1 &
done
wait
tar -czf "$out/corpus.tar.gz" -C "$corpus" . && rm -rf "$corpus"

# The last line of a log is "#INPUTS: cov: C ft: F corp: N exec/s: E oom/timeout/crash: a/b/c time: Ts ...".
failed=0
printf '%-14s %12s %9s %8s %8s  %s\n' target inputs coverage features corpus 'out of memory/hang/crash'
for target in "${targets[@]}"; do
  last=$(grep -E '^#[0-9]+: cov:' "$out/logs/$target.log" | tail -n 1)
  read -r inputs _ cov _ ft _ corp _ _ _ faults _ <<<"$last"
  printf '%-14s %12s %9s %8s %8s  %s\n' "$target" "${inputs//[#:]/}" "${cov:-?}" "${ft:-?}" "${corp:-?}" "${faults:-did not start: see logs/$target.log}"
  [ "${faults:-}" = 0/0/0 ] || failed=1
done
exit $failed
