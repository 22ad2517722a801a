// SPDX-License-Identifier: BSD-3-Clause
// Copies of plain GPU memory (cudaMalloc) by threads of the library.
#pragma once

#include <cstddef>
#include <span>

#include "src/cuda/reduce_kernel.h"

namespace railshmem::cuda {

/// A copy engine's copy of plain memory waits for a lock of the context that allocated the memory, whichever context
/// the copy is made in. A call of the program may hold that lock until a thread of the library has made this copy. A
/// kernel in a context of the library's own needs no such lock (docs/decisions/0025). Any number of threads.
class PlainCopies {
 public:
  /// `heaps` is device memory of no context. All arguments outlive this.
  PlainCopies(const DeviceContext& gpu, std::span<const std::byte> heaps, ReduceKernel& kernel) noexcept
      : gpu_(gpu), heaps_(heaps), kernel_(kernel) {}

  /// Whether a copy is to be given here: the calling thread is the library's, and one side is plain memory.
  bool are_for(const void* to, const void* from) const noexcept;
  /// Appends a copy to a stream of `gpu`. Both sides are the GPU's, or pinned. The driver's word.
  Result give(void* to, const void* from, size_t nbytes, Stream stream) const noexcept;

 private:
  bool is_plain(const void* address) const noexcept;

  const DeviceContext& gpu_;
  const std::span<const std::byte> heaps_;
  ReduceKernel& kernel_;
};

}  // namespace railshmem::cuda
