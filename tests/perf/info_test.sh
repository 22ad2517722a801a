#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# shmem_info names the commit and the versions of CUDA, MPI and PMIx, and says in words where there is no limit.
#   info_test.sh SHMEM_INFO
set -eu
fail() {
  echo "$1" >&2
  exit 1
}
# --rails fails where the settings name a NIC that this machine lacks; the rest is told anyway.
said=$("$1" --providers --topology --env)
printf '%s\n' "$said" | head -n 1 | grep -Eq ', OpenSHMEM 1\.[0-9], commit ([0-9a-f]{7,40}(-dirty)?|none)$' || fail "the first line names no commit: $(printf '%s\n' "$said" | head -n 1)"
built=$(printf '%s\n' "$said" | sed -n 2p)
echo "$built" | grep -Eq '^built with: CUDA (none|nvcc [0-9.]+); MPI (none|(Open MPI|MPICH) [0-9][^;]*); PMIx (none|[0-9][0-9.a-z]*)$' || fail "the second line is: $built"
! printf '%s\n' "$said" | grep -q 18446744073709551615 || fail "a missing limit is shown as 18446744073709551615"
"$1" --providers --json | python3 -c 'import json, sys; told = json.load(sys.stdin); assert {"commit", "cuda", "mpi", "pmix"} <= told.keys(), told.keys()' || fail "--json lacks a key"
echo passed
