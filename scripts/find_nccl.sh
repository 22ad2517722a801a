#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Prints the folder of the NCCL wheel (nvidia-nccl-cu12, -cu13; PyTorch brings it) that python3 (or PYTHON) would import;
# without a wheel that of the CUDA toolkit, beside nvcc (or NVCC). The folder has lib/libnccl.so.2, and include/nccl.h.
set -eu
wheel=$("${PYTHON:-python3}" -c '
import importlib.util
spec = importlib.util.find_spec("nvidia.nccl") if importlib.util.find_spec("nvidia") else None
print(list(spec.submodule_search_locations)[0] if spec and spec.submodule_search_locations else "")' 2>/dev/null || true)
compiler=$(command -v "${NVCC:-nvcc}" || echo /usr/local/cuda/bin/nvcc)
toolkit=$(dirname "$(dirname "$(readlink -f "$compiler")")")
for folder in "$wheel" "$toolkit" /usr/local/cuda; do
  if [ -n "$folder" ] && [ -e "$folder/lib/libnccl.so.2" ]; then
    echo "$folder"
    exit
  fi
done
echo "find_nccl.sh: neither ${PYTHON:-python3} nor the CUDA toolkit has NCCL; pip install nvidia-nccl-cu13, or set PYTHON" >&2
exit 1
