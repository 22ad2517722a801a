#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What several rails give, between two hosts made of network namespaces with shaped interfaces, as a markdown page on
# standard output; docs/performance/rails.jsonl keeps those worth it. Needs root. Exit status 77 = skipped, with the reason.
#   scripts/bench_rails.sh > rails.md
# PERF    the shmem_perf to run                      (default: build/release/perftest/shmem_perf)
# RATE    of a rail, megabits a second               (default: 500; four must not ask more than the CPUs give)
# ROUNDS  every configuration is run this often, in turn; the median counts   (default: 5)
# ONLY    words of what to run: scaling uneven spread latency loaded loaded_apart posting failover engine peers   (default: all)
set -u
root=$(cd "$(dirname "$0")/.." && pwd)
perf=${PERF:-$root/build/release/perftest/shmem_perf}
rate=${RATE:-500}
rounds=${ROUNDS:-5}
only=${ONLY:-scaling uneven spread latency loaded loaded_apart posting failover engine peers}
# shellcheck source=../tests/rails/net.sh
. "$root/tests/rails/net.sh"

net_begin 4
shape_all() { # MEGABITS of rail0, of rail1, ...
  local host rail=0 megabits
  for megabits; do
    for host in a b; do
      if [ "$megabits" = none ]; then shape "$host" "$rail" none; else shape "$host" "$rail" "${megabits}mbit"; fi
    done
    rail=$((rail + 1))
  done
}

# bench A B NAME [OPTIONS]: rows of one run in $scratch/rows.
bench() {
  run_job "$1" "$2" "$perf" "${@:3}" --format json > "$scratch/rows" && return
  cat "$scratch/rows" >&2
  echo "bench_rails.sh: $3 with rails ${SHMEM_OFI_NICS:-$RAILS_USED} failed" >&2
  exit 1
}
value() { # METRIC [FIELD]
  sed -n "s/.*\"metric\":\"$1\".*\"${2:-value}\":\\([0-9.e+-]*\\).*/\\1/p" "$scratch/rows" | head -n 1
}
median() { sort -g | awk '{ v[NR] = $1 } END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'; }
median_of() { median < "$scratch/$1"; }
compute() { awk "BEGIN { printf \"$1\", $2 }"; }
selected() { case " $only " in *" $1 "*) return 0 ;; esac; return 1; }
bulk=(--sizes 4M --window 8 --repetitions 3 --warmup 1 --seconds 3)

raw() { # RAILS: MB/s of plain sockets
  local rail sources=() pairs=()
  for rail in "$@"; do
    sources+=("$(host_address b "$rail").1")
    pairs+=("$(host_address a "$rail").1>$(host_address b "$rail").1")
  done
  on_host b "$root/tests/rails/raw_tcp.py" receive 3 "${sources[@]}" > "$scratch/raw" &
  local receiver=$!
  sleep 0.5
  on_host a "$root/tests/rails/raw_tcp.py" send 3 "${pairs[@]}" >&2
  wait $receiver
  cat "$scratch/raw"
}

scaling() {
  local count round
  shape_all "$rate" "$rate" "$rate" "$rate"
  for ((round = 0; round < rounds; round++)); do
    for count in 1 2 4; do
      RAILS_USED=$count bench 1 1 put_bw "${bulk[@]}"
      value bandwidth >> "$scratch/put$count"
      RAILS_USED=$count bench 1 1 get_bw "${bulk[@]}"
      value bandwidth >> "$scratch/get$count"
    done
  done
  echo
  echo "## Equal rails of $rate Mbit/s, 4 MiB, window 8"
  echo
  echo "| rails | plain sockets MB/s | put_bw MB/s | of sockets | x one rail | get_bw MB/s | x one rail |"
  echo "| --- | --- | --- | --- | --- | --- | --- |"
  local put get one_put one_get sockets
  one_put=$(median_of put1) one_get=$(median_of get1)
  for count in 1 2 4; do
    # shellcheck disable=SC2046
    sockets=$(raw $(seq 0 $((count - 1))))
    put=$(median_of "put$count") get=$(median_of "get$count")
    echo "| $count | $sockets | $(compute %.1f "$put * 1e3") | $(compute %.3f "$put * 1e3 / $sockets")" \
      "| $(compute %.3f "$put / $one_put") | $(compute %.1f "$get * 1e3") | $(compute %.3f "$get / $one_get") |"
  done
}

uneven() {
  local round
  shape_all "$rate" $((3 * rate)) none none
  for ((round = 0; round < rounds; round++)); do
    RAILS_USED=1 SHMEM_OFI_NICS=rail0 bench 1 1 put_bw "${bulk[@]}"
    value bandwidth >> "$scratch/slow"
    RAILS_USED=1 SHMEM_OFI_NICS=rail1 bench 1 1 put_bw "${bulk[@]}"
    value bandwidth >> "$scratch/fast"
  done
  # PE 0's rail0 talks to PE 1's rail1 (planes), so these two make the slow path.
  shape b 0 $((3 * rate))mbit
  shape b 1 "${rate}mbit"
  for ((round = 0; round < rounds; round++)); do
    RAILS_USED=2 bench 1 1 put_bw "${bulk[@]}"
    value bandwidth >> "$scratch/both"
  done
  local slow fast both
  slow=$(median_of slow) fast=$(median_of fast) both=$(median_of both)
  echo
  echo "## Rails of 1 : 3, $rate and $((3 * rate)) Mbit/s, 4 MiB, window 8"
  echo
  echo "| rail0 MB/s | rail1 MB/s | both MB/s | of their sum |"
  echo "| --- | --- | --- | --- |"
  echo "| $(compute %.1f "$slow * 1e3") | $(compute %.1f "$fast * 1e3") | $(compute %.1f "$both * 1e3")" \
    "| $(compute %.3f "$both / ($slow + $fast)") |"
}

spread() {
  local count rail
  shape_all "$rate" "$rate" "$rate" "$rate"
  echo
  echo "## 64 KiB puts of four PEs to one, rails of $rate Mbit/s: what the receiver's rails took"
  echo
  echo "| rails | share of each | farthest from even | MB/s |"
  echo "| --- | --- | --- | --- |"
  for count in 2 4; do
    local before=() shares=() total=0 most=0
    for ((rail = 0; rail < count; rail++)); do before[rail]=$(rail_bytes b "$rail" rx); done
    RAILS_USED=$count bench 4 1 put_incast --sizes 64K --window 16 --seconds 5
    for ((rail = 0; rail < count; rail++)); do
      shares[rail]=$(($(rail_bytes b "$rail" rx) - before[rail]))
      total=$((total + shares[rail]))
    done
    local text=""
    for ((rail = 0; rail < count; rail++)); do
      text="$text $(compute %.3f "${shares[rail]} / $total")"
      most=$(echo "$most ${shares[rail]} $count $total" | awk '{ d = $2 * $3 / $4 - 1; if (d < 0) d = -d; print (d > $1 ? d : $1) }')
    done
    echo "| $count |$text | $(compute %.3f "$most") | $(compute %.1f "$(value bandwidth) * 1e3") |"
  done
}

latency() {
  local round count
  shape_all none none none none
  for ((round = 0; round < rounds; round++)); do
    for count in 1 2; do
      RAILS_USED=$count bench 1 1 put_signal_pingpong --sizes 8
      value one_way >> "$scratch/latency$count"
    done
  done
  echo
  echo "## 8-byte put_signal, rails without limit"
  echo
  echo "| one rail us | two rails us | x one rail |"
  echo "| --- | --- | --- |"
  local one two
  one=$(median_of latency1) two=$(median_of latency2)
  echo "| $(compute %.2f "$one") | $(compute %.2f "$two") | $(compute %.3f "$two / $one") |"
}

loaded() {
  local count limit round
  echo
  echo "## 8-byte put_signal beside another thread's stream of 1 MiB puts"
  echo
  echo "| rails | Mbit/s of a rail | idle us | loaded us | loaded p99 us | raised x | stream MB/s |"
  echo "| --- | --- | --- | --- | --- | --- | --- |"
  for limit in none "$rate"; do
    shape_all "$limit" "$limit" none none
    for count in 1 2; do
      rm -f "$scratch"/loaded_*
      for ((round = 0; round < rounds; round++)); do
        RAILS_USED=$count bench 1 1 put_signal_loaded --sizes 8 --iters 500
        for metric in idle loaded raised bulk; do value $metric >> "$scratch/loaded_$metric"; done
        value loaded p99 >> "$scratch/loaded_p99"
      done
      echo "| $count | $limit | $(compute %.1f "$(median_of loaded_idle)") | $(compute %.1f "$(median_of loaded_loaded)")" \
        "| $(compute %.1f "$(median_of loaded_p99)") | $(compute %.2f "$(median_of loaded_raised)")" \
        "| $(compute %.1f "$(median_of loaded_bulk) * 1e3") |"
    done
  done
}

# loaded() where the short messages' rail carries nothing else: the delay that is left is not queueing on the rail.
loaded_apart() {
  local round metric
  shape_all "$rate" "$rate" none none
  rm -f "$scratch"/apart_*
  for ((round = 0; round < rounds; round++)); do
    SHMEM_OFI_STRIPE_RAILS=1 RAILS_USED=2 bench 1 1 put_signal_loaded --sizes 8 --iters 500
    for metric in idle loaded raised bulk; do value $metric >> "$scratch/apart_$metric"; done
    value loaded p99 >> "$scratch/apart_p99"
  done
  echo
  echo "## Signals beside a stream on two rails of $rate Mbit/s, with the stream on the first alone (SHMEM_OFI_STRIPE_RAILS=1)"
  echo
  echo "| idle us | loaded us | loaded p99 us | raised x | stream MB/s |"
  echo "| --- | --- | --- | --- | --- |"
  echo "| $(compute %.1f "$(median_of apart_idle)") | $(compute %.1f "$(median_of apart_loaded)")" \
    "| $(compute %.1f "$(median_of apart_p99)") | $(compute %.2f "$(median_of apart_raised)")" \
    "| $(compute %.1f "$(median_of apart_bulk) * 1e3") |"
}

posting() {
  local provider
  echo
  echo "## Rate of 8-byte puts against fi_writemsg in the same run, two PEs of this host"
  echo
  echo "| provider | put_rate Mops/s | of fi_writemsg |"
  echo "| --- | --- | --- |"
  for provider in "${SHMEM_OFI_PROVIDER:-tcp}" shm; do
    SHMEM_TRANSPORT=ofi SHMEM_OFI_PROVIDER=$provider "$(dirname "$perf")/../bin/oshrun" -n 2 "$perf" put_rate --sizes 8 \
      --floor --rounds "$rounds" --format json > "$scratch/rows"
    echo "| $provider | $(compute %.3f "$(grep put_rate "$scratch/rows" > "$scratch/put"; sed -n 's/.*"value":\([0-9.e+-]*\).*/\1/p' "$scratch/put")") |" \
      "$(sed -n 's/.*"ratio":\([0-9.e+-]*\).*/\1/p' "$scratch/put") |"
  done
}

failover() {
  local count
  echo
  echo "## A rail dies under a stream of puts and returns ($rate Mbit/s each)"
  echo
  for count in 2 4; do
    RAILS=$count RATE=${rate}mbit PHASE=4 "$root/tests/rails/failover.sh" "$(dirname "$perf")/../tests/rails" > "$scratch/failover"
    sed -n "s/^\\(.* MB\\/s before.*\\)/* $count rails, \\1/p" "$scratch/failover"
    grep FAILED "$scratch/failover"
  done
}

rows_of() { sed -n 's/.*"metric":"\([a-z_0-9]*\)".*"unit":"\([^"]*\)".*"value":\([0-9.e+-]*\).*/\1 \2 \3/p' "$1"; }

engine() {
  echo
  echo "## The proxy's thread from ring to watermark, rails that complete at once"
  echo
  echo "| commands | Mops/s | instructions each |"
  echo "| --- | --- | --- |"
  "$perf" engine --repetitions "$((4 * rounds))" --format json > "$scratch/rows"
  rows_of "$scratch/rows" | awk '$2 == "Mops/s" { rate[$1] = $3; order[++n] = $1 } $2 == "instr" { instr[$1] = $3 }
    END { for (i = 1; i <= n; i++) { c = order[i]
      printf "| %s | %.1f | %s |\n", c, rate[c], c in instr ? sprintf("%.0f", instr[c]) : "no counter here" } }'
}

peers() {
  local count npes
  echo
  echo "## What peers cost a PE before any traffic, ${SHMEM_OFI_PROVIDER:-tcp}"
  echo
  echo "| rails | PEs | open ms | open MiB | learn peers ms | B per peer | B per peer and context | descriptor B |"
  echo "| --- | --- | --- | --- | --- | --- | --- | --- |"
  for count in 1 2 4; do
    for npes in 256 4096; do
      SHMEM_OFI_PROVIDER=${SHMEM_OFI_PROVIDER:-tcp} SHMEM_OFI_RAILS_PER_NIC=$count "$perf" peers --iters "$npes" \
        --format json > "$scratch/rows"
      rows_of "$scratch/rows" | awk -v rails="$count" -v npes="$npes" '{ v[$1] = $3 } END {
        printf "| %d | %d | %.0f | %.1f | %.1f | %.0f | %.0f | %.0f |\n", rails, npes, v["open"], v["open_memory"] / 1024,
          v["connect"], v["per_peer"], v["per_context"], v["descriptor"] }'
    done
  done
}

echo "# Rails: two hosts of one machine"
echo
echo "$(date -u +%F), $(nproc) CPUs ($(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1))," \
  "${SHMEM_OFI_PROVIDER:-tcp}, revision $(git -C "$root" rev-parse --short HEAD 2> /dev/null || echo unknown)," \
  "load $(cut -d ' ' -f 1 /proc/loadavg) at start. Medians of $rounds runs."
for part in scaling uneven spread latency loaded loaded_apart posting failover engine peers; do
  if selected "$part"; then "$part"; fi
done
