#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The speed table: each operation against its floor, in one run on one machine, as a markdown page on standard output.
# Everything runs on 2 PEs of this host; floor and bench alternate, ROUNDS times. Rows worth keeping go to
# docs/performance/host.jsonl (run it on an idle machine).
#
#   PERF=build/release/perftest/shmem_perf scripts/run_local.sh > host.md
#
# PERF       the shmem_perf to run                  (default: build/release/perftest/shmem_perf)
# LAUNCHER   the launcher with its options          (default: oshrun)
# ROUNDS     floor and bench alternate this often   (default: 5)
# SECONDS_PER_ROW  limit per row and round          (default: 1)
# PROVIDERS  libfabric providers, space-separated   (default: tcp;ofi_rxm shm)
# ROWS       folder that keeps the JSON rows        (default: a temporary one, removed)
set -eu

here=$(cd "$(dirname "$0")" && pwd)
PERF=${PERF:-$here/../build/release/perftest/shmem_perf}
LAUNCHER=${LAUNCHER:-oshrun}
ROUNDS=${ROUNDS:-5}
SECONDS_PER_ROW=${SECONDS_PER_ROW:-1}
PROVIDERS=${PROVIDERS:-tcp;ofi_rxm shm}
if [ ! -x "$PERF" ]; then
  echo "run_local.sh: no executable $PERF; build it or set PERF" >&2
  exit 2
fi
if [ -n "${ROWS:-}" ]; then
  mkdir -p "$ROWS"
else
  ROWS=$(mktemp -d)
  trap 'rm -rf "$ROWS"' EXIT
fi

count=0
failures=0
files=""
# bench TRANSPORT PROVIDER NAME [OPTIONS]: one row with its floor; a failure is told and does not end the table.
bench() {
  transport=$1 provider=$2 name=$3
  shift 3
  count=$((count + 1))
  file=$ROWS/$(printf '%02d' "$count")_$name.json
  rm -f "$file"
  echo "run_local.sh: $transport ${provider:-} $name" >&2
  status=0
  # shellcheck disable=SC2086
  SHMEM_TRANSPORT=$transport SHMEM_OFI_PROVIDER=$provider $LAUNCHER -n 2 "$PERF" "$name" "$@" --floor \
    --rounds "$ROUNDS" --seconds "$SECONDS_PER_ROW" --format json --out "$file" >&2 || status=$?
  if [ "$status" -ne 0 ]; then
    echo "run_local.sh: $name over $transport $provider ended with status $status" >&2
    failures=$((failures + 1))
  fi
  if [ -s "$file" ]; then files="$files $file"; fi
}

bench p2p "" put_bw --sizes 1M --window 16
bench p2p "" put_lat --sizes 8
bench p2p "" p_lat
bench p2p "" put_signal_pingpong --sizes 8
bench p2p "" barrier_lat
bench p2p "" amo_lat
bench p2p "" reduce_lat --sizes 8
bench p2p "" reduce_lat --sizes 64K
bench p2p "" broadcast_lat --sizes 8
bench p2p "" broadcast_bw --sizes 1M
bench p2p "" fcollect_bw --sizes 1M
bench p2p "" alltoall_bw --sizes 1M
bench p2p "" ctx_rate --threads 2
for provider in $PROVIDERS; do
  bench ofi "$provider" put_lat --sizes 8
  bench ofi "$provider" put_bw --sizes 1M --window 16
  bench ofi "$provider" put_rate --sizes 8
  bench ofi "$provider" barrier_lat
  bench ofi "$provider" amo_lat
done

if [ -z "$files" ]; then
  echo "run_local.sh: no bench produced a row" >&2
  exit 1
fi
# shellcheck disable=SC2086
python3 "$here/perf_table.py" $files
[ "$failures" -eq 0 ]
