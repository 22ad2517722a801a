// SPDX-License-Identifier: BSD-3-Clause
//
// Reductions, also those that deal their result out.
#ifndef RAILSHMEM_COMPAT_NVSHMEM_REDUCE_H
#define RAILSHMEM_COMPAT_NVSHMEM_REDUCE_H

#include "nvshmem/constants.h"
#include "nvshmem/half_operators.h"

// clang-format off
#define RAILSHMEM_COMPAT_REDUCTION(EMIT, P, Q, NAME, T)                                                                \
  EMIT(int, P##NAME, (nvshmem_team_t team, T* dest, const T* source, size_t nreduce),                                  \
      Q##NAME, (team, dest, source, nreduce))
#define RAILSHMEM_COMPAT_REDUCE(NAME, T)                                                                               \
  RAILSHMEM_COMPAT_REDUCTION(RAILSHMEM_COMPAT, nvshmem_, shmem_, NAME, T)                                              \
  RAILSHMEM_COMPAT_REDUCTION(RAILSHMEM_COMPAT_KERNEL, nvshmemx_, shmemx_, NAME##_warp, T)                              \
  RAILSHMEM_COMPAT_REDUCTION(RAILSHMEM_COMPAT_KERNEL, nvshmemx_, shmemx_, NAME##_block, T)
#define RAILSHMEM_COMPAT_REDUCE_BITS(A, N, T)                                                                          \
  RAILSHMEM_COMPAT_REDUCE(N##_and_reduce, T)                                                                           \
  RAILSHMEM_COMPAT_REDUCE(N##_or_reduce, T)                                                                            \
  RAILSHMEM_COMPAT_REDUCE(N##_xor_reduce, T)
#define RAILSHMEM_COMPAT_REDUCE_VALUES(A, N, T)                                                                        \
  RAILSHMEM_COMPAT_REDUCE(N##_max_reduce, T)                                                                           \
  RAILSHMEM_COMPAT_REDUCE(N##_min_reduce, T)                                                                           \
  RAILSHMEM_COMPAT_REDUCE(N##_sum_reduce, T)                                                                           \
  RAILSHMEM_COMPAT_REDUCE(N##_prod_reduce, T)
#define RAILSHMEM_COMPAT_SCATTER(NAME, T)                                                                              \
  RAILSHMEM_COMPAT_REDUCTION(RAILSHMEM_COMPAT, nvshmem_, shmemx_, NAME, T)                                             \
  RAILSHMEM_COMPAT_REDUCTION(RAILSHMEM_COMPAT_KERNEL, nvshmemx_, shmemx_, NAME##_warp, T)                              \
  RAILSHMEM_COMPAT_REDUCTION(RAILSHMEM_COMPAT_KERNEL, nvshmemx_, shmemx_, NAME##_block, T)
#define RAILSHMEM_COMPAT_SCATTER_BITS(A, N, T)                                                                         \
  RAILSHMEM_COMPAT_SCATTER(N##_and_reducescatter, T)                                                                   \
  RAILSHMEM_COMPAT_SCATTER(N##_or_reducescatter, T)                                                                    \
  RAILSHMEM_COMPAT_SCATTER(N##_xor_reducescatter, T)
#define RAILSHMEM_COMPAT_SCATTER_VALUES(A, N, T)                                                                       \
  RAILSHMEM_COMPAT_SCATTER(N##_max_reducescatter, T)                                                                   \
  RAILSHMEM_COMPAT_SCATTER(N##_min_reducescatter, T)                                                                   \
  RAILSHMEM_COMPAT_SCATTER(N##_sum_reducescatter, T)                                                                   \
  RAILSHMEM_COMPAT_SCATTER(N##_prod_reducescatter, T)

/// 16 bits: the host's are the library's, by their bits; those of kernels are CUDA's. RUN is reduce or reducescatter.
#define RAILSHMEM_COMPAT_HALF_CALL(RUN, OP, SCOPE)                                                                     \
  (railshmem::device::RUN##_on<railshmem::compat::OP, railshmem::device::SCOPE>)(team, dest, source, nreduce)
#define RAILSHMEM_COMPAT_HALF_REDUCTION(NAME, T, RUN, OP, SCOPE)                                                       \
  RAILSHMEM_COMPAT_KERNEL(int, NAME, (nvshmem_team_t team, T* dest, const T* source, size_t nreduce),                  \
      RAILSHMEM_COMPAT_HALF_CALL(RUN, OP, SCOPE), )
#define RAILSHMEM_COMPAT_HALF_BY(NAME, T, RUN, OP)                                                                     \
  RAILSHMEM_COMPAT_SIDES int nvshmem_##NAME##_##RUN(nvshmem_team_t team, T* dest, const T* source, size_t nreduce) {   \
    return RAILSHMEM_COMPAT_BY_SIDE(RAILSHMEM_COMPAT_HALF_CALL(RUN, OP, ThreadScope),                                  \
        shmemx_##NAME##_##RUN(team, reinterpret_cast<uint16_t*>(dest), reinterpret_cast<const uint16_t*>(source),      \
            nreduce));                                                                                                 \
  }                                                                                                                    \
  RAILSHMEM_COMPAT_HALF_REDUCTION(nvshmemx_##NAME##_##RUN##_warp, T, RUN, OP, WarpScope)                               \
  RAILSHMEM_COMPAT_HALF_REDUCTION(nvshmemx_##NAME##_##RUN##_block, T, RUN, OP, BlockScope)
#define RAILSHMEM_COMPAT_HALF_OPERATIONS(N, T, RUN)                                                                    \
  RAILSHMEM_COMPAT_HALF_BY(N##_max, T, RUN, Max)                                                                       \
  RAILSHMEM_COMPAT_HALF_BY(N##_min, T, RUN, Min)                                                                       \
  RAILSHMEM_COMPAT_HALF_BY(N##_sum, T, RUN, Sum)                                                                       \
  RAILSHMEM_COMPAT_HALF_BY(N##_prod, T, RUN, Product)
#define RAILSHMEM_COMPAT_HALF_REDUCE(A, N, T)                                                                          \
  RAILSHMEM_COMPAT_HALF_OPERATIONS(N, T, reduce)                                                                       \
  RAILSHMEM_COMPAT_HALF_OPERATIONS(N, T, reducescatter)
// clang-format on

RAILSHMEM_REDUCE_BITS_TYPES(RAILSHMEM_COMPAT_REDUCE_BITS, )
RAILSHMEM_KERNEL_TYPES(RAILSHMEM_COMPAT_REDUCE_VALUES, )
RAILSHMEM_REDUCE_BITS_TYPES(RAILSHMEM_COMPAT_SCATTER_BITS, )
RAILSHMEM_KERNEL_TYPES(RAILSHMEM_COMPAT_SCATTER_VALUES, )
RAILSHMEM_COMPAT_HALF_TYPES(RAILSHMEM_COMPAT_HALF_REDUCE, )

#if defined(__CUDACC__) && defined(RAILSHMEM_KERNEL_NAMES)
namespace railshmem {
namespace compat {

/// The pair with the larger x; of pairs with equal x the pair of the lower member.
struct MaxLocation {
  __device__ static double2 of(double2 a, double2 b) { return b.x > a.x ? b : a; }
};

}  // namespace compat
}  // namespace railshmem

/// Pairs of a value, x, and where it is, y: the largest values of the team with their places.
__device__ inline int nvshmemx_double2_maxloc_reduce_block(nvshmem_team_t team, double2* dest, const double2* source,
                                                           size_t nreduce) {
  using railshmem::WorldView;
  namespace device = railshmem::device;
  return device::on_team(railshmem::DeviceCall::reduce, team, dest,
                         [=](const WorldView& world, const device::Members& t) {
                           return device::reduce_far<double2, railshmem::compat::MaxLocation, device::BlockScope>(
                               world, t.row(), dest, source, nreduce, 0);
                         });
}
#endif

#endif
