// SPDX-License-Identifier: BSD-3-Clause
// Reductions of shmem/reduce.h for kernels. Scans, and the types with which kernels cannot compute, are the host's.
#ifndef SHMEM_DEVICE_NAMES_REDUCE_H
#define SHMEM_DEVICE_NAMES_REDUCE_H

#include "shmem/device/names/collective.h"

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

}  // namespace device
}  // namespace railshmem

// clang-format off
#define RAILSHMEM_REDUCER(OP, SCOPE) railshmem::device::reduce_on<railshmem::device::OP, railshmem::device::SCOPE>
#define RAILSHMEM_KERNEL_REDUCE_BITS(A, N, T)                                                                          \
  RAILSHMEM_KERNEL_COLLECT(N##_and_reduce, T, (RAILSHMEM_REDUCER(And, ThreadScope)))                                   \
  RAILSHMEM_KERNEL_COLLECT(N##_or_reduce, T, (RAILSHMEM_REDUCER(Or, ThreadScope)))                                     \
  RAILSHMEM_KERNEL_COLLECT(N##_xor_reduce, T, (RAILSHMEM_REDUCER(Xor, ThreadScope)))
#define RAILSHMEM_KERNEL_REDUCE_VALUES(A, N, T)                                                                        \
  RAILSHMEM_KERNEL_COLLECT(N##_max_reduce, T, (RAILSHMEM_REDUCER(Max, ThreadScope)))                                   \
  RAILSHMEM_KERNEL_COLLECT(N##_min_reduce, T, (RAILSHMEM_REDUCER(Min, ThreadScope)))                                   \
  RAILSHMEM_KERNEL_COLLECT(N##_sum_reduce, T, (RAILSHMEM_REDUCER(Sum, ThreadScope)))                                   \
  RAILSHMEM_KERNEL_COLLECT(N##_prod_reduce, T, (RAILSHMEM_REDUCER(Product, ThreadScope)))
// clang-format on

RAILSHMEM_REDUCE_BITS_TYPES(RAILSHMEM_KERNEL_REDUCE_BITS, )
RAILSHMEM_KERNEL_TYPES(RAILSHMEM_KERNEL_REDUCE_VALUES, )

#endif

#endif
