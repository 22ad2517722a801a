// SPDX-License-Identifier: BSD-3-Clause
#include "perftest/device/coll/kind.h"

#include <algorithm>

namespace railshmem::perf::gpu::coll {

Shape shape_of(Kind kind, Dtype dtype, uint64_t size, int npes) {
  constexpr uint64_t kAlign = 16;  // vectors of GPUs; also a multiple of every element's size
  const uint64_t element = facts_of(dtype).nbytes;
  const uint64_t parts = kind == Kind::allreduce ? 1 : static_cast<uint64_t>(npes);
  Shape shape{};
  shape.block_bytes = std::max(kAlign, size / parts / kAlign * kAlign);
  shape.nelems = shape.block_bytes / element;
  shape.bytes = shape.block_bytes * parts;
  shape.source_bytes = kind == Kind::allgather ? shape.block_bytes : shape.bytes;
  shape.dest_bytes = kind == Kind::reducescatter ? shape.block_bytes : shape.bytes;
  return shape;
}

double bus_factor(Kind kind, int npes) {
  const double others = static_cast<double>(npes - 1) / static_cast<double>(npes);
  return kind == Kind::allreduce ? 2 * others : others;
}

Repeats repeats_of(uint64_t bytes, std::optional<long> asked) {
  constexpr uint64_t kVolume = uint64_t{4} << 30;
  constexpr long kMostInGraph = 50;
  const long calls = asked.value_or(static_cast<long>(std::clamp<uint64_t>(kVolume / bytes, 5, 200)));
  const long in_graph = std::min(calls, kMostInGraph);
  return {in_graph, (calls + in_graph - 1) / in_graph};
}

}  // namespace railshmem::perf::gpu::coll
