// SPDX-License-Identifier: BSD-3-Clause
// Fills buffers with the values of values.h and compares results with them, element by element on the GPU.
#pragma once

#include <cuda_runtime.h>

#include <optional>

#include "perftest/device/coll/values.h"

namespace railshmem::perf::gpu::coll {

/// Elements that lie one after the other.
struct Elements {
  const void* at;
  Dtype dtype;
  uint64_t n;
  uint64_t first;  ///< index of the first one in the PE's source
};

/// Writes what PE `pe` gives, in stream order.
void fill(const Elements& elements, const Values& values, int pe, cudaStream_t stream);

struct Mismatch {
  uint64_t count;  ///< wrong elements
  uint64_t first;  ///< the first of them
  uint64_t found;  ///< its bits
  uint64_t expected;
};
/// Compares with the sums over the PEs from `low` up to, but without, `high`. Waits for the stream.
std::optional<Mismatch> check(const Elements& elements, const Values& values, int low, int high, cudaStream_t stream);

}  // namespace railshmem::perf::gpu::coll
