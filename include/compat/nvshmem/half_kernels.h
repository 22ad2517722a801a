// SPDX-License-Identifier: BSD-3-Clause
//
// Kernels of reductions of 16-bit types, also of those that deal their result out: of the program's own unit, since the
// library knows no such types. stream.h launches them.
#ifndef RAILSHMEM_COMPAT_NVSHMEM_HALF_KERNELS_H
#define RAILSHMEM_COMPAT_NVSHMEM_HALF_KERNELS_H

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

#endif

#endif
