#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Sourced: a rail dies under a job that goes on in rounds, and comes back. Needs net.sh, and net_begin with two rails.
# PHASE  seconds with all rails, and half of those with one (default 4)
# shellcheck disable=SC2154  # net.sh sets outputs and scratch

failed=0
fail() {
  echo "FAILED: $*"
  # shellcheck disable=SC2034  # the caller exits with it
  failed=1
}

# try_death NAME HOST DIE REVIVE PES_A PES_B COMMAND...: DIE and REVIVE are functions of net.sh, called with HOST and rail 1. The command prints a
# line "round..." for each round and ends when the file behind --until, which is added, exists. The caller defines all_right, which looks into $outputs.
try_death() {
  local name=$1 host=$2 die=$3 revive=$4 phase=${PHASE:-4} status=0 before dead back
  shift 4
  rounds() { grep -c '^round' "$outputs/0"; }
  rm -f "$scratch/over"
  JOB_SECONDS=$((4 * phase + 80)) start_job "$@" --until "$scratch/over"
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
  all_right || fail "$name: not all PEs were right"
  grep -Eq 'warn: rail .* (is silent|has no link)' "$outputs"/* || fail "$name: no warning names the rail"
  if [ "$before" -eq 0 ] || [ "$dead" -le "$before" ] || [ "$back" -le "$dead" ]; then
    fail "$name: the rounds stood still"
  fi
}
