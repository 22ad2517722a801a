// SPDX-License-Identifier: BSD-3-Clause
// The elements that PEs give to a collective: small integers, so that every sum is exact in every type.
#pragma once

#include <algorithm>
#include <limits>

#include "perftest/device/coll/dtype.h"

#if defined(__CUDACC__)
#define RAILSHMEM_PERF_ANYWHERE __host__ __device__
#else
#define RAILSHMEM_PERF_ANYWHERE
#endif

namespace railshmem::perf::gpu::coll {

/// Which integers occur.
struct Values {
  int largest;  ///< from 0 to this one
  int givers;   ///< PEs from this number on give zeros, because more than that many would leave the exact integers
};

/// For results that add up one element each of `summed` PEs; 1 for results that are only moved.
inline Values values_for(Dtype dtype, int summed) {
  const int exact = facts_of(dtype).exact;
  if (summed <= 1) return {exact, std::numeric_limits<int>::max()};
  return {std::max(1, exact / summed), std::min(summed, exact)};
}

/// What PE `pe` has at `index` of its source. Neighbouring elements and PEs differ in most places.
RAILSHMEM_PERF_ANYWHERE inline int value_at(const Values& values, int pe, uint64_t index) {
  if (pe >= values.givers) return 0;
  uint32_t mixed = static_cast<uint32_t>(index ^ (index >> 32)) * 0x9E3779B1u + static_cast<uint32_t>(pe) * 0x85EBCA6Bu;
  mixed = (mixed ^ (mixed >> 15)) * 0x2C1B3C6Du;
  mixed ^= mixed >> 13;
  return static_cast<int>(mixed % static_cast<uint32_t>(values.largest + 1));
}

/// The sum over the PEs from `low` up to, but without, `high`.
RAILSHMEM_PERF_ANYWHERE inline int sum_at(const Values& values, int low, int high, uint64_t index) {
  int sum = 0;
  for (int pe = low; pe < high; ++pe) sum += value_at(values, pe, index);
  return sum;
}

}  // namespace railshmem::perf::gpu::coll
