// SPDX-License-Identifier: BSD-3-Clause
// The allocations of this PE that are shared with its node, and how many hold each of them.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "src/gpu/shared_allocation.h"

namespace railshmem {

using Shared = std::shared_ptr<SharedAllocation>;  // shared by registrations and calls; graphs have its number

/// Any number of threads.
class SharedAllocations {
 public:
  /// `slots`: PEs of the node.
  SharedAllocations(const cuda::DeviceContext& gpu, size_t slots) noexcept : gpu_(gpu), slots_(slots) {}
  SharedAllocations(const SharedAllocations&) = delete;

  /// The allocation of a range, one that is shared already where there is one, with one holder more. Throws Error where
  /// the range cannot be shared.
  Shared hold(const void* address, size_t nbytes);
  /// One holder more; the caller is one already.
  void hold_too(SharedAllocation& allocation);
  /// One holder less. Returns true where it was the last one: then no hold() finds the allocation any more.
  bool let_go(const SharedAllocation& allocation);
  /// Null where it has no holders any more.
  Shared of_number(uint64_t number) const;
  size_t count() const;

  /// Notes that the graph of a capture becomes a holder. Returns false where it is one already.
  bool note_capture(SharedAllocation& allocation, uint64_t capture);
  /// It did not become one after all.
  void forget_capture(SharedAllocation& allocation);

 private:
  Shared known(cuda::Address address, size_t nbytes) const;

  const cuda::DeviceContext& gpu_;
  const size_t slots_;
  mutable std::mutex mutex_;
  std::vector<Shared> held_;
  uint64_t last_number_ = 0;
};

}  // namespace railshmem
