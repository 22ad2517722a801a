// SPDX-License-Identifier: BSD-3-Clause
// Kernels that a program compiles while it runs. Compile-only.
#include <shmem.h>
#include <shmemx.h>

extern "C" __global__ void ring(uint64_t* word, uint64_t* signal, int right) {
  shmem_uint64_p(word, static_cast<uint64_t>(shmem_my_pe()) + 1, right);
  shmem_put_signal_nbi(word + 1, word, 1, signal, 1, SHMEM_SIGNAL_ADD, right);
  shmem_signal_wait_until(signal, SHMEM_CMP_GE, 1);
  if (shmem_uint64_atomic_fetch_add(word, 1, right) > 0) shmem_quiet();
}

extern "C" __global__ void collectives(double* dest, const double* source, size_t n) {
  shmemx_barrier_all_block();
  shmemx_double_sum_reduce_block(SHMEM_TEAM_WORLD, dest, source, n);
  shmemx_double_max_reducescatter_warp(SHMEM_TEAM_WORLD, dest, source, n);
  shmemx_int64_fcollect_block(SHMEM_TEAM_WORLD, reinterpret_cast<int64_t*>(dest),
                              reinterpret_cast<const int64_t*>(source), n);
  shmemx_getmem_nbi_block(dest, source, n, 0);
}
