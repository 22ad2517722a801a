// SPDX-License-Identifier: BSD-3-Clause
// Reductions whose result is dealt out: shmemx_TYPE_OP_reducescatter by one thread, _warp and _block. In kernels only.
//
// nelems is of dest: member i of the team gets the result of elements i * nelems to (i + 1) * nelems - 1 of the
// sources. dest and source are symmetric; dest may be a part of source.
#ifndef SHMEM_DEVICE_NAMES_REDUCESCATTER_H
#define SHMEM_DEVICE_NAMES_REDUCESCATTER_H

#include "shmem/device/names/reduce.h"

#if defined(RAILSHMEM_KERNEL_NAMES)

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
#define RAILSHMEM_SCATTER(NAME, T, OP, SCOPE)                                                                          \
  RAILSHMEM_ONLY_KERNEL(int, NAME, (shmem_team_t team, T* dest, const T* source, size_t nelems),                       \
      (railshmem::device::reducescatter_on<railshmem::device::OP, railshmem::device::SCOPE>(team, dest, source, nelems)))
#define RAILSHMEM_SCATTER_BY(NAME, T, OP)                                                                              \
  RAILSHMEM_SCATTER(NAME, T, OP, ThreadScope)                                                                          \
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
