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
# has NAME...: the Python has these packages. They are not imported: torch takes two seconds for that.
has() {
  "$python" -c 'import importlib.util, sys; sys.exit(not all(importlib.util.find_spec(name) for name in sys.argv[1:]))' "$@"
}
# imports WORDS: the Python can import them.
imports() {
  "$python" -c "import $1" >/dev/null 2>&1
}
# has_torch_2_9: fsdp and symm_mem call functions that torch has since then.
has_torch_2_9() {
  has torch && "$python" -c '
import importlib.metadata, sys
sys.exit([int(part) for part in importlib.metadata.version("torch").split("+")[0].split(".")[:2]] < [2, 9])'
}
has numpy pytest || {
  echo "SKIPPED: $python has no numpy or no pytest; scripts/python.sh --install gets them"
  exit 77
}
missing=''
case $folder in
  distributed | torchrun | moe) has torch || missing=torch ;;
  c10d) has torch expecttest || missing='torch or expecttest' ;;
  fsdp) has_torch_2_9 || missing='torch 2.9 or newer' ;;
  symm_mem)
    if ! has_torch_2_9; then
      missing='torch 2.9 or newer'
    elif ! command -v ninja >/dev/null; then
      missing=ninja
    fi
    ;;
  triton) imports triton || missing=triton ;;
  numba) imports numba.cuda || missing=numba.cuda ;;
  triton_gpu) imports 'triton, torch; torch.cuda.current_device()' || missing='triton, torch or a GPU' ;;
esac
[ -z "$missing" ] || {
  echo "SKIPPED: $python has no $missing; scripts/python.sh --install --torch gets it where it can be had"
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
