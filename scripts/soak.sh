#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Lets rails die and return at random under everything at once (rail_soak), 4 PEs on two hosts made of network
# namespaces. Every count and checksum must come out right. Needs root; exit status 77 = skipped, with the reason.
#   scripts/soak.sh [seconds (default 600)]
# RAILS     network interfaces of a host            (default: 3)
# RATE      of each, in tc's notation               (default: 500mbit)
# SEED      of all that is random                   (default: the time; printed)
# PROGRAMS  folder of rail_soak                     (default: build/release/tests/rails)
# GETS=0    no gets but of words
# CALM=1    all rails stay up: what the load does alone
set -u
root=$(cd "$(dirname "$0")/.." && pwd)
seconds=${1:-600}
programs=${PROGRAMS:-$root/build/release/tests/rails}
seed=${SEED:-$(date +%s)}
# shellcheck source=../tests/rails/net.sh
. "$root/tests/rails/net.sh"

[ -x "$programs/rail_soak" ] || {
  echo "soak.sh: no executable $programs/rail_soak; build it or set PROGRAMS" >&2
  exit 2
}
net_begin "${RAILS:-3}" "${RATE:-500mbit}"
RANDOM=$((seed % 32768))
echo "soak.sh: seed $seed, $rails rails, $seconds s"

JOB_SECONDS=$((seconds + 90)) start_job 2 2 "$programs/rail_soak" --seconds "$seconds" --seed "$seed" \
  --gets "${GETS:-1}"
# Until every PE has found its rails, none may die.
until grep -qs 'rail_soak: started' "$outputs/0" || ! kill -0 "${job[@]}" 2> /dev/null; do sleep 0.2; done
end=$((SECONDS + seconds))

# Commands that revive the dead rails, by host and rail. Of n rails at most n - 1 are dead at a time, counted over both
# hosts. So some pair of rails still works, whichever rail of one host a library joins to which rail of the other.
declare -A dead=()
events=0
while [ $SECONDS -lt $((end - 5)) ] && kill -0 "${job[@]}" 2> /dev/null && [ "$rails" -gt 1 ] && [ -z "${CALM:-}" ]; do
  sleep "0.$((RANDOM % 9 + 1))"
  [ $((RANDOM % 3)) -eq 0 ] || sleep $((RANDOM % 4))
  host=a
  [ $((RANDOM % 2)) -eq 0 ] || host=b
  rail=$((RANDOM % rails))
  how=${dead[$host$rail]:-}
  if [ -n "$how" ]; then
    "$how" "$host" "$rail"
    unset "dead[$host$rail]"
  elif [ ${#dead[@]} -lt $((rails - 1)) ]; then
    case $((RANDOM % 3)) in
      0) pull "$host" "$rail" && dead[$host$rail]=plug ;;
      1) down "$host" "$rail" && dead[$host$rail]=up ;;
      2) mute "$host" "$rail" && dead[$host$rail]=hear ;; # nothing tells that this rail is silent
    esac
  else
    continue
  fi
  events=$((events + 1))
  echo "soak.sh: $((end - SECONDS)) s left: host $host rail$rail ${dead[$host$rail]:+down}${how:+up again}"
done
for key in "${!dead[@]}"; do "${dead[$key]}" "${key:0:1}" "${key:1}"; done

status=0
wait_job || status=$?
cat "$outputs"/*
for host in a b; do
  for ((rail = 0; rail < rails; rail++)); do
    echo "soak.sh: host $host rail$rail sent $(rail_bytes "$host" "$rail" tx) bytes"
  done
done
right=$(cat "$outputs"/* | grep -c 'rail_soak: PE [0-9]*: right')
if [ "$status" -ne 0 ] || [ "$right" -ne 4 ]; then
  echo "soak.sh: FAILED with status $status after $events events (SEED=$seed); $right of 4 PEs found everything right"
  exit 1
fi
echo "soak.sh: all counts and checksums right after $events events"
