#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs a test or benchmark of DeepEP, as its authors wrote it, on railshmem.deep_ep in place of its package.
#   tests/programs/deepep_tests.sh DEEPEP TEST [OPTION of the test...]
#     DEEPEP   a checkout of DeepEP that you fetched: its folder deep_ep/utils is used, and the test; nothing is built
#     TEST     below that folder, as tests/legacy/test_low_latency.py or tests/legacy/test_intranode.py
# PYTHON     with PyTorch and railshmem      (default: python3; PYTHONPATH names the package where it is not installed)
# SHMEM_SYMMETRIC_SIZE                       (default here: 4G, for the buffers that these tests ask for)
# MASK_AFTER_MS  for test_low_latency.py --shrink-test, which needs 6 ranks or more: how long a call waits for a rank that
#                stays away (default: 10000)
# Exit status: that of the test.
set -eu
if [ $# -lt 2 ] || [ ! -f "$1/$2" ] || [ ! -d "$1/deep_ep/utils" ]; then
  sed -n '3,11p' "$0" >&2
  exit 2
fi
deepep=$(cd "$1" && pwd)
test=$deepep/$2
shift 2
shim=$(mktemp -d)
trap 'rm -rf "$shim"' EXIT
mkdir "$shim/deep_ep"
cat >"$shim/deep_ep/__init__.py" <<END
from railshmem.deep_ep import *
Buffer.mask_after_ms = ${MASK_AFTER_MS:-10000}
__path__.append("$deepep/deep_ep")
END
# The helpers of DeepEP import its compiled module. Tests of this interface call nothing in it.
cat >"$shim/deep_ep/_C.py" <<END
from railshmem.deep_ep import EventHandle
END
export PYTHONPATH=$shim${PYTHONPATH:+:$PYTHONPATH} PYTHONDONTWRITEBYTECODE=1
export SHMEM_SYMMETRIC_SIZE=${SHMEM_SYMMETRIC_SIZE:-4G} SHMEM_HEAP_KIND=${SHMEM_HEAP_KIND:-device}
"${PYTHON:-python3}" "$test" "$@"
