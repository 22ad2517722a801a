// SPDX-License-Identifier: BSD-3-Clause
// Kernels of 1024 threads have 64 registers for each: what blocks call must fit, or such a kernel cannot start.
#include <shmem.h>

__global__ void put_and_quiet(void* d, const void* s, size_t n, int pe) {
  shmemx_putmem_nbi_block(d, s, n, pe);
  shmem_putmem_nbi(d, s, n, pe);
  shmem_quiet();
}
__global__ void put_signal(void* d, const void* s, size_t n, uint64_t* signal, int pe) {
  shmemx_putmem_signal_nbi_block(d, s, n, signal, 1, SHMEM_SIGNAL_ADD, pe);
  shmem_signal_wait_until(signal, SHMEM_CMP_GE, 1);
}
__global__ void get_warp(void* d, const void* s, size_t n, int pe) {
  shmemx_getmem_warp(d, s, n, pe);
}
__global__ void values(long* d, int pe) {
  shmem_long_p(d, shmem_long_g(d, pe) + shmem_long_atomic_fetch_add(d, 1, pe), pe);
  shmem_fence();
}
__global__ void barrier() {
  shmemx_barrier_all_block();
}
__global__ void fcollect(int* d, const int* s, size_t n) {
  shmemx_int_fcollect_block(SHMEM_TEAM_WORLD, d, s, n);
}
__global__ void alltoall(int* d, const int* s, size_t n) {
  shmemx_int_alltoall_block(SHMEM_TEAM_WORLD, d, s, n);
}
__global__ void broadcast(int* d, const int* s, size_t n) {
  shmemx_int_broadcast_block(SHMEM_TEAM_WORLD, d, s, n, 0);
}
