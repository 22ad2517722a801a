#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# A rail that SHMEM_OFI_NICS names is down when the job starts: the job starts without it, names it, and uses it when it
# comes up. Where none of the named rails is up, the error says what to do.
# start_down.sh <folder of rail_stream and rail_finish>      RAILS (default 2), RATE of a rail (default 500mbit)
set -u
programs_at=$1
# shellcheck source=net.sh
. "$(dirname "$0")/net.sh"

net_begin "${RAILS:-2}" "${RATE:-500mbit}"
[ "$rails" -gt 1 ] || skip "a job without its only rail cannot start"
failed=0
last=$((rails - 1))
fail() {
  echo "FAILED: $*"
  cat "$outputs"/*
  failed=1
}
carried() { echo $(($(rail_bytes "$1" "$2" rx) + $(rail_bytes "$1" "$2" tx))); } # HOST RAIL
# await HOST RAIL BYTES: until the rail has carried more than that, a minute at most
await() {
  local k
  for ((k = 0; k < 600; k++)); do
    [ "$(carried "$1" "$2")" -le "$3" ] || return 0
    kill -0 "${job[@]}" 2> /dev/null || return 1
    sleep 0.1
  done
  return 1
}

# try NAME HOST DIE REVIVE WHY
try() {
  local name=$1 host=$2 status=0 before
  rm -f "$scratch/over"
  "$3" "$host" "$last"
  before=$(carried "$host" 0)
  JOB_SECONDS=150 start_job 1 1 "$programs_at/rail_stream" --seconds 120 --until "$scratch/over"
  await "$host" 0 "$((before + 2000000))" || fail "$name: the job does not run without rail$last"
  before=$(carried "$host" "$last")
  "$4" "$host" "$last"
  await "$host" "$last" "$((before + 2000000))" || fail "$name: rail$last is up but not used"
  touch "$scratch/over"
  wait_job || status=$?
  [ "$status" -eq 0 ] || fail "$name: status $status"
  grep -q "warn: SHMEM_OFI_NICS names rail$last, which cannot be used yet: $5" "$outputs"/* ||
    fail "$name: no warning names rail$last"
  echo "$name: started, and rail$last carried $(($(carried "$host" "$last") - before)) bytes when it was up"
}
try "no cable" b pull plug "its link is down"
try "switched off" a down up "it is switched off"

for ((rail = 0; rail < rails; rail++)); do pull a "$rail"; done
SHMEM_TIMEOUT=3 start_job 1 1 "$programs_at/rail_finish" --rounds 1
wait_job && fail "all rails are down, and the job ran"
grep -q "error: .*SHMEM_OFI_NICS names no NIC that is up (rail0: its link is down.*bring one up" "$outputs/0" ||
  fail "the error does not say that no rail is up"
exit $failed
