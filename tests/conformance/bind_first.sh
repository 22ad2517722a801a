#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Runs a program with PE 0 bound to one CPU and the others free: PEs of a node then see different numbers of CPUs.
command -v taskset >/dev/null || {
  echo "SKIPPED: no taskset (Debian and Ubuntu: util-linux)"
  exit 77
}
[ "${RAILSHMEM_LAUNCHER_PE:-}" = 0 ] || exec "$@"
allowed=$(taskset -cp $$ | sed 's/.*: *//; s/[,-].*//')
exec taskset -c "$allowed" "$@"
