#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Runs the tests of the Python package: run.sh PYTHON OSHRUN pes N    those of the folder pes, by N PEs
#                                       run.sh PYTHON OSHRUN jobs     those of the folder jobs, which start jobs
# PYTHONPATH names the folder of the package. Exit 77 where numpy or pytest is missing.
set -eu
python=$1 oshrun=$2 folder=$3 npes=${4:-}
tests=$(cd "$(dirname "$0")" && pwd)
"$python" -c 'import numpy, pytest' 2>/dev/null || {
  echo "SKIPPED: $python has no numpy or no pytest; scripts/python.sh --install gets them"
  exit 77
}
unset PYTHONUNBUFFERED  # a line and its end would be two writes
export PYTHONDONTWRITEBYTECODE=1 SHMEM_WAIT_TIMEOUT=60
set -- "$python" -m pytest -q -x -p no:cacheprovider "$tests/$folder"
[ -z "$npes" ] || EXPECTED_PES=$npes exec "$oshrun" -n "$npes" "$@"
exec "$@"
