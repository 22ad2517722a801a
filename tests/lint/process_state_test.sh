#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# process_state.py: finds each kind of state in a library, names it, and lets constants and t_... pass.
# usage: process_state_test.sh CXX OBJDUMP
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

check() {  # check SOURCE
  echo "$1" >"$work/some.cpp"
  "$cxx" -std=c++20 -O2 -shared -fPIC -o "$work/libsome.so" "$work/some.cpp"
  python3 "$here/process_state.py" "$objdump" "$work/libsome.so"
}

refuses() {  # refuses NAME SOURCE
  local name=$1 out
  if out=$(check "$2"); then
    echo "process_state.py accepts $name: $2"
    exit 1
  fi
  grep -qF "$name is state of" <<<"$out" || { echo "no message names $name: $out"; exit 1; }
}

cxx=$1
objdump=$2
refuses g_count 'int g_count; int next() { return ++g_count; }'
refuses 'a::(anonymous namespace)::g_count' 'namespace a { namespace { int g_count = 7; } int next() { return ++g_count; } }'
refuses 'next()::count' 'int next() { static int count; return ++count; }'
refuses 'A::count' 'struct A { static int count; int next(); }; int A::count = 1; int A::next() { return ++count; }'
refuses count 'thread_local int count; int next() { return ++count; }'
refuses 'next(int)::first' 'int next(int n) { static const int first = n; return first; }'
check 'thread_local int t_count; int next() { return ++t_count; }'
check 'extern const char* const kNames[]; const char* const kNames[] = {"a", "b"}; const char* name(int i) { return kNames[i]; }'
if out=$(check 'namespace railshmem { void log_warn() {} }'); then
  echo "process_state.py does not miss g_process: $out"
  exit 1
fi
