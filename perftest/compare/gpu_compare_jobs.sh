#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Sourced by compare_nvshmem.sh and compare_nccl.sh: how they start jobs of shmem_gpu_perf and where the rows go. The
# sourcing script has set root, carry, pes, ours, limit (seconds of a run) and libraries (for LD_LIBRARY_PATH of the
# programs alone: the launcher has libraries of its own). Sets launch, rows, scratch and failures.
# LAUNCHER and ROWS: see those scripts.
# shellcheck disable=SC2154,SC2034 # variables of the sourcing script

script=$(basename "$0")
fail() {
  echo "$script: $1" >&2
  exit "${2:-1}"
}

# prepare_jobs: finds the launcher and makes the folders.
prepare_jobs() {
  if [ -n "${LAUNCHER:-}" ]; then
    read -r -a launch <<<"$LAUNCHER"
  elif command -v mpirun >/dev/null; then
    launch=(mpirun --allow-run-as-root --oversubscribe --bind-to none -n)
  else
    local oshrun
    oshrun=$(dirname "$ours")/oshrun
    [ -x "$oshrun" ] || oshrun=$(find "$root/build/release" -name oshrun -type f -perm -u+x 2>/dev/null | head -n 1)
    launch=("$oshrun" -n)
  fi
  if [ -n "${ROWS:-}" ]; then
    rows=$ROWS
    mkdir -p "$rows"
  else
    rows=$(mktemp -d)
  fi
  scratch=$(mktemp -d)
  trap 'rm -rf "$scratch"; [ -n "${ROWS:-}" ] || rm -rf "$rows"' EXIT
  failures=0
}

# run WHO PROGRAM FILE ARGUMENT...: one job of at most $limit seconds; its rows go to FILE.
run() {
  local who=$1 program=$2 file=$3 status=0
  shift 3
  rm -f "$file"
  echo "$script: $who: $*" >&2
  timeout -k 5 "$limit" "${launch[@]}" "$pes" env "LD_LIBRARY_PATH=$libraries" "$program" "$@" --timeout 30 --format json \
    --out "$file" >&2 </dev/null || status=$?
  if [ "$status" -ne 0 ]; then
    echo "$script: $who ended with status $status$([ "$status" -ne 124 ] || echo ": over $limit s")" >&2
    failures=$((failures + 1))
  fi
}

# rows_of NAME: sets the array found to the files of rows that begin with NAME and are not empty.
rows_of() {
  local file
  found=()
  for file in "$rows/$1"_*.json; do [ ! -s "$file" ] || found+=("$file"); done
}
