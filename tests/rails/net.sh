#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Two hosts with several network interfaces each, on one machine. To be sourced; docs/two-hosts.md explains it.
#
# Hosts "a" and "b" are network namespaces. Their interfaces rail0, rail1... lead to a third namespace that routes
# between all of them, as a switch does: any rail of one host reaches any rail of the other, and a rail that fails
# takes only itself away. (Pairs that join rail0 to rail0 directly would not do: traffic from rail0 to rail1 would
# leave by the one interface and come back by the other.) The bootstrap has a cable of its own, boot0, which nothing
# here ever pulls or slows.
#
#   net_begin RAILS [RATE]         makes it all, every rail shaped to RATE (tc's notation); unmade on exit
#   shape HOST RAIL RATE [BURST]   new rate of a rail, both ways; "none" = as fast as the machine
#   mute HOST RAIL, hear HOST RAIL the switch drops traffic from a rail and to it: nothing arrives, nothing tells
#   pull HOST RAIL, plug HOST RAIL pulls the cable out and puts it back: the link is gone
#   down HOST RAIL, up HOST RAIL   switches the interface off and on
#   rail_bytes HOST RAIL rx|tx     what has passed so far
#   on_host HOST COMMAND...
#   start_job A B PROGRAM...       A PEs on host a (the first ones), B on host b; outputs in $outputs/PE ($scratch is free)
#   wait_job                       the worst exit status of its PEs
#   run_job A B PROGRAM...         both, and shows the outputs
# Settings of a job come from the environment; SHMEM_* given there win over those here.

rails=0
port=29571
job=()
scratch=
outputs=

skip() {
  echo "skipped: $*"
  exit 77
}

on_host() {
  local host=$1
  shift
  ip netns exec "$net-$host" "$@"
}

host_address() { # HOST RAIL
  if [ "$1" = a ]; then echo "10.77.$(($2 + 1))"; else echo "10.78.$(($2 + 1))"; fi
}

net_end() {
  local host
  # A job that still runs would keep its namespace alive.
  [ ${#job[@]} -eq 0 ] || kill "${job[@]}" 2> /dev/null
  wait
  for host in a b switch; do ip netns del "$net-$host" 2> /dev/null; done
  rm -rf "$scratch"
}

# One interface of a host, its cable, and routes that keep its traffic on it.
add_rail() { # HOST RAIL
  local host=$1 dev=rail$2 address table=$((100 + $2))
  address=$(host_address "$1" "$2")
  ip -n "$net-$host" link add "$dev" type veth peer name "$host$2" netns "$net-switch" || skip "this kernel has no veth"
  ip -n "$net-$host" addr add "$address.1/24" dev "$dev"
  ip -n "$net-switch" addr add "$address.254/24" dev "$host$2"
  ip -n "$net-switch" link set "$host$2" up
  ip -n "$net-$host" rule add from "$address.1" table "$table" || skip "this kernel does not route by source address"
  # When the interface is off nothing may slip out by another one.
  ip -n "$net-$host" route add unreachable default metric 9999 table "$table"
  up "$host" "$2"
}

cables_are_up() {
  local host i
  for host in a b; do
    for ((i = 0; i < rails; i++)); do
      ip -n "$net-$host" -o link show "rail$i" | grep -q LOWER_UP || return 1
    done
    ip -n "$net-$host" -o link show boot0 | grep -q LOWER_UP || return 1
  done
}

net_begin() {
  local host i
  net=railshmem-$$ # the process id keeps runs beside each other apart
  rails=$1
  command -v ip > /dev/null || skip "iproute2 (ip) is not installed"
  ip netns add "$net-a" 2> /dev/null || skip "this user may not create network namespaces (ip netns add); run as root"
  scratch=$(mktemp -d)
  outputs=$scratch/outputs
  mkdir "$outputs"
  trap net_end EXIT
  trap 'exit 130' INT TERM
  for host in b switch; do ip netns add "$net-$host" || skip "a second network namespace could not be created"; done
  for host in a b switch; do ip -n "$net-$host" link set lo up; done
  on_host switch sysctl -qw net.ipv4.ip_forward=1 || skip "this system does not forward packets in a namespace"
  # Everything is born inside, so nothing of the test ever touches the machine's own network.
  ip -n "$net-a" link add boot0 type veth peer name boot0 netns "$net-b" || skip "this kernel has no veth"
  ip -n "$net-a" addr add 10.76.0.1/24 dev boot0
  ip -n "$net-b" addr add 10.76.0.2/24 dev boot0
  for host in a b; do
    ip -n "$net-$host" link set boot0 up
    for ((i = 0; i < rails; i++)); do
      add_rail "$host" "$i"
      [ -z "${2:-}" ] || shape "$host" "$i" "$2"
    done
  done
  # A cable is up once each end has seen the other; before that libfabric finds no interface but lo.
  for ((i = 0; i < 50; i++)); do
    cables_are_up && return
    sleep 0.1
  done
  skip "the virtual cables do not come up"
}

# Both ends, so that the rail is as slow for what it receives. The queue is 50 ms long, as in a cheap switch.
shape() { # HOST RAIL RATE [BURST]
  local netns dev
  while read -r netns dev; do
    if [ "$3" = none ]; then
      tc -n "$netns" qdisc del dev "$dev" root 2> /dev/null
    else
      tc -n "$netns" qdisc replace dev "$dev" root tbf rate "$3" burst "${4:-256kb}" latency 50ms ||
        skip "tc cannot shape an interface (iproute2's tc and the kernel's tbf are needed)"
    fi
  done << END
$net-$1 rail$2
$net-switch $1$2
END
  return 0
}

mute() { # HOST RAIL
  local address way
  address=$(host_address "$1" "$2").1
  for way in from to; do ip -n "$net-switch" rule add priority 50 "$way" "$address" blackhole; done
}
hear() { # HOST RAIL
  local address way
  address=$(host_address "$1" "$2").1
  for way in from to; do ip -n "$net-switch" rule del priority 50 "$way" "$address" blackhole; done
}
pull() { ip -n "$net-switch" link set "$1$2" down; }
plug() { ip -n "$net-switch" link set "$1$2" up; }
down() { ip -n "$net-$1" link set "rail$2" down; }
up() { # HOST RAIL; routes by an interface vanish with it
  local address
  address=$(host_address "$1" "$2")
  ip -n "$net-$1" link set "rail$2" up
  ip -n "$net-$1" route replace default via "$address.254" dev "rail$2" table "$((100 + $2))"
  # Whoever names no source address: by any rail.
  ip -n "$net-$1" route replace 10.64.0.0/10 via "$address.254" dev "rail$2" metric "$((10 + $2))"
}

rail_bytes() { on_host "$1" cat "/sys/class/net/rail$2/statistics/$3_bytes"; }

# rail0,rail1,... of the first COUNT rails: what SHMEM_OFI_NICS takes.
rail_list() {
  local i list=rail0
  for ((i = 1; i < $1; i++)); do list=$list,rail$i; done
  echo "$list"
}

# RAILS_USED: how many of the rails the job may use (default: all).
start_job() { # A B PROGRAM...
  local a=$1 npes=$(($1 + $2)) pe host used=${RAILS_USED:-$rails}
  shift 2
  port=$((port + 20)) # two jobs one after the other must not meet on one port
  rm -f "$outputs"/*
  job=()
  for ((pe = 0; pe < npes; pe++)); do
    host=a
    [ "$pe" -lt "$a" ] || host=b
    ip netns exec "$net-$host" env RANK="$pe" WORLD_SIZE="$npes" MASTER_ADDR=10.76.0.1 MASTER_PORT="$port" \
      SHMEM_BOOTSTRAP=tcp SHMEM_TRANSPORT="${SHMEM_TRANSPORT:-auto}" \
      SHMEM_OFI_PROVIDER="${SHMEM_OFI_PROVIDER:-tcp}" SHMEM_OFI_MAX_RAILS="$used" \
      SHMEM_OFI_NICS="${SHMEM_OFI_NICS:-$(rail_list "$used")}" SHMEM_SYMMETRIC_SIZE="${SHMEM_SYMMETRIC_SIZE:-48M}" \
      SHMEM_TIMEOUT="${SHMEM_TIMEOUT:-20}" timeout -k 2 "${JOB_SECONDS:-60}" "$@" > "$outputs/$pe" 2>&1 &
    job+=($!)
  done
}

wait_job() {
  local pid status=0
  for pid in "${job[@]}"; do
    wait "$pid" || status=$?
  done
  job=()
  return $status
}

run_job() {
  local status=0
  start_job "$@"
  wait_job || status=$?
  cat "$outputs"/*
  return $status
}
