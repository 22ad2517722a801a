#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Watches the speed of the host's calls: measures benches as ratios to their floors, and says what got worse than the
# figures that are committed. docs/benchmarks.md says how to read it.
#   scripts/bench.sh [host] [--quick] [--keep] [--baseline COMMIT] [--build DIR]
#   scripts/bench.sh gpu [...]      the benches of kernels, on a machine with a GPU; FROM=DIR or --build DIR: a build, or a
#                                   folder that scripts/build_gpu_carry.sh filled on another machine
# Exit status: 0 nothing got worse, 1 something did, 2 no run.
exec python3 "$(dirname "$0")/../perftest/bench/main.py" "$@"
