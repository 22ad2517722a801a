#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# All rails of a host but one go silent, at a random moment of a short job or of its shmem_finalize: the job ends with
# status 0, right, over the rail that is left. Which rail that is changes from job to job.
# silence.sh <folder of rail_finish>      RAILS (default 3), JOBS (default 12), SEED (default: the time; printed)
set -u
programs_at=$1
# shellcheck source=net.sh
. "$(dirname "$0")/net.sh"

jobs=${JOBS:-12}
seed=${SEED:-$(date +%s)}
RANDOM=$((seed % 32768))
net_begin "${RAILS:-3}"
[ "$rails" -gt 1 ] || skip "one rail cannot be left out of one"
echo "silence.sh: seed $seed, $rails rails, $jobs jobs"
failed=0

started() { [ "$(cat "$outputs"/* 2> /dev/null | grep -c 'rail_finish: started')" -eq 2 ]; }

for ((i = 0; i < jobs; i++)); do
  alive=$((i % rails))
  host=a
  [ $((RANDOM % 2)) -eq 0 ] || host=b
  rounds=$((2 + RANDOM % 10))
  start_job 1 1 "$programs_at/rail_finish" --rounds "$rounds" --pause-ms 5
  for ((k = 0; k < 3000; k++)); do
    started && break
    kill -0 "${job[@]}" 2> /dev/null || break
    sleep 0.01
  done
  sleep "0.$(printf %03d $((RANDOM % 200)))"
  for ((rail = 0; rail < rails; rail++)); do [ "$rail" -eq "$alive" ] || mute "$host" "$rail"; done
  status=0
  wait_job || status=$?
  for ((rail = 0; rail < rails; rail++)); do [ "$rail" -eq "$alive" ] || hear "$host" "$rail"; done
  right=$(cat "$outputs"/* | grep -c 'rail_finish: PE [01]: right')
  [ "$status" -eq 0 ] && [ "$right" -eq 2 ] && continue
  echo "FAILED: job $i with status $status; $right of 2 PEs were right; of host $host only rail$alive lived; $rounds rounds"
  cat "$outputs"/*
  failed=1
done
exit $failed
