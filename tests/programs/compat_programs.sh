#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# NVSHMEM's own examples and performance tests, unmodified, against include/compat and this library. Their sources are
# not part of ours: they come from a folder with NVSHMEM's examples/ and perftest/.
#   tests/programs/compat_programs.sh build SOURCES [NAME...]   compiles all that it knows, or these; prints what compiles
#   tests/programs/compat_programs.sh run [NAME...]             runs what was built; prints a table
#   tests/programs/compat_programs.sh list                      what it knows, with the arguments of each run
# PROGRAMS  folder of the programs                 (default: build/compat-programs)
# FROM      folder with bin/ and lib/ (scripts/build_gpu_carry.sh), or a build folder; for run: oshrun and the library
#           (default: build/gpu-carry if there, else build/release); build links with the library of BUILD
# BUILD     build folder                           (default: build/release)
# NVCC, ARCH, NVML   compiler, GPU, folder of nvml.h (default: nvcc on PATH, sm_90, the toolkit's)
# PES       PEs of each run, but for programs that need a number of their own (default: 2)
# LIMIT     seconds for each run                   (default: 60)
# LOGS      folder for the outputs                 (default: a new one in /tmp)
# Exit status: 1 when a program did not compile or failed, 77 when run finds no GPU.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
programs=${PROGRAMS:-$root/build/compat-programs}
build=${BUILD:-$root/build/release}

# Name, source, PEs (a number: exactly that many, n: any), environment (NAME=value, or nothing), arguments. A name with
# '=' runs the program that the part before '=' names.
# ring-reduce makes its events before it chooses its GPU, so each PE must be the first of its node; moe_shuffle has an expert
# on each of 16 PEs, of which each node has as many as this machine has GPUs; -c keeps its tables in GPU memory, since a
# kernel reads what malloc() gave on machines with one page table for both only.
list() {
  local pt=perftest/device/pt-to-pt coll=perftest/device/coll host=perftest/host
  local gpus
  gpus=$(nvidia-smi -L 2>/dev/null | grep -c '^GPU')
  [ "$gpus" -gt 0 ] || gpus=2
  local few='-n 50 -w 5 -b 8 -e 65536' bulk='-n 20 -w 5 -c 32 -t 1024 -b 1024 -e 16M'
  cat <<END
hello                  examples/hello.cpp             n
collective-launch      examples/collective-launch.cu  n
put-block              examples/put-block.cu          n
thread-group           examples/thread-group.cu       n
dev-guide-ring         examples/dev-guide-ring.cu     n
ring-bcast             examples/ring-bcast.cu         n
ring-reduce            examples/ring-reduce.cu        n  SHMEM_NODE_SIZE=1 -b 33554432 -e 67108864 -n 5 -w 2
on-stream              examples/on-stream.cu          n
user-buffer            examples/user-buffer.cu        n
moe_shuffle            examples/moe_shuffle.cu        16 SHMEM_NODE_SIZE=$gpus -c
moe_shuffle=random     examples/moe_shuffle.cu        16 SHMEM_NODE_SIZE=$gpus -c -r
moe_shuffle=one_step   examples/moe_shuffle.cu        16 SHMEM_NODE_SIZE=$gpus -c -o -p
moe_shuffle=warp       examples/moe_shuffle.cu        16 SHMEM_NODE_SIZE=$gpus -c -w
put_bw                 $pt/shmem_put_bw.cu            2  $bulk
put_bw=mmap            $pt/shmem_put_bw.cu            2  --mmap $bulk
get_bw                 $pt/shmem_get_bw.cu            2  $bulk
p_bw                   $pt/shmem_p_bw.cu              2  $bulk
g_bw                   $pt/shmem_g_bw.cu              2  -n 20 -w 5 -c 8 -t 1024 -b 1024 -e 65536
st_bw                  $pt/shmem_st_bw.cu             2  $bulk
atomic_bw              $pt/shmem_atomic_bw.cu         2  -n 10 -w 5 -c 4 -t 1024 -b 1024 -e 65536 -a fetch_add
put_latency            $pt/shmem_put_latency.cu       2  $few
put_latency=mmap       $pt/shmem_put_latency.cu       2  --mmap $few
get_latency            $pt/shmem_get_latency.cu       2  $few
p_latency              $pt/shmem_p_latency.cu         2  $few
g_latency              $pt/shmem_g_latency.cu         2  -n 50 -w 5
atomic_latency         $pt/shmem_atomic_latency.cu    2  -n 50 -w 5
put_ping_pong          $pt/shmem_put_ping_pong_latency.cu         2  $few
p_ping_pong            $pt/shmem_p_ping_pong_latency.cu           2  -n 50 -w 5
put_signal_ping_pong   $pt/shmem_put_signal_ping_pong_latency.cu  2  $few
signal_ping_pong       $pt/shmem_signal_ping_pong_latency.cu      2  -n 50 -w 5
atomic_ping_pong       $pt/shmem_atomic_ping_pong_latency.cu      2  -n 50 -w 5
alltoall_latency       $coll/alltoall_latency.cu      n  $few
barrier_latency        $coll/barrier_latency.cu       n  -n 50 -w 5
bcast_latency          $coll/bcast_latency.cu         n  $few
fcollect_latency       $coll/fcollect_latency.cu      n  $few
reduction_latency      $coll/reduction_latency.cu     n  $few
sync_latency           $coll/sync_latency.cu          n  -n 50 -w 5
host_bw                $host/pt-to-pt/bw.cpp          2  -n 20 -w 5 -b 1024 -e 16M
host_latency           $host/pt-to-pt/latency.cpp     2  $few
stream_latency         $host/pt-to-pt/stream_latency.cu       2  $few
alltoall_on_stream     $host/coll/alltoall_on_stream.cpp      n  $few
barrier_all_on_stream  $host/coll/barrier_all_on_stream.cpp   n  -n 50 -w 5
barrier_on_stream      $host/coll/barrier_on_stream.cpp       n  -n 50 -w 5
broadcast_on_stream    $host/coll/broadcast_on_stream.cpp     n  $few
fcollect_on_stream     $host/coll/fcollect_on_stream.cpp      n  $few
reduction_on_stream    $host/coll/reduction_on_stream.cpp     n  $few
reducescatter_on_stream $host/coll/reducescatter_on_stream.cpp n $few
sync_all_on_stream     $host/coll/sync_all_on_stream.cpp      n  -n 50 -w 5
sync_on_stream         $host/coll/sync_on_stream.cpp          n  -n 50 -w 5
END
}

# chosen NAME...: the rows of the list, or those of these names.
chosen() {
  if [ $# -eq 0 ]; then list; else list | grep -E "^($(echo "$*" | tr ' ' '|')) "; fi
}

failed=0
case ${1:-} in
  list) list ;;
  build)
    sources=${2:?where are the sources of NVSHMEM\'s examples and perftest?}
    shift 2
    nvcc=${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
    [ -x "$nvcc" ] || { echo "compat_programs.sh: SKIPPED: no nvcc (set NVCC)"; exit 77; }
    library=$(dirname "$(find "$build" -name librailshmem.so | head -n 1)")
    toolkit=$(cd "$(dirname "$(readlink -f "$nvcc")")/.." && pwd)
    stubs=$(dirname "$(find "$toolkit/" -path '*stubs/libcuda.so' | head -n 1)")
    mkdir -p "$programs/bin" "$programs/objects"
    # 64 registers are what each thread of a block of 1024 has; most of these programs start such blocks.
    flags=(-std=c++17 "-arch=${ARCH:-sm_90}" -maxrregcount=64 -w "-I$build/include/compat" "-I$build/include" "-I$sources/perftest/common"
      "-I$sources/examples" ${NVML:+"-I$NVML"})
    # compile SOURCE OBJECT: only when something is newer than the object.
    compile() {
      mkdir -p "$(dirname "$2")"
      [ "$2" -nt "$1" ] && [ -z "$(find -L "$build/include" -newer "$2" -name '*.h' -print -quit)" ] && return
      "$nvcc" "${flags[@]}" "-I$(dirname "$1")" -x cu -c "$1" -o "$2" >"$2.log" 2>&1
    }
    echo "| program | compiled |"
    echo "| --- | --- |"
    while read -r name source _; do
      object=$programs/objects/$source.o
      more=()
      if [[ $source == perftest/* ]]; then
        more=("$programs/objects/utils.o")
        compile "$sources/perftest/common/utils.cu" "${more[0]}"
      fi
      result=yes
      rm -f "$programs/bin/${name%%=*}"
      if ! compile "$sources/$source" "$object"; then
        result="NO: $(grep -m1 -o 'error.*' "$object.log")"
      elif ! "$nvcc" "-arch=${ARCH:-sm_90}" "$object" "${more[@]}" -o "$programs/bin/${name%%=*}" "-L$library" -lrailshmem \
        ${stubs:+"-L$stubs"} -lcuda >"$object.log" 2>&1; then
        result="NO: linking: $(grep -m1 -o 'undefined.*' "$object.log")"
      else
        strip "$programs/bin/${name%%=*}"
      fi
      [ "$result" = yes ] || { failed=1; rm -f "$object"; }
      echo "| $source | $result |"
    done < <(chosen "$@" | grep -v '^[^ ]*=')
    ;;
  run)
    shift
    if ! nvidia-smi -L 2>/dev/null | grep -q '^GPU'; then
      echo "compat_programs.sh: SKIPPED: nvidia-smi shows no GPU"
      exit 77
    fi
    from=${FROM:-$root/build/gpu-carry}
    [ -d "$from" ] || from=$build
    logs=${LOGS:-$(mktemp -d)}
    mkdir -p "$logs"
    export LD_LIBRARY_PATH=$from/lib:$from${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
    export SHMEM_TIMEOUT=${SHMEM_TIMEOUT:-20} SHMEM_WAIT_TIMEOUT=${SHMEM_WAIT_TIMEOUT:-20}
    oshrun=$from/bin/oshrun
    [ -x "$oshrun" ] || oshrun=$(find "$from" -name oshrun -type f -perm -u+x | head -n 1)
    limit=${LIMIT:-60}
    echo "| program | PEs | environment, arguments | result | time | last line |"
    echo "| --- | --- | --- | --- | --- | --- |"
    while read -r name source pes arguments; do
      [ "$pes" = n ] && pes=${PES:-2}
      environment=()
      while [[ $arguments =~ ^([A-Z_]+=[^ ]*)\ *(.*)$ ]]; do
        environment+=("${BASH_REMATCH[1]}") arguments=${BASH_REMATCH[2]}
      done
      program=$programs/bin/${name%%=*} log=$logs/$name.log began=$SECONDS
      if [ ! -x "$program" ]; then
        echo "| $source | $pes | ${environment[*]} $arguments | not built | | |"
        continue
      fi
      # shellcheck disable=SC2086
      timeout -k 5 "$limit" env "${environment[@]}" "$oshrun" -n "$pes" --timeout "$((limit - 5))" "$program" $arguments >"$log" 2>&1 </dev/null
      status=$?
      verdict=ran
      # The programs print what they find wrong, but return 0.
      if grep -Eq '(^|[^a-z])([Ee]rror|ERROR|FAILED|failed|failure)([^a-zA-Z]|$)' "$log"; then verdict='FAILED: see its output'; fi
      [ "$status" -eq 0 ] || verdict="FAILED: status $status"
      [ "$verdict" = ran ] || { failed=1; echo "== $name: the end of $log:"; tail -n 12 "$log"; }
      last=$(grep -v '^[[:space:]]*$' "$log" | tail -n 1 | tr '|' '/' | cut -c1-70)
      echo "| $source | $pes | ${environment[*]} $arguments | $verdict | $((SECONDS - began)) s | $last |"
    done < <(chosen "$@")
    ;;
  *)
    sed -n '3,19p' "$0" >&2
    exit 2
    ;;
esac
exit $failed
