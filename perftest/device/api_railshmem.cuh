// SPDX-License-Identifier: BSD-3-Clause
// api.cuh for RailSHMEM.
#pragma once

#include <shmem.h>
#include <shmemx.h>

#include "perftest/device/options.h"
#include "perftest/device/threads.cuh"

namespace railshmem::perf::gpu::api {

template <Scope kScope>
__device__ inline void put_nbi(void* dest, const void* source, size_t nbytes, int pe) {
  if constexpr (kScope == Scope::block)
    return shmemx_putmem_nbi_block(dest, source, nbytes, pe);
  else if constexpr (kScope == Scope::warp)
    return shmemx_putmem_nbi_warp(dest, source, nbytes, pe);
  else
    return shmem_putmem_nbi(dest, source, nbytes, pe);
}

template <Scope kScope>
__device__ inline void get_nbi(void* dest, const void* source, size_t nbytes, int pe) {
  if constexpr (kScope == Scope::block)
    return shmemx_getmem_nbi_block(dest, source, nbytes, pe);
  else if constexpr (kScope == Scope::warp)
    return shmemx_getmem_nbi_warp(dest, source, nbytes, pe);
  else
    return shmem_getmem_nbi(dest, source, nbytes, pe);
}

template <Scope kScope>
__device__ inline void get(void* dest, const void* source, size_t nbytes, int pe) {
  if constexpr (kScope == Scope::block)
    return shmemx_getmem_block(dest, source, nbytes, pe);
  else if constexpr (kScope == Scope::warp)
    return shmemx_getmem_warp(dest, source, nbytes, pe);
  else
    return shmem_getmem(dest, source, nbytes, pe);
}

__device__ inline void put_value(uint64_t* dest, uint64_t value, int pe) {
  shmem_uint64_p(dest, value, pe);
}
__device__ inline uint64_t get_value(const uint64_t* source, int pe) {
  return shmem_uint64_g(source, pe);
}
__device__ inline void quiet() {
  shmem_quiet();
}

template <Scope kScope>
__device__ inline void put_signal_nbi(void* dest, const void* source, size_t nbytes, uint64_t* signal, uint64_t value,
                                      int pe) {
  constexpr int kSet = SHMEM_SIGNAL_SET;
  if constexpr (kScope == Scope::block)
    return shmemx_putmem_signal_nbi_block(dest, source, nbytes, signal, value, kSet, pe);
  else if constexpr (kScope == Scope::warp)
    return shmemx_putmem_signal_nbi_warp(dest, source, nbytes, signal, value, kSet, pe);
  else
    return shmem_putmem_signal_nbi(dest, source, nbytes, signal, value, kSet, pe);
}

__device__ inline void set_signal(uint64_t* signal, uint64_t value, int pe) {
  shmem_signal_set(signal, value, pe);
}
__device__ inline bool wait_signal(uint64_t* signal, uint64_t at_least) {
  return shmem_signal_wait_until(signal, SHMEM_CMP_GE, at_least) >= at_least;
}

template <Amo kAmo>
__device__ inline void amo(uint64_t* word, uint64_t operand, int pe) {
  if constexpr (kAmo == Amo::add) shmem_uint64_atomic_add(word, operand, pe);
  if constexpr (kAmo == Amo::fetch_add) shmem_uint64_atomic_fetch_add(word, operand, pe);
  if constexpr (kAmo == Amo::swap) shmem_uint64_atomic_swap(word, operand, pe);
  if constexpr (kAmo == Amo::compare_swap) shmem_uint64_atomic_compare_swap(word, 0, operand, pe);
}

template <Scope kScope>
__device__ inline void barrier() {
  if constexpr (kScope == Scope::block)
    return shmemx_barrier_all_block();
  else if constexpr (kScope == Scope::warp)
    return shmemx_barrier_all_warp();
  else
    return shmem_barrier_all();
}

using Team = shmem_team_t;
/// All PEs, as a team of their own. Collective, by the host.
inline Team make_team(int npes) {
  Team team = SHMEM_TEAM_INVALID;
  shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, npes, nullptr, 0, &team);
  return team;
}
inline void destroy(Team team) {
  shmem_team_destroy(team);
}

template <Scope kScope>
__device__ inline int team_sync(Team team) {
  if constexpr (kScope == Scope::block)
    return shmemx_team_sync_block(team);
  else if constexpr (kScope == Scope::warp)
    return shmemx_team_sync_warp(team);
  else
    return shmem_team_sync(team);
}

/// Of a team: a quiet, and the meeting.
template <Scope kScope>
__device__ inline void team_barrier(Team team) {
  sync<kScope>();
  if (leads<kScope>()) shmem_quiet();
  team_sync<kScope>(team);
}

/// `n` words of each PE.
template <Scope kScope>
__device__ inline int fcollect(uint64_t* dest, const uint64_t* source, size_t n) {
  if constexpr (kScope == Scope::block)
    return shmemx_uint64_fcollect_block(SHMEM_TEAM_WORLD, dest, source, n);
  else if constexpr (kScope == Scope::warp)
    return shmemx_uint64_fcollect_warp(SHMEM_TEAM_WORLD, dest, source, n);
  else
    return shmem_uint64_fcollect(SHMEM_TEAM_WORLD, dest, source, n);
}

/// `n` words from each PE to each.
template <Scope kScope>
__device__ inline int alltoall(uint64_t* dest, const uint64_t* source, size_t n) {
  if constexpr (kScope == Scope::block)
    return shmemx_uint64_alltoall_block(SHMEM_TEAM_WORLD, dest, source, n);
  else if constexpr (kScope == Scope::warp)
    return shmemx_uint64_alltoall_warp(SHMEM_TEAM_WORLD, dest, source, n);
  else
    return shmem_uint64_alltoall(SHMEM_TEAM_WORLD, dest, source, n);
}

/// `n` words of one PE to all.
template <Scope kScope>
__device__ inline int broadcast(uint64_t* dest, const uint64_t* source, size_t n, int root) {
  if constexpr (kScope == Scope::block)
    return shmemx_uint64_broadcast_block(SHMEM_TEAM_WORLD, dest, source, n, root);
  else if constexpr (kScope == Scope::warp)
    return shmemx_uint64_broadcast_warp(SHMEM_TEAM_WORLD, dest, source, n, root);
  else
    return shmem_uint64_broadcast(SHMEM_TEAM_WORLD, dest, source, n, root);
}

template <Scope kScope>
__device__ inline int sum(float* dest, const float* source, size_t n) {
  if constexpr (kScope == Scope::block)
    return shmemx_float_sum_reduce_block(SHMEM_TEAM_WORLD, dest, source, n);
  else if constexpr (kScope == Scope::warp)
    return shmemx_float_sum_reduce_warp(SHMEM_TEAM_WORLD, dest, source, n);
  else
    return shmem_float_sum_reduce(SHMEM_TEAM_WORLD, dest, source, n);
}

/// Calls of the host in the order of a stream.
namespace on_stream {

inline void put(void* dest, const void* source, size_t nbytes, int pe, cudaStream_t stream) {
  shmemx_putmem_on_stream(dest, source, nbytes, pe, stream);
}
inline void get(void* dest, const void* source, size_t nbytes, int pe, cudaStream_t stream) {
  shmemx_getmem_on_stream(dest, source, nbytes, pe, stream);
}
inline void put_signal(void* dest, const void* source, size_t nbytes, uint64_t* signal, uint64_t value, int pe,
                       cudaStream_t stream) {
  shmemx_putmem_signal_on_stream(dest, source, nbytes, signal, value, SHMEM_SIGNAL_SET, pe, stream);
}
inline void put_nbi(void* dest, const void* source, size_t nbytes, int pe, cudaStream_t stream) {
  shmemx_putmem_nbi_on_stream(dest, source, nbytes, pe, stream);
}
inline void get_nbi(void* dest, const void* source, size_t nbytes, int pe, cudaStream_t stream) {
  shmemx_getmem_nbi_on_stream(dest, source, nbytes, pe, stream);
}
inline void put_signal_nbi(void* dest, const void* source, size_t nbytes, uint64_t* signal, uint64_t value, int pe,
                           cudaStream_t stream) {
  shmemx_putmem_signal_nbi_on_stream(dest, source, nbytes, signal, value, SHMEM_SIGNAL_SET, pe, stream);
}
inline void wait_signal(uint64_t* signal, uint64_t at_least, cudaStream_t stream) {
  shmemx_signal_wait_until_on_stream(signal, SHMEM_CMP_GE, at_least, stream);
}
inline void quiet(cudaStream_t stream) {
  shmemx_quiet_on_stream(stream);
}
inline void barrier(cudaStream_t stream) {
  shmemx_barrier_all_on_stream(stream);
}
inline int fcollect(uint64_t* dest, const uint64_t* source, size_t n, cudaStream_t stream) {
  return shmemx_uint64_fcollect_on_stream(SHMEM_TEAM_WORLD, dest, source, n, stream);
}
inline int alltoall(uint64_t* dest, const uint64_t* source, size_t n, cudaStream_t stream) {
  return shmemx_uint64_alltoall_on_stream(SHMEM_TEAM_WORLD, dest, source, n, stream);
}
inline int sum(float* dest, const float* source, size_t n, cudaStream_t stream) {
  return shmemx_float_sum_reduce_on_stream(SHMEM_TEAM_WORLD, dest, source, n, stream);
}

}  // namespace on_stream

}  // namespace railshmem::perf::gpu::api
