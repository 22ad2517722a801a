// SPDX-License-Identifier: BSD-3-Clause
//
// Kernels in NVSHMEM's names, each family in thread, warp and block scope. Compiled and linked, not launched here.
#include <nvshmem.h>
#include <nvshmemx.h>

__global__ void moves(int* d, const int* s, double* real, size_t n, int pe) {
  nvshmem_int_p(d, nvshmem_int_g(s, pe), pe);
  nvshmem_double_put_nbi(real, real, n, pe);
  nvshmem_put64(d, s, n, pe);
  nvshmem_getmem(d, s, n, pe);
  nvshmem_int_iput(d, s, 1, 2, n, pe);
  nvshmemx_int_iget_block(d, s, 1, 2, n, pe);
  nvshmemx_putmem_nbi_warp(d, s, n, pe);
  nvshmemx_double_get_block(real, real, n, pe);
  nvshmemx_get32_nbi_warp(d, s, n, pe);
  nvshmem_fence();
  nvshmem_quiet();
}

int halves_on_stream(__half* h, __nv_bfloat16* b, size_t n, cudaStream_t stream) {
  nvshmemx_half_p_on_stream(h, nvshmemx_half_g_on_stream(h + 1, 0, stream), 0, stream);
  nvshmemx_bfloat16_iput_on_stream(b, b, 2, 1, n, 0, stream);
  return nvshmemx_half_sum_reduce_on_stream(NVSHMEM_TEAM_WORLD, h, h, n, stream) +
         nvshmemx_half_max_reducescatter_on_stream(NVSHMEM_TEAM_WORLD, h, h, n, stream) +
         nvshmemx_bfloat16_min_reduce_on_stream(NVSHMEM_TEAM_WORLD, b, b, n, stream);
}

__global__ void halves(__half* h, __nv_bfloat16* b, uint64_t* signal, size_t n, int pe) {
  nvshmem_half_p(h, nvshmem_half_g(h + 1, pe), pe);
  nvshmem_bfloat16_put(b, b, n, pe);
  nvshmemx_half_get_nbi_block(h, h, n, pe);
  nvshmemx_bfloat16_put_signal_warp(b, b, n, signal, 1, NVSHMEM_SIGNAL_ADD, pe);
  nvshmemx_half_fcollect_block(NVSHMEM_TEAM_WORLD, h, h, n);
  nvshmem_bfloat16_alltoall(NVSHMEM_TEAM_WORLD, b, b, n);
}

__global__ void signals(float* d, const float* s, uint64_t* signal, size_t n, int pe) {
  nvshmem_float_put_signal_nbi(d, s, n, signal, 1, NVSHMEM_SIGNAL_SET, pe);
  nvshmem_put128_signal(d, s, n, signal, 1, NVSHMEM_SIGNAL_SET, pe);
  nvshmemx_putmem_signal_nbi_block(d, s, n, signal, 1, NVSHMEM_SIGNAL_ADD, pe);
  nvshmemx_signal_op(signal, nvshmem_signal_fetch(signal), NVSHMEM_SIGNAL_ADD, pe);
  nvshmem_signal_wait_until(signal, NVSHMEM_CMP_GE, 1);
}

__global__ void words(long* d, uint64_t* bits, float* real, short* small, size_t n, size_t* found, int pe) {
  nvshmem_long_atomic_inc(d, pe);
  d[1] = nvshmem_long_atomic_fetch_add(d, 1, pe);
  bits[1] = nvshmem_uint64_atomic_fetch_xor(bits, 1, pe);
  real[1] = nvshmem_float_atomic_swap(real, 1.0f, pe);
  nvshmem_long_atomic_compare_swap(d, 0, 1, pe);
  nvshmem_long_wait_until(d, NVSHMEM_CMP_NE, 0);
  nvshmem_short_wait_until(small, NVSHMEM_CMP_LE, 0);
  nvshmem_long_wait_until_all(d, n, nullptr, NVSHMEM_CMP_EQ, 1);
  found[n] = nvshmem_long_test_some_vector(d, n, found, nullptr, NVSHMEM_CMP_LT, d);
}

__global__ void together(int* d, const int* s, nvshmem_team_t team, size_t n) {
  d[0] = nvshmem_team_my_pe(team) + nvshmem_team_n_pes(NVSHMEMX_TEAM_NODE) + nvshmem_my_pe() + nvshmem_n_pes();
  d[1] = nvshmem_team_translate_pe(team, 0, NVSHMEM_TEAM_WORLD);
  d[2] = nvshmem_ptr(d, 0) != nullptr;
  nvshmem_barrier(team);
  nvshmemx_barrier_warp(team);
  nvshmemx_barrier_all_block();
  nvshmem_sync_all();
  nvshmemx_team_sync_block(team);
  nvshmem_int_broadcast(team, d, s, n, 0);
  nvshmemx_int_alltoall_warp(team, d, s, n);
  nvshmemx_fcollectmem_block(team, d, s, n);
  nvshmem_int_sum_reducescatter(team, d, s, n);
  nvshmemx_half_sum_reducescatter_block(team, reinterpret_cast<half*>(d), reinterpret_cast<const half*>(s), n);
  nvshmem_int_sum_reduce(team, d, s, n);
  nvshmemx_int_max_reduce_block(team, d, s, n);
  nvshmemx_bfloat16_max_reduce_warp(team, reinterpret_cast<__nv_bfloat16*>(d),
                                    reinterpret_cast<const __nv_bfloat16*>(s), n);
}

int launch_together(int* d, nvshmem_team_t team, size_t n, cudaStream_t stream) {
  int grid = 0;
  const int* s = d;
  void* args[] = {&d, &s, &team, &n};
  const void* kernel = reinterpret_cast<const void*>(together);
  const int status = nvshmemx_collective_launch_query_gridsize(kernel, dim3(32), args, 0, &grid);
  return status != NVSHMEMX_SUCCESS ? status : nvshmemx_collective_launch(kernel, dim3(0), dim3(32), args, 0, stream);
}
