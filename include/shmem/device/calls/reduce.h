// SPDX-License-Identifier: BSD-3-Clause
// Reductions of shmem/reduce.h and shmem/reducescatter.h in a kernel.
#ifndef SHMEM_DEVICE_CALLS_REDUCE_H
#define SHMEM_DEVICE_CALLS_REDUCE_H

#include "shmem/device/calls/collective.h"

#if defined(RAILSHMEM_KERNEL_NAMES)

#include "shmem/device/reduce.h"

namespace railshmem {
namespace device {

template <class Op, class Scope, class T>
RAILSHMEM_KERNEL inline int reduce_on(shmem_team_t team, T* dest, const T* source, size_t nreduce) {
  return on_team(DeviceCall::reduce, team, dest, [=](const WorldView& world, const Members& members) {
    return reduce<T, Op, Scope>(world, members, dest, source, nreduce);
  });
}

template <class Op, class Scope, class T>
RAILSHMEM_KERNEL inline int reducescatter_on(shmem_team_t team, T* dest, const T* source, size_t nelems) {
  return on_team(DeviceCall::reduce, team, dest, [=](const WorldView& world, const Members& members) {
    return reducescatter<T, Op, Scope>(world, members, dest, source, nelems);
  });
}

}  // namespace device
}  // namespace railshmem

#endif

#endif
