#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# late_reader.sh PIPE SECONDS command...   runs the command with SHMEM_TRACE=PIPE, of which nobody reads for so long, so
#                                          that the job ends late. Prints "the timeline is whole" when it has read all.
set -u
pipe=$1 seconds=$2
shift 2
rm -f "$pipe"
mkfifo "$pipe" || exit 99
(
  sleep "$seconds"
  tail -n 1 "$pipe" | grep -q '}$' && echo "the timeline is whole"
) &
reader=$!
SHMEM_TRACE=$pipe "$@"
status=$?
wait $reader
exit $status
