#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Two hosts on one machine: two network namespaces joined by a veth pair, two PEs in each. PEs of one namespace reach
# each other by load and store, PEs of different ones by libfabric over the pair. docs/two-hosts.md explains it.
#
# netns_test.sh <folder of the conformance programs> [program...]
set -u
programs_at=$1
shift
programs=("$@")
[ ${#programs[@]} -gt 0 ] || programs=(load_store put_get put_signal amo)
npes=4
port=29571
a=railshmem-a-$$ # the process id keeps runs beside each other apart
b=railshmem-b-$$

skip() {
  echo "skipped: $*"
  exit 77
}
command -v ip > /dev/null || skip "iproute2 (ip) is not installed"
ip netns add "$a" 2> /dev/null || skip "this user may not create network namespaces (ip netns add); run as root"
outputs=$(mktemp -d)
trap 'ip netns del "$a"; ip netns del "$b" 2> /dev/null; rm -rf "$outputs"' EXIT
ip netns add "$b" || skip "the second network namespace could not be created"

# Both ends are born inside, so nothing of the test ever touches the machine's own network.
ip -n "$a" link add rail0 type veth peer name rail0 netns "$b" || skip "this kernel has no veth"
ip -n "$a" addr add 10.77.1.1/24 dev rail0
ip -n "$b" addr add 10.77.1.2/24 dev rail0
for host in "$a" "$b"; do
  ip -n "$host" link set lo up
  ip -n "$host" link set rail0 up
done

# A pair is up once each end has seen the other; before that libfabric finds no interface but lo.
for _ in $(seq 50); do
  up=$(for host in "$a" "$b"; do ip -n "$host" -o link show rail0; done | grep -c LOWER_UP)
  [ "$up" -eq 2 ] && break
  sleep 0.1
done
[ "$up" -eq 2 ] || skip "the veth pair does not come up"

# One PE of a job, on the first host when its number is below 2.
start_pe() {
  local pe=$1 host=$a
  shift
  [ "$pe" -ge 2 ] && host=$b
  env RANK="$pe" WORLD_SIZE="$npes" MASTER_ADDR=10.77.1.1 MASTER_PORT="$port" SHMEM_BOOTSTRAP=tcp \
    SHMEM_TRANSPORT=auto SHMEM_OFI_PROVIDER='tcp;ofi_rxm' SHMEM_SYMMETRIC_SIZE=48M SHMEM_TIMEOUT=20 \
    CONFORMANCE_QUICK=1 CONFORMANCE_NODE=2 ip netns exec "$host" timeout -k 2 60 "$@" > "$outputs/$pe" 2>&1
}

failed=0
for program in "${programs[@]}"; do
  pids=()
  for pe in $(seq 0 $((npes - 1))); do
    start_pe "$pe" "$programs_at/$program" &
    pids+=($!)
  done
  status=0
  for pid in "${pids[@]}"; do
    wait "$pid" || status=$?
  done
  cat "$outputs"/*
  if [ "$status" -ne 0 ]; then
    echo "$program: FAILED with status $status"
    failed=1
  elif ! grep -q "$program: passed, $npes PEs" "$outputs"/*; then
    echo "$program: FAILED: the PEs did not form one job of $npes"
    failed=1
  fi
  # Two jobs one after the other must not meet on one port.
  port=$((port + 20))
done

# load_store with CONFORMANCE_NODE=2 has checked that exactly the PEs of one namespace reach each other. That bytes
# really crossed the pair shows here: the quick programs move megabytes.
moved=$(ip netns exec "$a" cat /sys/class/net/rail0/statistics/tx_bytes 2> /dev/null)
echo "bytes from the first host to the second: ${moved:-unknown}"
if [ -n "$moved" ] && [ "$moved" -lt 1000000 ]; then
  echo "FAILED: the PEs hardly used the network between the hosts"
  failed=1
fi
exit $failed
