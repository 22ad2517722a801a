# shellcheck shell=sh
# SPDX-License-Identifier: BSD-3-Clause
# Sourced by checks that need nvcc: sets $nvcc and $work, a folder that goes away at the end. Ends the check with 77
# (ctest: skipped) where there is no nvcc.
nvcc=${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
if [ ! -x "$nvcc" ]; then
  echo "SKIPPED: no nvcc (set NVCC to its path)"
  exit 77
fi
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
