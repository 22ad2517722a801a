// SPDX-License-Identifier: BSD-3-Clause
// The collectives that shmem_gpu_perf measures: how large their buffers are, how often they are called, and what their
// speed is called.
#pragma once

#include <optional>

#include "perftest/device/coll/dtype.h"

namespace railshmem::perf::gpu::coll {

enum class Kind : uint8_t { allgather, reducescatter, allreduce, alltoall };

/// Buffers of one call.
struct Shape {
  uint64_t nelems;        ///< of a block; of the vector for all-reduce
  uint64_t block_bytes;   ///< those of nelems
  uint64_t bytes;         ///< of the full vector: all blocks together
  uint64_t source_bytes;  ///< of one PE's source
  uint64_t dest_bytes;
};

/// A full vector of at most `size` bytes, in blocks of a multiple of 16 bytes; never an empty block.
Shape shape_of(Kind kind, Dtype dtype, uint64_t size, int npes);

/// Bus bandwidth divided by algorithm bandwidth, as nccl-tests define them: the algorithm bandwidth is the full
/// vector's bytes by time, the bus bandwidth what each GPU's link carries in one direction. 0 for one PE.
double bus_factor(Kind kind, int npes);

/// Calls of one repetition.
struct Repeats {
  long in_graph;  ///< calls of one graph
  long replays;   ///< of the graph
  long calls() const { return in_graph * replays; }
};

/// About 4 GiB together, 5 to 200 calls, at most 50 in a graph. `asked`, where it is given, counts instead of 4 GiB.
Repeats repeats_of(uint64_t bytes, std::optional<long> asked);

}  // namespace railshmem::perf::gpu::coll
