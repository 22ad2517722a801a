#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Builds shmem4py (Python) from its source distribution against an installation of this library, as a user does with
# `pip install shmem4py`, and runs its own tests. Needs a network, or the packages in pip's cache.
#   tests/programs/shmem4py.sh PREFIX
# VERSION   of shmem4py                       (default: 1.0.0)
# PES       numbers of PEs, space-separated   (default: 1 2 4)
# WORK      folder of the virtual environment (default: a new one in /tmp)
set -eu
if [ $# -ne 1 ] || [ ! -x "$1/bin/oshcc" ]; then
  sed -n '3,8p' "$0" >&2
  exit 2
fi
prefix=$(cd "$1" && pwd)
version=${VERSION:-1.0.0}
work=${WORK:-$(mktemp -d)}
mkdir -p "$work"
cd "$work"
export PATH="$work/python/bin:$prefix/bin:$PATH"
unset OSHCC OSHLD OSHCC_CC CC CFLAGS
python3 -m venv python
# NumPy 2 has another meaning of array(..., copy=False), which 1.0.0 relies on, whatever the library.
pip install -q "numpy<2"
pip install -q --no-binary shmem4py "shmem4py==$version"
pip download -q --no-deps --no-binary :all: "shmem4py==$version"
tar xf "shmem4py-$version.tar.gz"
cd "shmem4py-$version/test"
for pes in ${PES:-1 2 4}; do
  echo "== $pes PEs"
  oshrun -n "$pes" --timeout 300 python -m unittest discover -q
done
echo "ok: shmem4py $version"
