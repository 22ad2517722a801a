// SPDX-License-Identifier: BSD-3-Clause
// Descriptors of local buffers, for providers that want those registered too (FI_MR_LOCAL).
#pragma once

#include <rdma/fi_domain.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "src/plugin/rail.h"
#include "transports/ofi/fid.h"
#include "transports/ofi/memory_region.h"

namespace railshmem::ofi {

/// Buffers inside registered segments have their descriptor; any other buffer is registered for as long as its
/// operation lives and never longer, because the caller may unmap it afterwards. Does nothing unless needed().
class LocalMemory {
 public:
  LocalMemory() = default;
  LocalMemory(bool needed, fid_domain* domain, size_t max_operations);

  bool needed() const noexcept { return needed_; }
  /// Finds or makes the descriptor of a buffer of the operation `slot`. Returns 0 or an errno value.
  int describe(std::span<const MemoryRegion> segments, const std::byte* p, size_t nbytes, const OpSlot* slot,
               void*& desc) noexcept {
    desc = nullptr;
    return needed_ ? find_or_register(segments, p, nbytes, slot, desc) : 0;
  }
  /// The operation is over, or was not posted after all: its registration goes, if it had one.
  void forget(const OpSlot* slot) noexcept {
    if (!in_flight_.empty()) drop(slot);
  }
  size_t registered() const noexcept { return in_flight_.size(); }

 private:
  struct InFlight {
    const OpSlot* slot;
    Fid<fid_mr> mr;
  };
  int find_or_register(std::span<const MemoryRegion> segments, const std::byte* p, size_t nbytes, const OpSlot* slot,
                       void*& desc) noexcept;
  void drop(const OpSlot* slot) noexcept;

  bool needed_ = false;
  fid_domain* domain_ = nullptr;
  uint64_t next_key_ = 0;
  std::vector<InFlight> in_flight_;  ///< reserved once; a linear search is cheap beside a registration
};

}  // namespace railshmem::ofi
