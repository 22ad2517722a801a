#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Two hosts on one machine, two PEs on each. PEs of one host reach each other by load and store, PEs of different ones
# by libfabric over virtual cables. docs/two-hosts.md explains it.
#
# netns_test.sh <folder of the conformance programs> [program...]      RAILS (default 1): network interfaces of a host
set -u
programs_at=$1
shift
programs=("$@")
[ ${#programs[@]} -gt 0 ] || programs=(load_store put_get put_signal amo)
# shellcheck source=../rails/net.sh
. "$(dirname "$0")/../rails/net.sh"

net_begin "${RAILS:-1}"
export CONFORMANCE_QUICK=1 CONFORMANCE_NODE=2
failed=0
for program in "${programs[@]}"; do
  status=0
  run_job 2 2 "$programs_at/$program" || status=$?
  if [ "$status" -ne 0 ]; then
    echo "$program: FAILED with status $status"
    failed=1
  elif ! grep -q "$program: passed, 4 PEs" "$outputs"/*; then
    echo "$program: FAILED: the PEs did not form one job of 4"
    failed=1
  fi
done

# load_store with CONFORMANCE_NODE=2 has checked that exactly the PEs of one namespace reach each other. That bytes
# really crossed the cables shows here: the quick programs move megabytes.
for ((rail = 0; rail < rails; rail++)); do
  moved=$(rail_bytes a "$rail" tx)
  echo "bytes from the first host by rail$rail: $moved"
  if [ "$moved" -lt 1000000 ]; then
    echo "FAILED: the PEs hardly used rail$rail between the hosts"
    failed=1
  fi
done
exit $failed
