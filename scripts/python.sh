#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The Python package railshmem of the folder python:
#   scripts/python.sh --install [--build | --torch]   makes the virtual environment build/python/venv, with what the package's build
#                                 and its tests need; --build: without Triton and numba, which only tests need; --torch: with PyTorch
#                                 for CPUs, too (400 MB to fetch, or CUDA's where only that is had)
#   scripts/python.sh wheel [ARGUMENT...], sdist, try WHEEL   makes, checks and tries what is published: python/packaging/python_wheel.sh
#   scripts/python.sh root [OPTION...] [SUITE]                tries a wheel in a bare Debian: python/packaging/python_in_root.sh
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
  case ${1:-} in
    --build) return ;;
    --torch) install_torch ;;
  esac
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

case ${1:-} in
  --install) install "${2:-}" ;;
  wheel | sdist | try) exec python/packaging/python_wheel.sh "$@" ;;
  root)
    shift
    exec python/packaging/python_in_root.sh "$@"
    ;;
  *)
    sed -n '3,8p' "$0" >&2
    exit 2
    ;;
esac
