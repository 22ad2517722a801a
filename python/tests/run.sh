#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Runs the tests of the Python package: run.sh PYTHON OSHRUN FOLDER N        those of the folder pes, distributed, c10d, fsdp,
#                                                                            symm_mem or moe, by N PEs
#                                       run.sh PYTHON OSHRUN jobs|torchrun   those of these folders, which start jobs
#                                       run.sh PYTHON OSHRUN triton|numba    kernels, compiled without a GPU
#                                       run.sh PYTHON OSHRUN triton_gpu N    kernels on GPUs, by N PEs
# PYTHONPATH names the folder of the package. Exit 77 where numpy, pytest, or what the folder is about is missing.
set -eu
python=$1 oshrun=$2 folder=$3 npes=${4:-}
tests=$(cd "$(dirname "$0")" && pwd)
"$python" -c 'import numpy, pytest' 2>/dev/null || {
  echo "SKIPPED: $python has no numpy or no pytest; scripts/python.sh --install gets them"
  exit 77
}
case $folder in
  distributed | torchrun) needs='torch.distributed' ;;
  c10d) needs='expecttest, torch.distributed' ;;
  fsdp) needs='torch.distributed; from torch.distributed.fsdp import FSDPModule; FSDPModule.set_custom_all_gather' ;;
  symm_mem) needs='torch.utils.cpp_extension as c, torch._C._distributed_c10d as d; c.verify_ninja_availability(); d._SymmetricMemory' ;;
  moe) needs=torch ;;
  triton) needs=triton ;;
  numba) needs=numba.cuda ;;
  triton_gpu) needs='triton, torch; torch.cuda.current_device()' ;;
  *) needs=sys ;;
esac
"$python" -c "import $needs" >/dev/null 2>&1 || {
  echo "SKIPPED: $python cannot do: import $needs; scripts/python.sh --install --torch gets it where it can be had"
  exit 77
}
case $folder in triton | numba | triton_gpu)
  "$python" -c "import railshmem._device_library as d, sys; sys.exit(d.find('bc') is None)" || {
    echo "SKIPPED: this build has no librailshmem_device.bc; it needs clang 19 or 20 (the package clang-19)"
    exit 77
  }
  ;;
esac
unset PYTHONUNBUFFERED  # a line and its end would be two writes
export PYTHONDONTWRITEBYTECODE=1 SHMEM_WAIT_TIMEOUT=60
[ "$folder" != c10d ] || export CUDA_VISIBLE_DEVICES=  # torch's tests would take every GPU for their tensors
[ "$folder" != triton_gpu ] || export SHMEM_HEAP_KIND=device
set -- "$python" -m pytest -q -x -rs -p no:cacheprovider "$tests/$folder"
[ -z "$npes" ] || EXPECTED_PES=$npes exec "$oshrun" -n "$npes" "$@"
exec "$@"
