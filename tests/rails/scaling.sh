#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Two equal rails carry about twice as much as one, and both carry half of it. Only gross failures fail here, because
# other work of this machine disturbs; scripts/bench_rails.sh measures.
# scaling.sh <shmem_perf>      RATE of a rail (default 500mbit)
set -u
perf=$1
# shellcheck source=net.sh
. "$(dirname "$0")/net.sh"

net_begin 2 "${RATE:-500mbit}"
failed=0

bandwidth() { # RAILS_USED; leaves MB/s in $result
  local status=0
  RAILS_USED=$1 run_job 1 1 "$perf" put_bw --sizes 4M --window 8 --repetitions 5 --warmup 1 --seconds 4 --validate \
    --format json > "$scratch/log" || status=$?
  result=$(sed -n 's/.*"value":\([0-9.e+-]*\).*/\1/p' "$scratch/log" | awk '{ print $1 * 1000 }')
  [ "$status" -eq 0 ] && [ -n "$result" ] && return
  cat "$scratch/log"
  echo "FAILED: put_bw with $1 rails ended with status $status"
  exit 1
}

bandwidth 1
one=$result
before0=$(rail_bytes b 0 rx) before1=$(rail_bytes b 1 rx)
bandwidth 2
two=$result
by0=$(($(rail_bytes b 0 rx) - before0)) by1=$(($(rail_bytes b 1 rx) - before1))
echo "4 MiB puts: one rail $one MB/s, two rails $two MB/s; received by rail0 $by0, by rail1 $by1 bytes"
awk -v one="$one" -v two="$two" 'BEGIN { printf "ratio %.2f\n", two / one; exit !(two >= 1.5 * one) }' || {
  echo "FAILED: two rails are not even 1.5 times as fast as one"
  failed=1
}
awk -v a="$by0" -v b="$by1" 'BEGIN { exit !(a > 0.25 * (a + b) && b > 0.25 * (a + b)) }' || {
  echo "FAILED: the two rails did not share the work"
  failed=1
}
exit $failed
