// SPDX-License-Identifier: BSD-3-Clause
// What the device headers use of CUDA's own headers, for clang without CUDA (-nocudainc): so librailshmem_device.bc
// depends on no release of CUDA. To the device headers such a compiler is what NVRTC is: it has no host side.
#pragma once

#define RAILSHMEM_STRUCTS_BY_ADDRESS
#define __CUDACC__ 1
#define __CUDACC_RTC__ 1
#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __constant__ __attribute__((constant))
#define __forceinline__ inline __attribute__((always_inline))

#include <__clang_cuda_builtin_vars.h>

/// Device headers call __builtin_memcpy, which they name memcpy for NVRTC.
__device__ __forceinline__ void* railshmem_memcpy(void* to, const void* from, unsigned long nbytes) {
  return __builtin_memcpy(to, from, nbytes);
}
#define memcpy railshmem_memcpy

struct __attribute__((aligned(16))) ulonglong2 {
  unsigned long long x, y;
};

// Threads of a block and of a warp.
__device__ __forceinline__ void __syncwarp(unsigned mask = 0xffffffffu) {
  __nvvm_bar_warp_sync(mask);
}
__device__ __forceinline__ unsigned __activemask() {
  unsigned mask;
  asm volatile("activemask.b32 %0;" : "=r"(mask));
  return mask;
}
__device__ __forceinline__ unsigned __match_any_sync(unsigned mask, unsigned long long value) {
  return static_cast<unsigned>(__nvvm_match_any_sync_i64(mask, static_cast<long long>(value)));
}
__device__ __forceinline__ unsigned __ballot_sync(unsigned mask, bool raise) {
  return __nvvm_vote_ballot_sync(mask, raise);
}
__device__ __forceinline__ unsigned long long __shfl_sync(unsigned mask, unsigned long long value, int lane) {
  constexpr int kWholeWarp = 0x1f;
  const int lo = __nvvm_shfl_sync_idx_i32(mask, static_cast<int>(value), lane, kWholeWarp);
  const int hi = __nvvm_shfl_sync_idx_i32(mask, static_cast<int>(value >> 32), lane, kWholeWarp);
  return (static_cast<unsigned long long>(static_cast<unsigned>(hi)) << 32) | static_cast<unsigned>(lo);
}
__device__ __forceinline__ int __popc(unsigned word) {
  return __builtin_popcount(word);
}
__device__ __forceinline__ int __ffs(int word) {
  return __builtin_ffs(word);
}
__device__ __forceinline__ void __nanosleep(unsigned ns) {
  asm volatile("nanosleep.u32 %0;" ::"r"(ns));
}
__device__ __forceinline__ unsigned __isGlobal(const void* address) {
  return __nvvm_isspacep_global(address) ? 1 : 0;
}
__device__ __forceinline__ unsigned __isLocal(const void* address) {
  return __nvvm_isspacep_local(address) ? 1 : 0;
}

// Atomics, relaxed: one function for each operation and width.
#define RAILSHMEM_ATOMIC(NAME, PTX, SCOPE, BITS, CONSTRAINT, T)          \
  __device__ __forceinline__ T NAME(T* at, T operand) {                  \
    T old;                                                               \
    asm volatile("atom.relaxed." SCOPE "." PTX "." BITS " %0, [%1], %2;" \
                 : "=" CONSTRAINT(old)                                   \
                 : "l"(at), CONSTRAINT(operand)                          \
                 : "memory");                                            \
    return old;                                                          \
  }
#define RAILSHMEM_ATOMIC_CAS(NAME, SCOPE, BITS, CONSTRAINT, T)           \
  __device__ __forceinline__ T NAME(T* at, T compare, T operand) {       \
    T old;                                                               \
    asm volatile("atom.relaxed." SCOPE ".cas." BITS " %0, [%1], %2, %3;" \
                 : "=" CONSTRAINT(old)                                   \
                 : "l"(at), CONSTRAINT(compare), CONSTRAINT(operand)     \
                 : "memory");                                            \
    return old;                                                          \
  }
#define RAILSHMEM_ATOMICS(CONSTRAINT, WIDTH, T)                                \
  RAILSHMEM_ATOMIC(atomicExch_system, "exch", "sys", "b" WIDTH, CONSTRAINT, T) \
  RAILSHMEM_ATOMIC(atomicAdd_system, "add", "sys", "u" WIDTH, CONSTRAINT, T)   \
  RAILSHMEM_ATOMIC(atomicAnd_system, "and", "sys", "b" WIDTH, CONSTRAINT, T)   \
  RAILSHMEM_ATOMIC(atomicOr_system, "or", "sys", "b" WIDTH, CONSTRAINT, T)     \
  RAILSHMEM_ATOMIC(atomicXor_system, "xor", "sys", "b" WIDTH, CONSTRAINT, T)   \
  RAILSHMEM_ATOMIC_CAS(atomicCAS_system, "sys", "b" WIDTH, CONSTRAINT, T)
RAILSHMEM_ATOMICS("r", "32", unsigned)
RAILSHMEM_ATOMICS("l", "64", unsigned long long)
RAILSHMEM_ATOMIC_CAS(atomicCAS, "gpu", "b32", "r", unsigned)
#undef RAILSHMEM_ATOMICS
#undef RAILSHMEM_ATOMIC_CAS
#undef RAILSHMEM_ATOMIC
