// SPDX-License-Identifier: BSD-3-Clause
// api.cuh for NVSHMEM.
#pragma once

#include <nvshmem.h>
#include <nvshmemx.h>

#include "perftest/device/options.h"

namespace railshmem::perf::gpu::api {

template <Scope kScope>
__device__ inline void put_nbi(void* dest, const void* source, size_t nbytes, int pe) {
  if constexpr (kScope == Scope::block)
    return nvshmemx_putmem_nbi_block(dest, source, nbytes, pe);
  else if constexpr (kScope == Scope::warp)
    return nvshmemx_putmem_nbi_warp(dest, source, nbytes, pe);
  else
    return nvshmem_putmem_nbi(dest, source, nbytes, pe);
}

template <Scope kScope>
__device__ inline void get_nbi(void* dest, const void* source, size_t nbytes, int pe) {
  if constexpr (kScope == Scope::block)
    return nvshmemx_getmem_nbi_block(dest, source, nbytes, pe);
  else if constexpr (kScope == Scope::warp)
    return nvshmemx_getmem_nbi_warp(dest, source, nbytes, pe);
  else
    return nvshmem_getmem_nbi(dest, source, nbytes, pe);
}

template <Scope kScope>
__device__ inline void get(void* dest, const void* source, size_t nbytes, int pe) {
  if constexpr (kScope == Scope::block)
    return nvshmemx_getmem_block(dest, source, nbytes, pe);
  else if constexpr (kScope == Scope::warp)
    return nvshmemx_getmem_warp(dest, source, nbytes, pe);
  else
    return nvshmem_getmem(dest, source, nbytes, pe);
}

__device__ inline void put_value(uint64_t* dest, uint64_t value, int pe) {
  nvshmem_uint64_p(dest, value, pe);
}
__device__ inline uint64_t get_value(const uint64_t* source, int pe) {
  return nvshmem_uint64_g(source, pe);
}
__device__ inline void quiet() {
  nvshmem_quiet();
}

template <Scope kScope>
__device__ inline void put_signal_nbi(void* dest, const void* source, size_t nbytes, uint64_t* signal, uint64_t value,
                                      int pe) {
  constexpr int kSet = NVSHMEM_SIGNAL_SET;
  if constexpr (kScope == Scope::block)
    return nvshmemx_putmem_signal_nbi_block(dest, source, nbytes, signal, value, kSet, pe);
  else if constexpr (kScope == Scope::warp)
    return nvshmemx_putmem_signal_nbi_warp(dest, source, nbytes, signal, value, kSet, pe);
  else
    return nvshmem_putmem_signal_nbi(dest, source, nbytes, signal, value, kSet, pe);
}

__device__ inline void set_signal(uint64_t* signal, uint64_t value, int pe) {
  nvshmemx_signal_op(signal, value, NVSHMEM_SIGNAL_SET, pe);
}
__device__ inline bool wait_signal(uint64_t* signal, uint64_t at_least) {
  return nvshmem_signal_wait_until(signal, NVSHMEM_CMP_GE, at_least) >= at_least;
}

template <Amo kAmo>
__device__ inline void amo(uint64_t* word, uint64_t operand, int pe) {
  if constexpr (kAmo == Amo::add) nvshmem_uint64_atomic_add(word, operand, pe);
  if constexpr (kAmo == Amo::fetch_add) nvshmem_uint64_atomic_fetch_add(word, operand, pe);
  if constexpr (kAmo == Amo::swap) nvshmem_uint64_atomic_swap(word, operand, pe);
  if constexpr (kAmo == Amo::compare_swap) nvshmem_uint64_atomic_compare_swap(word, 0, operand, pe);
}

template <Scope kScope>
__device__ inline void barrier() {
  if constexpr (kScope == Scope::block)
    return nvshmemx_barrier_all_block();
  else if constexpr (kScope == Scope::warp)
    return nvshmemx_barrier_all_warp();
  else
    return nvshmem_barrier_all();
}

using Team = nvshmem_team_t;
/// All PEs, as a team of their own. Collective, by the host.
inline Team make_team(int npes) {
  Team team = NVSHMEM_TEAM_INVALID;
  nvshmem_team_split_strided(NVSHMEM_TEAM_WORLD, 0, 1, npes, nullptr, 0, &team);
  return team;
}
inline void destroy(Team team) {
  nvshmem_team_destroy(team);
}

template <Scope kScope>
__device__ inline int team_sync(Team team) {
  if constexpr (kScope == Scope::block)
    return nvshmemx_team_sync_block(team);
  else if constexpr (kScope == Scope::warp)
    return nvshmemx_team_sync_warp(team);
  else
    return nvshmem_team_sync(team);
}

/// Of a team.
template <Scope kScope>
__device__ inline void team_barrier(Team team) {
  if constexpr (kScope == Scope::block)
    return static_cast<void>(nvshmemx_barrier_block(team));
  else if constexpr (kScope == Scope::warp)
    return static_cast<void>(nvshmemx_barrier_warp(team));
  else
    return static_cast<void>(nvshmem_barrier(team));
}

/// `n` words of each PE.
template <Scope kScope>
__device__ inline int fcollect(uint64_t* dest, const uint64_t* source, size_t n) {
  if constexpr (kScope == Scope::block)
    return nvshmemx_uint64_fcollect_block(NVSHMEM_TEAM_WORLD, dest, source, n);
  else if constexpr (kScope == Scope::warp)
    return nvshmemx_uint64_fcollect_warp(NVSHMEM_TEAM_WORLD, dest, source, n);
  else
    return nvshmem_uint64_fcollect(NVSHMEM_TEAM_WORLD, dest, source, n);
}

/// `n` words from each PE to each.
template <Scope kScope>
__device__ inline int alltoall(uint64_t* dest, const uint64_t* source, size_t n) {
  if constexpr (kScope == Scope::block)
    return nvshmemx_uint64_alltoall_block(NVSHMEM_TEAM_WORLD, dest, source, n);
  else if constexpr (kScope == Scope::warp)
    return nvshmemx_uint64_alltoall_warp(NVSHMEM_TEAM_WORLD, dest, source, n);
  else
    return nvshmem_uint64_alltoall(NVSHMEM_TEAM_WORLD, dest, source, n);
}

/// `n` words of one PE to all.
template <Scope kScope>
__device__ inline int broadcast(uint64_t* dest, const uint64_t* source, size_t n, int root) {
  if constexpr (kScope == Scope::block)
    return nvshmemx_uint64_broadcast_block(NVSHMEM_TEAM_WORLD, dest, source, n, root);
  else if constexpr (kScope == Scope::warp)
    return nvshmemx_uint64_broadcast_warp(NVSHMEM_TEAM_WORLD, dest, source, n, root);
  else
    return nvshmem_uint64_broadcast(NVSHMEM_TEAM_WORLD, dest, source, n, root);
}

template <Scope kScope>
__device__ inline int sum(float* dest, const float* source, size_t n) {
  if constexpr (kScope == Scope::block)
    return nvshmemx_float_sum_reduce_block(NVSHMEM_TEAM_WORLD, dest, source, n);
  else if constexpr (kScope == Scope::warp)
    return nvshmemx_float_sum_reduce_warp(NVSHMEM_TEAM_WORLD, dest, source, n);
  else
    return nvshmem_float_sum_reduce(NVSHMEM_TEAM_WORLD, dest, source, n);
}

/// Calls of the host in the order of a stream.
namespace on_stream {

inline void put(void* dest, const void* source, size_t nbytes, int pe, cudaStream_t stream) {
  nvshmemx_putmem_on_stream(dest, source, nbytes, pe, stream);
}
inline void get(void* dest, const void* source, size_t nbytes, int pe, cudaStream_t stream) {
  nvshmemx_getmem_on_stream(dest, source, nbytes, pe, stream);
}
inline void put_signal(void* dest, const void* source, size_t nbytes, uint64_t* signal, uint64_t value, int pe,
                       cudaStream_t stream) {
  nvshmemx_putmem_signal_on_stream(dest, source, nbytes, signal, value, NVSHMEM_SIGNAL_SET, pe, stream);
}
inline void put_nbi(void* dest, const void* source, size_t nbytes, int pe, cudaStream_t stream) {
  nvshmemx_putmem_nbi_on_stream(dest, source, nbytes, pe, stream);
}
inline void get_nbi(void* dest, const void* source, size_t nbytes, int pe, cudaStream_t stream) {
  nvshmemx_getmem_nbi_on_stream(dest, source, nbytes, pe, stream);
}
inline void put_signal_nbi(void* dest, const void* source, size_t nbytes, uint64_t* signal, uint64_t value, int pe,
                           cudaStream_t stream) {
  nvshmemx_putmem_signal_nbi_on_stream(dest, source, nbytes, signal, value, NVSHMEM_SIGNAL_SET, pe, stream);
}
inline void wait_signal(uint64_t* signal, uint64_t at_least, cudaStream_t stream) {
  nvshmemx_signal_wait_until_on_stream(signal, NVSHMEM_CMP_GE, at_least, stream);
}
inline void quiet(cudaStream_t stream) {
  nvshmemx_quiet_on_stream(stream);
}
inline void barrier(cudaStream_t stream) {
  nvshmemx_barrier_all_on_stream(stream);
}
inline int fcollect(uint64_t* dest, const uint64_t* source, size_t n, cudaStream_t stream) {
  return nvshmemx_uint64_fcollect_on_stream(NVSHMEM_TEAM_WORLD, dest, source, n, stream);
}
inline int alltoall(uint64_t* dest, const uint64_t* source, size_t n, cudaStream_t stream) {
  return nvshmemx_uint64_alltoall_on_stream(NVSHMEM_TEAM_WORLD, dest, source, n, stream);
}
inline int sum(float* dest, const float* source, size_t n, cudaStream_t stream) {
  return nvshmemx_float_sum_reduce_on_stream(NVSHMEM_TEAM_WORLD, dest, source, n, stream);
}

}  // namespace on_stream

}  // namespace railshmem::perf::gpu::api
