// SPDX-License-Identifier: BSD-3-Clause
// What the benches of collectives ask of the measured library, beside job.h. One definition for each library:
// library_*.cu.
#pragma once

#include <cuda_runtime.h>

#include <string>

#include "perftest/device/coll/kind.h"
#include "perftest/device/coll/memory.h"

namespace railshmem::perf::gpu::coll {

/// Memory of one kind, and what the library knows it by.
struct Held {
  void* at = nullptr;
  void* handle = nullptr;
  std::string missing;  ///< where `at` is null: why the library has no memory of this kind here
};
/// Collective. Throws where there is too little memory.
Held hold(Memory memory, size_t nbytes);
/// Collective; every PE has finished with the memory.
void let_go(Memory memory, const Held& held);

struct Call {
  Kind kind;
  Dtype dtype;
  size_t nelems;  ///< of a block; of the vector for all-reduce
  const void* source;
  void* dest;
  Memory memory;    ///< where both buffers lie
  unsigned blocks;  ///< of a kernel at most; 0: the library's choice
};
/// Puts the collective over all PEs into the stream; reductions add up. Throws where the library refuses.
void enqueue(const Call& call, cudaStream_t stream);

}  // namespace railshmem::perf::gpu::coll
