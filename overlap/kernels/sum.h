// SPDX-License-Identifier: BSD-3-Clause
// The sum of the members' results, for GPUs, and for the CPU where tests have no GPU.
#pragma once

#include <cstdint>

#include "src/base/small_floats.h"

#if defined(__CUDACC__)
#define RAILSHMEM_OVERLAP_HD __host__ __device__
#else
#define RAILSHMEM_OVERLAP_HD
#endif

namespace railshmem::overlap {

inline constexpr int kMostMembers = 64;

enum class Element : uint32_t { float32, half, bfloat16 };

/// dest = the sum of the operands in their order, as float, rounded once. dest may be one of them.
struct SumCall {
  const void* operand[kMostMembers];
  void* dest;
  uint64_t nelems;
  uint32_t n;  ///< operands
  Element element;
};

namespace kernels {

inline constexpr uint64_t kVector = 16;  ///< bytes of one load or store

template <class T>
RAILSHMEM_OVERLAP_HD inline float to_float(T value) {
  return value.value();
}
template <>
RAILSHMEM_OVERLAP_HD inline float to_float(float value) {
  return value;
}

/// The elements from `begin` on that one vector holds.
template <class T>
struct alignas(kVector) Vector {
  T at[kVector / sizeof(T)];
};

template <class T, class Unit>
RAILSHMEM_OVERLAP_HD inline void sum_units(const SumCall& call, uint64_t begin, uint64_t end, uint64_t step) {
  constexpr int kWidth = sizeof(Unit) / sizeof(T);
  for (uint64_t i = begin; i < end; i += step) {
    const Unit first = static_cast<const Unit*>(call.operand[0])[i];
    float sum[kWidth];
    for (int j = 0; j < kWidth; ++j) sum[j] = to_float(reinterpret_cast<const T*>(&first)[j]);
    for (uint32_t k = 1; k < call.n; ++k) {
      const Unit operand = static_cast<const Unit*>(call.operand[k])[i];
      for (int j = 0; j < kWidth; ++j) sum[j] += to_float(reinterpret_cast<const T*>(&operand)[j]);
    }
    Unit result;
    for (int j = 0; j < kWidth; ++j) reinterpret_cast<T*>(&result)[j] = T(sum[j]);
    static_cast<Unit*>(call.dest)[i] = result;
  }
}

template <class T>
RAILSHMEM_OVERLAP_HD inline void sum_of(const SumCall& call, uint64_t thread, uint64_t threads) {
  uint64_t addresses = reinterpret_cast<uintptr_t>(call.dest);
  for (uint32_t k = 0; k < call.n; ++k) addresses |= reinterpret_cast<uintptr_t>(call.operand[k]);
  constexpr uint64_t kWidth = kVector / sizeof(T);
  const uint64_t vectors = addresses % kVector == 0 ? call.nelems / kWidth : 0;
  sum_units<T, Vector<T>>(call, thread, vectors, threads);
  sum_units<T, T>(call, vectors * kWidth + thread, call.nelems, threads);
}

RAILSHMEM_OVERLAP_HD inline void sum(const SumCall& call, uint64_t thread, uint64_t threads) {
  switch (call.element) {
    case Element::float32:
      return sum_of<float>(call, thread, threads);
    case Element::half:
      return sum_of<Half>(call, thread, threads);
    case Element::bfloat16:
      return sum_of<Bfloat16>(call, thread, threads);
  }
}

}  // namespace kernels
}  // namespace railshmem::overlap
