#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# A rail dies while kernels put from slots and get into slots, and comes back: every byte is right, and no slot is lost.
# payloads.sh <program payloads_between_pes> <folder of the fake libcuda.so.1>     RATE of a rail (default 500mbit), PHASE (default 4 s)
set -u
program=$1
# shellcheck source=net.sh
. "$(dirname "$0")/net.sh"

phase=${PHASE:-4}
export LD_LIBRARY_PATH=$2${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} RAILSHMEM_FAKE_GPUS=2 SHMEM_WAIT_TIMEOUT=60
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
  JOB_SECONDS=$((4 * phase + 80)) start_job 1 1 "$program" slots --until "$scratch/over"
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
  grep -q 'payloads_between_pes: passed' "$outputs/0" || fail "$name: not all PEs were right"
  grep -Eq 'warn: rail .* (is silent|has no link)' "$outputs"/* || fail "$name: no warning names the rail"
  if [ "$before" -eq 0 ] || [ "$dead" -le "$before" ] || [ "$back" -le "$dead" ]; then
    fail "$name: the kernels stood still"
  fi
}

try "network of one PE" b mute hear
try "cable of the other" a pull plug
exit $failed
