#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# A rail dies while long collectives go over it, and comes back: every word is right, and the collectives go on.
# collectives.sh <folder of rail_collectives> [OPTION of it...]     RATE of a rail (default 500mbit), PHASE (default 4 s)
# GPUS  folder of a libcuda.so.1, for --on-stream
set -u
program=$1/rail_collectives
shift
# shellcheck source=net.sh
. "$(dirname "$0")/net.sh"

phase=${PHASE:-4}
[ -z "${GPUS:-}" ] || export LD_LIBRARY_PATH=$GPUS${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
net_begin 2 "${RATE:-500mbit}"
failed=0
fail() {
  echo "FAILED: $*"
  failed=1
}
rounds() { grep -c '^round' "$outputs/0"; }

# try NAME HOST DIE REVIVE
try() {
  local name=$1 host=$2 die=$3 revive=$4 status=0 before dead back
  rm -f "$scratch/over"
  JOB_SECONDS=$((4 * phase + 80)) start_job 2 2 "$program" "${options[@]}" --until "$scratch/over"
  sleep "$phase"
  before=$(rounds)
  "$die" "$host" 1
  sleep "$((2 * phase))"
  dead=$(rounds)
  "$revive" "$host" 1
  sleep "$phase"
  back=$(rounds)
  touch "$scratch/over"
  wait_job || status=$?
  grep -v '^round' "$outputs"/*
  echo "$name: $before rounds before, $((dead - before)) with one of two rails, $((back - dead)) after its return"
  [ "$status" -eq 0 ] || fail "$name: status $status"
  [ "$(grep -l ': right$' "$outputs"/* | wc -l)" -eq 4 ] || fail "$name: not all PEs were right"
  grep -Eq 'warn: rail .* (is silent|has no link)' "$outputs"/* || fail "$name: no warning names the rail"
  if [ "$before" -eq 0 ] || [ "$dead" -le "$before" ] || [ "$back" -le "$dead" ]; then
    fail "$name: the collectives stood still"
  fi
}

options=("$@")
try "network of a receiver" b mute hear
try "cable of a sender" a pull plug
exit $failed
