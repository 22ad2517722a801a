#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds RailSHMEM four times and runs its tests:
#   scripts/test.sh                 release: every test but unit tests; dev (ASan, UBSan) and tsan: unit tests, and
#                                   other tests where they find most; fuzz: each parser for 20 s
#   scripts/test.sh --quick         release only
#   scripts/test.sh --label LABEL   release only, and only the tests of this label (unit, conformance, launch, lint, ...; several: 'unit|lint')
#   scripts/test.sh --build-all     dev and tsan are built in any case; with --quick or --label their tests do not run
#   scripts/test.sh --no-install    with the packages that are there
# The last lines are ctest's summary: of the stage that failed, or else of the release build.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1

install=yes
quick=''
label=''
build_all=''
while [ $# -gt 0 ]; do
  case $1 in
    --quick) quick=yes ;;
    --label)
      label=${2:?--label needs a label}
      quick=yes
      shift
      ;;
    --build-all) build_all=yes ;;
    --no-install) install='' ;;
    *)
      sed -n '3,9p' "$0" >&2
      exit 2
      ;;
  esac
  shift
done

jobs=$(nproc)
# Most tests wait for processes to start, or for a deadline, rather than compute: with twice as many as CPUs, half of
# the CPUs' time was idle. Tests that measure run alone (PROCESSORS).
tests_at_once=$((3 * jobs))
logs=build/logs
mkdir -p "$logs"
failed=''
stages=()

# Leaks inside libraries that are not ours.
export LSAN_OPTIONS="suppressions=$PWD/tests/support/lsan.supp:print_suppressions=0${LSAN_OPTIONS:+:$LSAN_OPTIONS}"
export UBSAN_OPTIONS="print_stacktrace=1${UBSAN_OPTIONS:+:$UBSAN_OPTIONS}"
# Open MPI refuses to run as root, and to start more processes than cores, unless it is told.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
# libfabric may bring PSM, which turns signals into backtraces and an exit status of 1; tests look at signals.
export IPATH_NO_BACKTRACE=1 HFI_NO_BACKTRACE=1

# Wherever libfabric 1.17 starts it reads all of /proc/kallsyms twice, 0.1 s of CPU, for what InfiniBand NICs can do.
# Tests start it thousands of times: without such NICs, and if we may, they see an empty file.
tests_see=()
empty_kallsyms='mount --bind /dev/null /proc/kallsyms && exec "$@"'
if [ ! -e /dev/infiniband ] && unshare --mount sh -c "$empty_kallsyms" sh true 2>/dev/null; then
  tests_see=(unshare --mount sh -c "$empty_kallsyms" sh)
fi

# A first build, which nobody has configured, is soonest done in batches, and with kernels that nobody can run here
# compiled as far as PTX; device_headers brings all device functions to machine code. The library's own kernels become
# machine code, as fast as nvcc can, once for all builds.
how_to_build=() # of all
release=()      # of the release build
sanitized=()    # of the others
if [ ! -e build/release/CMakeCache.txt ]; then
  how_to_build+=(-DRAILSHMEM_BATCHES=ON)
  if ! command -v nvidia-smi >/dev/null; then
    how_to_build+=(-DRAILSHMEM_CUDA_ARCHITECTURES=90-virtual)
    release+=(-DRAILSHMEM_KERNEL_EFFORT=1)
    sanitized+=(-DRAILSHMEM_KERNELS_OF="$PWD/build/release")
  fi
fi
# The sanitized builds run all unit tests. By itself the release build runs them.
if [ -z "$quick" ]; then
  release+=(-DRAILSHMEM_LEAVE_TO_SANITIZERS=ON)
else
  release+=(-DRAILSHMEM_LEAVE_TO_SANITIZERS=OFF)
fi

# asked_for LABEL: tests of this label are to run.
asked_for() { [[ -z $label || "|$label|" == *"|$1|"* ]]; }

step() { printf '\n== %s (%d s)\n' "$*" "$SECONDS"; }

# build PRESET TARGET...: configures, and compiles the targets (all: none given).
build() {
  local preset=$1 options=("${sanitized[@]}")
  [ "$preset" != release ] || options=("${release[@]}")
  shift
  step "$preset: build"
  cmake --preset "$preset" -DRAILSHMEM_TESTS=ON "${how_to_build[@]}" "${options[@]}" >"$logs/$preset.configure" 2>&1 || {
    cat "$logs/$preset.configure"
    return 1
  }
  grep -E '^-- RailSHMEM' "$logs/$preset.configure"
  cmake --build "build/$preset" --parallel "$jobs" ${1:+--target "$@"} >"$logs/$preset.build" 2>&1 || {
    grep -E 'error|FAILED|undefined|Error' -A 5 "$logs/$preset.build" | head -n 100
    return 1
  }
}

# run_tests PRESET AT_ONCE CTEST_ARGUMENT...: runs tests of a build.
run_tests() {
  local preset=$1 at_once=$2
  shift 2
  "${tests_see[@]}" ctest --test-dir "build/$preset" --parallel "$at_once" --output-on-failure --no-tests=error "$@" 2>&1
}

# check NAME PRESET CTEST_ARGUMENT...: runs tests of a build; remembers a failure and goes on.
check() {
  local name=$1 preset=$2
  shift 2
  step "$name: test"
  stages+=("$name")
  run_tests "$preset" "$tests_at_once" "$@" | tee "$logs/$name.ctest" || failed="$failed $name"
}

# not_built NAME: a failure that ctest cannot report.
not_built() {
  stages+=("$1")
  failed="$failed $1"
  echo "the build of $1 failed" >"$logs/$1.ctest"
}

# What this machine cannot test, in one line; ctest lists the tests one by one.
skipped() {
  local why=''
  command -v nvidia-smi >/dev/null || why="$why GPU tests: no GPU;"
  grep -q 'RailSHMEM CUDA: ON' "$logs/release.configure" || why="$why CUDA header tests, and device_heap.* and fault.stream_*, which need the library's kernels: no nvcc;"
  grep -q 'RailSHMEM MPI: ON' "$logs/release.configure" || why="$why MPI launchers: no MPI;"
  grep -q 'RailSHMEM BITCODE: ON' "$logs/release.configure" || why="$why python.triton and python.numba: no clang 19 or 20;"
  grep -q 'RailSHMEM PYTHON: ON' "$logs/release.configure" || why="$why python.*: no Python 3.10 with headers and nanobind;"
  build/python/venv/bin/python3 -c 'import torch' 2>/dev/null || why="$why railshmem.torch: no torch;"
  command -v gdb >/dev/null || why="$why path.architecture: no gdb;"
  [ "$(id -u)" -eq 0 ] || why="$why two hosts in network namespaces: not root;"
  [ -e /dev/infiniband ] || why="$why RDMA NICs: no /dev/infiniband;"
  [ -z "$quick" ] || why="$why sanitizer builds and fuzzing: not asked for;"
  ! grep -qs SKIPPED "$logs/fuzz.build" || why="$why fuzz.*: no clang 16 or newer with libFuzzer;"
  echo "skipped:${why:- nothing}"
}

torch=''
if [ -n "$install" ]; then
  step "packages"
  scripts/install_packages.sh test || exit 1
  if asked_for lint; then scripts/docs.sh --install || echo "no mkdocs, so lint.site is skipped"; fi
  if asked_for python; then
    scripts/python.sh --install --build || echo "no nanobind, numpy or pytest, so python.* is disabled"
    # Only tests need torch, Triton and numba. They take minutes to fetch and to unpack, so the build does not wait for them.
    scripts/python.sh --install --torch >"$logs/torch.install" 2>&1 &
    torch=$!
  fi
fi
scripts/check_cmake.sh || exit 1

# The sanitized builds, beside the tests of the release build, with CPU time that nobody else wants: tests mostly wait.
build_beside() {
  local preset
  chrt --idle --pid 0 "$BASHPID" 2>/dev/null || renice -n 19 -p "$BASHPID" >/dev/null
  for preset in dev tsan; do
    build "$preset" "tests_$preset" >"$logs/$preset.beside" 2>&1
    echo $? >"$logs/$preset.built"
  done
}
# built PRESET: waits for that build, shows what it said, and tells whether it went well.
built() {
  step "$1: rest of the build"
  while [ ! -e "$logs/$1.built" ] && kill -0 "$beside"; do sleep 0.2; done
  grep -v '^$' "$logs/$1.beside"
  [ "$(cat "$logs/$1.built" || echo 1)" -eq 0 ]
}

build release || not_built release
if [ -n "$build_all" ] && [ -n "$quick" ]; then
  for preset in dev tsan; do
    build "$preset" "tests_$preset" || not_built "$preset"
  done
fi
if [ -z "$quick" ]; then
  rm -f "$logs/dev.built" "$logs/tsan.built"
  build_beside &
  beside=$!
  trap 'kill "$beside" 2>/dev/null' EXIT
fi
if [ -n "$torch" ]; then
  step "torch"
  wait "$torch"
  cat "$logs/torch.install"
fi
if [[ " ${stages[*]} " != *" release "* ]]; then
  check release release ${label:+--label-regex "^($label)\$"}
fi
if [ -z "$quick" ]; then
  # A test belongs to a build by its label (BUILDS in the CMake files of tests). Tests of dev wait for deadlines half of
  # their time, and those of tsan compute: they run beside them, fewer at once.
  dev='' tsan=''
  if built dev; then
    dev=yes
  else
    not_built dev
  fi
  if built tsan; then
    run_tests tsan "$jobs" --label-regex '^tsan$' >"$logs/tsan.ctest" &
    tsan=$!
    trap 'pkill -P "$tsan"' EXIT
  else
    not_built tsan
  fi
  [ -z "$dev" ] || check dev dev --label-regex '^dev$'
  if [ -n "$tsan" ]; then
    step "tsan: rest of the tests"
    stages+=(tsan)
    wait "$tsan" || failed="$failed tsan"
    cat "$logs/tsan.ctest"
  fi
fi

# The fuzz targets, in a build of their own (tests/fuzz). They compute all the time, so no more at once than CPUs.
if [ -z "$quick" ]; then
  step "fuzz: build"
  scripts/fuzz.sh --build >"$logs/fuzz.build" 2>&1
  case $? in
    0)
      step "fuzz: test"
      stages+=(fuzz)
      run_tests fuzz "$jobs" --label-regex '^fuzz$' | tee "$logs/fuzz.ctest" || failed="$failed fuzz"
      ;;
    77) ;;
    *)
      grep -E 'error|FAILED|undefined|Error' -A 5 "$logs/fuzz.build" | head -n 100
      not_built fuzz
      ;;
  esac
fi

# summary STAGE: the end of ctest's output, from its verdict on.
summary() {
  local log=$logs/$1.ctest
  printf '\n== %s\n' "$1"
  if grep -q '% tests passed' "$log"; then
    sed -n '/% tests passed/,$p' "$log"
  else
    tail -n 5 "$log"
  fi
}
step "done"
skipped
first=${failed# }
last=${first%% *}
last=${last:-release}
for stage in "${stages[@]}"; do
  [ "$stage" = "$last" ] || summary "$stage"
done
[ -z "$failed" ] || echo "failed:$failed"
summary "$last"
[ -z "$failed" ]
