// SPDX-License-Identifier: BSD-3-Clause
// A range of addresses of its own, filled with physical memory extent by extent.
#pragma once

#include <cstddef>
#include <vector>

#include "src/cuda/physical_memory.h"

namespace railshmem::cuda {

/// Who in this process uses what is mapped: the GPU of the context, or every GPU that reaches it, as NCCL asks for.
enum class MappedFor : uint8_t { this_gpu, all_gpus };

/// Unmaps everything when destroyed: no kernel may use it then.
class MappedRange {
 public:
  /// Reserves addresses, which are a multiple of the granularity. `nbytes` is one too. Throws Error.
  MappedRange(const DeviceContext& gpu, size_t nbytes, MappedFor who);
  MappedRange(const MappedRange&) = delete;
  ~MappedRange();

  /// Maps an extent behind the others. The mapping keeps the memory; `memory` may go. Throws Error.
  void append(const PhysicalMemory& memory);

  std::byte* base() const noexcept { return pointer_to(base_); }
  size_t nbytes() const noexcept { return nbytes_; }
  size_t filled() const noexcept { return filled_; }

 private:
  const DeviceContext& gpu_;
  const size_t nbytes_;
  std::vector<AccessDescription> access_;
  Address base_ = 0;
  size_t filled_ = 0;
  std::vector<size_t> extents_;  ///< their sizes, since a mapping is unmapped as a whole
};

}  // namespace railshmem::cuda
