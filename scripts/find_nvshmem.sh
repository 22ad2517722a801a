#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Prints the folder of the NVSHMEM wheel (nvidia-nvshmem-cu12, -cu13) that python3 (or PYTHON) would import; the one with
# include/ and lib/.
set -eu
"${PYTHON:-python3}" -c '
import importlib.util, sys
spec = importlib.util.find_spec("nvidia.nvshmem") if importlib.util.find_spec("nvidia") else None
if spec is None or not spec.submodule_search_locations:
    sys.exit("find_nvshmem.sh: " + sys.executable + " has no NVSHMEM; pip install nvidia-nvshmem-cu13, or set PYTHON")
print(list(spec.submodule_search_locations)[0])'
