#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# One rail over a relay in user space that loses, repeats, delays and damages packets, while MTU and link change: all
# data is right. Then one damage that TCP does not see: the data is wrong, and with SHMEM_CHECK_DATA=1 the job ends and
# says why before wrong data is anywhere.
# noise.sh <folder of rail_finish>      ROUNDS (default 20), SEED (default 1)
set -u
programs_at=$1
here=$(dirname "$0")
# shellcheck source=net.sh
. "$here/net.sh"

[ -e /dev/net/tun ] || skip "this system has no /dev/net/tun"
command -v python3 > /dev/null || skip "python3 is not installed"
net_begin 1
# TCP's timeouts grow with the losses: under a loss of 20 % it is silent for up to some ten seconds.
export SHMEM_OFI_NICS=noisy0 SHMEM_OFI_PROVIDER="${SHMEM_OFI_PROVIDER:-tcp}" SHMEM_TIMEOUT="${SHMEM_TIMEOUT:-80}"
rounds=${ROUNDS:-20}
failed=0
relay=
fail() {
  echo "FAILED: $*"
  cat "$outputs"/*
  failed=1
}

# The devices vanish with the relay.
stop_relay() {
  [ -z "$relay" ] || kill "$relay" 2> /dev/null
  wait "$relay" 2> /dev/null
  relay=
}
trap 'stop_relay; net_end' EXIT

start_relay() { # OPTIONS of relay.py
  local k host
  stop_relay
  : > "$scratch/relay"
  ip netns exec "$net-switch" python3 "$here/relay.py" --seed "${SEED:-1}" "$@" > "$scratch/relay" 2>&1 &
  relay=$!
  for ((k = 0; k < 200; k++)); do
    grep -q ready "$scratch/relay" && break
    kill -0 "$relay" 2> /dev/null || skip "no TUN device can be made: $(tail -1 "$scratch/relay")"
    sleep 0.1
  done
  for host in a b; do
    ip -n "$net-switch" link set "noisy-$host" netns "$net-$host" name noisy0
    ip -n "$net-$host" addr add "10.79.0.$([ $host = a ] && echo 1 || echo 2)/24" dev noisy0
    ip -n "$net-$host" link set noisy0 up
  done
}

# While the job runs: smaller and larger packets, and a link that goes for moments.
disturb() {
  local mtu
  while kill -0 "${job[@]}" 2> /dev/null; do
    for mtu in 700 1400 576 1500; do
      for host in a b; do ip -n "$net-$host" link set noisy0 mtu "$mtu" 2> /dev/null; done
      sleep 0.2
    done
    ip -n "$net-b" link set noisy0 down
    sleep 0.1
    ip -n "$net-b" link set noisy0 up
    sleep 0.5
  done
}

# try NAME ROUNDS BYTES OPTIONS...: status 0, and both PEs right
try() {
  local name=$1 status=0
  local -a program=("$programs_at/rail_finish" --rounds "$2" --bytes "$3")
  shift 3
  start_relay "$@"
  JOB_SECONDS=160 start_job 1 1 "${program[@]}"
  [ "$name" != changes ] || disturb
  wait_job || status=$?
  [ "$status" -eq 0 ] || fail "$name: status $status"
  [ "$(cat "$outputs"/* | grep -c 'PE [01]: right')" -eq 2 ] || fail "$name: not both PEs were right"
  stop_relay
  echo "$name: status $status; $(tail -1 "$scratch/relay")"
  grep -q 'loss [1-9]' "$scratch/relay" || fail "$name: no packet was lost"
}
try faults "$rounds" 200000 --loss 0.01 --twice 0.05 --late 0.05 --flip 0.01
try loss "$((rounds / 4 + 1))" 20000 --loss 0.2
try changes "$rounds" 200000 --loss 0.01 --late 0.02

# damage CHECK: one packet of the job's data is damaged behind the back of TCP's sum
damage() {
  local status=0
  start_relay --swap 20
  SHMEM_CHECK_DATA=$1 SHMEM_TIMEOUT=10 JOB_SECONDS=60 start_job 1 1 "$programs_at/rail_finish" --rounds 5 \
    --bytes 200000 --marked 1
  wait_job || status=$?
  [ "$status" -ne 0 ] || fail "SHMEM_CHECK_DATA=$1: nobody noticed the damage"
}
damage 0
grep -q 'WRONG' "$outputs"/* || fail "without checksums the damage does not reach the data: this test cannot fail"
damage 1
grep -q 'WRONG' "$outputs"/* && fail "wrong data although SHMEM_CHECK_DATA=1"
grep -q 'error: a message of .* bytes over rail tcp.* was damaged on its way' "$outputs"/* ||
  fail "no message names the damage"
echo "damage: $(grep -h 'was damaged' "$outputs"/* | head -1)"
exit $failed
