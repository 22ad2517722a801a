#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Signals and flags behind their data while one rail is a hundred times slower than the others. Then that test with
# ordering switched off, where violations must be seen: otherwise this test could not fail.
# order.sh <folder of rail_order>      RAILS (default 2), SECONDS_EACH (default 5)
set -u
programs_at=$1
# shellcheck source=net.sh
. "$(dirname "$0")/net.sh"

net_begin "${RAILS:-2}" 500mbit
slow=$((rails - 1))
failed=0

# A burst as long as in the fast rails would let every message of this test pass at full speed.
slow_down() { # HOST
  shape "$1" "$slow" 5mbit 16kb
}

# try NAME HOST: the last rail of HOST is the slow one.
try() {
  local status=0
  echo "== $1"
  for host in a b; do shape "$host" "$slow" 500mbit; done
  slow_down "$2"
  run_job 1 1 "$programs_at/rail_order" --seconds "${SECONDS_EACH:-5}" || status=$?
  return $status
}

for host in a b; do
  try "rail$slow of host $host slow" "$host" || {
    echo "FAILED with status $? (3: data came after its signal)"
    failed=1
  }
done

if [ "$rails" -lt 2 ]; then
  echo "one rail: without another to overtake, nothing tells whether ordering is on"
  exit $failed
fi
status=0
SHMEM_TEST_UNORDERED=1 try "rail$slow slow, ordering switched off" a || status=$?
if [ "$status" -eq 3 ]; then
  echo "violations were seen, as they must"
else
  echo "FAILED with status $status: without ordering, data must come after its signal (status 3)"
  failed=1
fi
exit $failed
