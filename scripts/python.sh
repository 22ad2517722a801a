#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The Python package railshmem of the folder python:
#   scripts/python.sh --install [--torch]   makes the virtual environment build/python/venv, with what the package's build and its
#                                 tests need; --torch: with PyTorch for CPUs, too (400 MB to fetch, or CUDA's where only that is had)
#   scripts/python.sh wheel [ARGUMENT...]   builds a wheel into build/python/wheels, installs it into a fresh virtual environment, and
#                                 runs the first program of docs/python.md there, and a C program built against the wheel. The
#                                 arguments are pip's, such as --config-settings=cmake.define.RAILSHMEM_CUDA=OFF
# Packages come from PyPI. PYTHON (default python3) is the Python; it needs headers (python3-dev) and venv (python3-venv).
set -eu
cd "$(dirname "$0")/.."
python=${PYTHON:-python3}
venv=build/python/venv
torch_index=https://download.pytorch.org/whl/cpu
torch="torch>=2.9,<2.12"
pip="-m pip --quiet --disable-pip-version-check --timeout 15 --retries 1"

make_venv() {
  "$python" -m venv "$1" || {
    echo "python.sh: $python -m venv failed; on Debian and Ubuntu install python3-venv" >&2
    exit 1
  }
}

install() {
  if ! "$venv/bin/python3" -c 'import nanobind, numpy, pytest' 2>/dev/null; then
    make_venv "$venv"
    # shellcheck disable=SC2086
    "$venv/bin/python3" $pip install -r python/tests/requirements.txt
  fi
  [ "${1:-}" != --torch ] || install_torch
  if "$venv/bin/python3" -c 'import triton, numba.cuda' 2>/dev/null; then return; fi
  # shellcheck disable=SC2086
  "$venv/bin/python3" $pip install -r python/tests/requirements_kernels.txt ||
    echo "python.sh: no Triton or no numba-cuda, so python.triton or python.numba is skipped" >&2
}

# Only the wheels of PyTorch's own index are without CUDA; the ones of PyPI are ten times as large.
install_torch() {
  # torch's own tests, which python.c10d runs, import expecttest.
  # shellcheck disable=SC2086
  "$venv/bin/python3" -c 'import expecttest' 2>/dev/null || "$venv/bin/python3" $pip install expecttest ||
    echo "python.sh: no expecttest, so python.c10d is skipped" >&2
  if "$venv/bin/python3" -c 'import torch' 2>/dev/null; then return; fi
  # shellcheck disable=SC2086
  "$venv/bin/python3" $pip install --index-url "$torch_index" "$torch" || "$venv/bin/python3" $pip install "$torch" || {
    echo "python.sh: SKIPPED: no torch to be had; the tests of railshmem.torch are skipped" >&2
    return 0
  }
}

# first_program: the first block of Python in docs/python.md
# shellcheck disable=SC2016
first_program() { sed -n '/^```python$/,/^```$/p' docs/python.md | sed '1d; /^```$/,$d'; }

wheel() {
  folder=build/python/wheels
  rm -rf "$folder" build/python/fresh
  mkdir -p "$folder"
  # shellcheck disable=SC2086
  "$python" $pip wheel --no-deps --wheel-dir "$folder" "$@" ./python
  ls -l "$folder"
  make_venv build/python/fresh
  fresh=$PWD/build/python/fresh
  # shellcheck disable=SC2086
  "$fresh/bin/python3" $pip install "$folder"/*.whl
  scratch=$(mktemp -d)
  trap 'rm -rf "$scratch"' EXIT
  first_program >"$scratch/hello.py"
  cp examples/01_hello.c "$scratch"
  cd "$scratch"
  # Unbuffered, a line and its end are two writes, between which another PE may write.
  unset PYTHONPATH LD_LIBRARY_PATH PYTHONUNBUFFERED
  PATH=$fresh/bin:$PATH
  python -W error -m railshmem.info
  oshrun -n 2 python hello.py | sort >said
  cat said
  printf 'PE %d: my left neighbour is PE %d\n' 0 1 1 0 | cmp - said
  package=$(python -c 'import railshmem; print(railshmem.get_include()[:-len("/include")])')
  "$package/bin/oshcc" 01_hello.c -o hello
  oshrun -n 2 ./hello
  test -e "$(python -c 'import railshmem; print(railshmem.get_cmake_dir())')/RailSHMEMConfig.cmake"
  echo "ok: $(cd - >/dev/null && ls "$folder")"
}

case ${1:-} in
  --install) install "${2:-}" ;;
  wheel)
    shift
    wheel "$@"
    ;;
  *)
    sed -n '3,10p' "$0" >&2
    exit 2
    ;;
esac
