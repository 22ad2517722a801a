#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# A rail dies under a steady stream and comes back: every byte is right, the stream goes on by the other rails soon, and
# the rail is used again. First the network drops its packets, which nothing tells; then a cable is pulled at either end,
# and an interface is switched off, which the system tells one PE and that one the other.
# failover.sh <folder of rail_stream>      RAILS (default 2), RATE of a rail (default 500mbit), PHASE (default 5 s)
set -u
programs_at=$1
# shellcheck source=net.sh
. "$(dirname "$0")/net.sh"

phase=${PHASE:-5}
net_begin "${RAILS:-2}" "${RATE:-500mbit}"
[ "$rails" -gt 1 ] || skip "failover needs at least two rails"
failed=0
fail() {
  echo "FAILED: $*"
  failed=1
}
now() { date +%s.%N; }
time_of() { awk "BEGIN { printf \"%.3f\", $1 }"; } # print would round to six digits

# MB/s that arrived between two times of day.
rate() {
  awk -v from="$1" -v to="$2" '$1 == "stream" && $2 >= from && $2 + 0.1 <= to { bytes += $3; ticks++ }
    END { printf "%.1f", ticks ? bytes / (ticks * 0.1) / 1e6 : 0 }' "$outputs/1"
}
# The longest time between FROM and TO, in tenths of a second, in which nothing arrived.
pause() {
  awk -v from="$1" -v to="$2" '$1 == "stream" && $2 >= from && $2 <= to { if ($3 == 0) { run++; if (run > most) most = run } else run = 0 }
    END { printf "%.1f", most / 10 }' "$outputs/1"
}
# Bytes that the rail has sent and received. Its partner may have another number of bytes.
passed() { echo $(($(rail_bytes "$1" "$2" rx) + $(rail_bytes "$1" "$2" tx))); }
is() { awk "BEGIN { exit !($1) }"; }

# try NAME HOST DIE REVIVE WHY; the warnings must say WHY
try() {
  local name=$1 host=$2 die=$3 revive=$4 why=$5 last=$((rails - 1)) dead alive carried before after back stopped status=0
  echo "== $name"
  rm -f "$scratch/over"
  JOB_SECONDS=$((3 * phase + 60)) start_job 1 1 "$programs_at/rail_stream" --seconds $((3 * phase + 40)) --until "$scratch/over"
  sleep "$((phase + 1))"
  dead=$(now)
  "$die" "$host" "$last"
  sleep "$phase"
  carried=$(passed "$host" "$last")
  "$revive" "$host" "$last"
  alive=$(now)
  sleep "$phase"
  touch "$scratch/over" # the job's end follows this script, which may be late on a busy machine
  wait_job || status=$?
  carried=$(($(passed "$host" "$last") - carried))
  grep -v '^stream' "$outputs"/*
  [ "$status" -eq 0 ] || { fail "$name: status $status" && return; }
  before=$(rate "$(time_of "$dead - $phase + 1")" "$dead")
  stopped=$(pause "$dead" "$alive")
  after=$(rate "$(time_of "$dead + $stopped + 0.2")" "$alive")
  back=$(rate "$(time_of "$alive + $phase * 0.6")" "$(time_of "$alive + $phase - 0.5")")
  echo "$name: $before MB/s before, nothing for $stopped s, $after MB/s with $((rails - 1)) of $rails rails" \
    "($(awk "BEGIN { printf \"%.2f\", $before ? $after / ($before * ($rails - 1) / $rails) : 0 }") of their share)," \
    "$back MB/s after its return; it has carried $carried bytes since"
  grep -q "warn: rail .* $why" "$outputs"/* || fail "$name: no warning says '$why'"
  is "$stopped < 5" || fail "$name: nothing arrived for $stopped s; 2 s are expected"
  is "$after > 0.5 * $before * ($rails - 1) / $rails" || fail "$name: the other rails are hardly used"
  is "$carried > 1000000" || fail "$name: the rail is back but not used"
}

try "network of the receiver" b mute hear "is silent"
try "cable of the receiver" b pull plug "has no link"
try "cable of the sender" a pull plug "has no link"
try "interface of the sender" a down up "has no link"
exit $failed
