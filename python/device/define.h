// SPDX-License-Identifier: BSD-3-Clause
// What the exported functions share: their names, their arguments, and how the threads of a block make one call.
//
// Every argument is an int64_t, addresses too, so that compilers that know nothing of C can call: addresses are
// generic, sizes are in bytes, and a PE that is no int is no PE. Two forms:
//   railshmem_NAME         one thread calls for itself
//   railshmem_NAME_block   all threads of a block call, with equal arguments. They meet first, so what any of them
//   wrote before
//                          the call is there for it.
#pragma once

#include "shmem/device/calls/define.h"
#include "shmem/device/scope.h"

#define RAILSHMEM_EXPORT extern "C" __device__

namespace railshmem {
namespace bitcode {

template <class T>
__device__ inline T* at(int64_t address) {
  return reinterpret_cast<T*>(address);
}

__device__ inline int pe_of(int64_t pe) {
  return pe == static_cast<int32_t>(pe) ? static_cast<int>(pe) : -1;
}
/// A comparison or a signal operation, which are small numbers; others are refused as -1 is.
__device__ inline int code_of(int64_t code) {
  return pe_of(code);
}

/// One thread acts for the block, and the others go on.
template <class Act>
__device__ inline int leader(const Act& act) {
  device::BlockScope::sync();
  if (device::BlockScope::leads()) act();
  return 0;
}
/// One thread acts for the block, and all go on after it.
template <class Act>
__device__ inline int leader_then_all(const Act& act) {
  leader(act);
  device::BlockScope::sync();
  return 0;
}
/// All threads act together.
template <class Act>
__device__ inline int all(const Act& act) {
  device::BlockScope::sync();
  act();
  return 0;
}

}  // namespace bitcode
}  // namespace railshmem
