// SPDX-License-Identifier: BSD-3-Clause
//
// Reductions of 16-bit types, also those that deal their result out, in the order of a stream: kernels of the program's
// own unit, since the library knows no such types.
#ifndef RAILSHMEM_COMPAT_NVSHMEM_HALF_ON_STREAM_H
#define RAILSHMEM_COMPAT_NVSHMEM_HALF_ON_STREAM_H

#include "nvshmem/half_operators.h"

#if defined(__CUDACC__) && defined(RAILSHMEM_KERNEL_NAMES)

namespace railshmem {
namespace compat {

/// A reduction needs more registers than each thread of a block of 1024 can have.
constexpr unsigned kReducingThreads = 512;

template <class Op, class T>
__global__ void reduce_by_block(nvshmem_team_t team, T* dest, const T* source, size_t nreduce) {
  device::reduce_on<Op, device::BlockScope>(team, dest, source, nreduce);
}
template <class Op, class T>
__global__ void reducescatter_by_block(nvshmem_team_t team, T* dest, const T* source, size_t nreduce) {
  device::reducescatter_on<Op, device::BlockScope>(team, dest, source, nreduce);
}
template <class T>
int launch_reduction(void (*kernel)(nvshmem_team_t, T*, const T*, size_t), nvshmem_team_t team, T* dest,
                     const T* source, size_t nreduce, cudaStream_t stream) {
  kernel<<<1, kReducingThreads, 0, stream>>>(team, dest, source, nreduce);
  return cudaGetLastError() == cudaSuccess ? 0 : -1;
}

}  // namespace compat
}  // namespace railshmem

// clang-format off
/// Templates, lest every unit hold the kernels of all.
#define RAILSHMEM_COMPAT_HALF_ON_STREAM_BY(NAME, T, KERNEL, OP)                                                        \
  template <int = 0>                                                                                                   \
  RAILSHMEM_COMPAT_HOST int nvshmemx_##NAME##_on_stream(nvshmem_team_t team, T* dest, const T* source, size_t nreduce, \
      cudaStream_t stream) {                                                                                           \
    return railshmem::compat::launch_reduction(railshmem::compat::KERNEL<railshmem::compat::OP, T>, team, dest, source,\
        nreduce, stream);                                                                                              \
  }
#define RAILSHMEM_COMPAT_HALF_ON_STREAM(NAME, T, OP)                                                                   \
  RAILSHMEM_COMPAT_HALF_ON_STREAM_BY(NAME##_reduce, T, reduce_by_block, OP)                                            \
  RAILSHMEM_COMPAT_HALF_ON_STREAM_BY(NAME##_reducescatter, T, reducescatter_by_block, OP)
#define RAILSHMEM_COMPAT_HALF_ALL_ON_STREAM(A, N, T)                                                                   \
  RAILSHMEM_COMPAT_HALF_ON_STREAM(N##_max, T, Max)                                                                     \
  RAILSHMEM_COMPAT_HALF_ON_STREAM(N##_min, T, Min)                                                                     \
  RAILSHMEM_COMPAT_HALF_ON_STREAM(N##_sum, T, Sum)                                                                     \
  RAILSHMEM_COMPAT_HALF_ON_STREAM(N##_prod, T, Product)
// clang-format on

RAILSHMEM_COMPAT_HALF_TYPES(RAILSHMEM_COMPAT_HALF_ALL_ON_STREAM, )

#endif

#endif
