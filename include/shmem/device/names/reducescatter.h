// SPDX-License-Identifier: BSD-3-Clause
// Reductions of shmem/reducescatter.h for kernels: by one thread, _warp and _block.
#ifndef SHMEM_DEVICE_NAMES_REDUCESCATTER_H
#define SHMEM_DEVICE_NAMES_REDUCESCATTER_H

#include "shmem/device/names/reduce.h"

#if defined(RAILSHMEM_KERNEL_NAMES)

#include "shmem/reducescatter.h"

namespace railshmem {
namespace device {

template <class Op, class Scope, class T>
RAILSHMEM_KERNEL inline int reducescatter_on(shmem_team_t team, T* dest, const T* source, size_t nelems) {
  return on_team(DeviceCall::reduce, team, dest, [=](const WorldView& world, const Members& members) {
    return reducescatter<T, Op, Scope>(world, members, dest, source, nelems);
  });
}

}  // namespace device
}  // namespace railshmem

// clang-format off
#define RAILSHMEM_SCATTER_CALL(OP, SCOPE)                                                                              \
  (railshmem::device::reducescatter_on<railshmem::device::OP, railshmem::device::SCOPE>(team, dest, source, nelems))
#define RAILSHMEM_SCATTER(NAME, T, OP, SCOPE)                                                                          \
  RAILSHMEM_ONLY_KERNEL(int, NAME, (shmem_team_t team, T* dest, const T* source, size_t nelems),                       \
      RAILSHMEM_SCATTER_CALL(OP, SCOPE))
#define RAILSHMEM_SCATTER_BY(NAME, T, OP)                                                                              \
  RAILSHMEM_BOTH_EXTENSION(int, NAME, (shmem_team_t team, T* dest, const T* source, size_t nelems),                    \
      (team, dest, source, nelems), RAILSHMEM_SCATTER_CALL(OP, ThreadScope))                                           \
  RAILSHMEM_SCATTER(NAME##_warp, T, OP, WarpScope)                                                                     \
  RAILSHMEM_SCATTER(NAME##_block, T, OP, BlockScope)
#define RAILSHMEM_SCATTER_BITS(A, N, T)                                                                                \
  RAILSHMEM_SCATTER_BY(N##_and_reducescatter, T, And)                                                                  \
  RAILSHMEM_SCATTER_BY(N##_or_reducescatter, T, Or)                                                                    \
  RAILSHMEM_SCATTER_BY(N##_xor_reducescatter, T, Xor)
#define RAILSHMEM_SCATTER_VALUES(A, N, T)                                                                              \
  RAILSHMEM_SCATTER_BY(N##_max_reducescatter, T, Max)                                                                  \
  RAILSHMEM_SCATTER_BY(N##_min_reducescatter, T, Min)                                                                  \
  RAILSHMEM_SCATTER_BY(N##_sum_reducescatter, T, Sum)                                                                  \
  RAILSHMEM_SCATTER_BY(N##_prod_reducescatter, T, Product)
// clang-format on

RAILSHMEM_REDUCE_BITS_TYPES(RAILSHMEM_SCATTER_BITS, )
RAILSHMEM_KERNEL_TYPES(RAILSHMEM_SCATTER_VALUES, )

#endif

#endif
