#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Compiles every C and C++ source of a folder, each by itself, with an installed oshcc or oshc++, and runs it. For public
# examples and tests of OpenSHMEM, whose sources are not part of ours; docs/porting.md lists those that were tried.
#   tests/programs/public_programs.sh PREFIX FOLDER
# FLAGS     flags for the compiler, such as -I or -D       (default: none)
# PES       numbers of PEs, space-separated                (default: 2 4)
# LIMIT     seconds for each run                           (default: 20)
# LOGS      folder for what compilers and programs print   (default: a new one in /tmp)
# Prints a line for each that did not compile or did not end with 0, then the sums. Exit status 1 when there is such a one.
set -u
if [ $# -ne 2 ] || [ ! -x "$1/bin/oshcc" ] || [ ! -d "$2" ]; then
  sed -n '3,10p' "$0" >&2
  exit 2
fi
bin=$1/bin
folder=$2
logs=${LOGS:-$(mktemp -d)}
limit=${LIMIT:-20}
mkdir -p "$logs"
export SHMEM_SYMMETRIC_SIZE="${SHMEM_SYMMETRIC_SIZE:-256M}"
compiled=0 refused=0 well=0 otherwise=0
for source in "$folder"/*.c "$folder"/*.cc "$folder"/*.cpp; do
  [ -f "$source" ] || continue
  log=$logs/$(basename "$source")
  case $source in *.cc | *.cpp) compiler=oshc++ ;; *) compiler="oshcc -std=gnu11" ;; esac
  # shellcheck disable=SC2086
  if ! "$bin"/$compiler -w -O1 ${FLAGS:-} "-I$folder" "$source" -o "$log.program" -lm -lpthread >"$log.compiler" 2>&1; then
    echo "$(basename "$source"): does not compile: $(grep -m1 -oE '(error|undefined).*' "$log.compiler")"
    refused=$((refused + 1))
    continue
  fi
  compiled=$((compiled + 1))
  statuses='' bad=
  for pes in ${PES:-2 4}; do
    "$bin/oshrun" -n "$pes" --timeout "$limit" "$log.program" >"$log.$pes" 2>&1 </dev/null
    status=$?
    statuses="$statuses, $status on $pes PEs"
    if [ $status -ne 0 ]; then bad="$bad $(tail -n 1 "$log.$pes")"; fi
  done
  rm -f "$log.program"
  if [ -z "$bad" ]; then
    well=$((well + 1))
  else
    otherwise=$((otherwise + 1))
    echo "$(basename "$source"): ends with${statuses#,}:$bad"
  fi
done
echo "$compiled compiled, of which $well ended with 0 and $otherwise otherwise; $refused did not compile; logs in $logs"
[ $((refused + otherwise)) -eq 0 ]
