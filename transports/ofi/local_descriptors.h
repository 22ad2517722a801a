// SPDX-License-Identifier: BSD-3-Clause
// Descriptors of local buffers, for providers that want those registered too (FI_MR_LOCAL).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "src/plugin/rail.h"
#include "transports/ofi/local_buffers.h"
#include "transports/ofi/memory_region.h"
#include "transports/ofi/slot_table.h"

namespace railshmem::ofi {

/// One rail's: buffers inside registered segments have their descriptor, buffers registered ahead as well; any other
/// goes through the cache. Does nothing unless needed().
class LocalDescriptors {
 public:
  LocalDescriptors() = default;
  /// `shared` must outlive this. Throws Error.
  LocalDescriptors(const RegistrationSite& site, LocalBuffers& shared, size_t max_operations,
                   const std::string& rail_name);

  bool needed() const noexcept { return parts_ != nullptr; }
  /// Finds or makes the descriptor of a buffer of the operation `slot`, which may be written to unless the pointer is
  /// to const. Returns 0 or an errno value; EAGAIN means after a completion.
  int describe(std::span<const MemoryRegion> segments, const std::byte* source, size_t nbytes, const OpSlot* slot,
               void*& desc) noexcept {
    desc = nullptr;
    return needed() ? find_or_register(segments, source, nbytes, LocalUse::source, slot, desc) : 0;
  }
  int describe(std::span<const MemoryRegion> segments, std::byte* dest, size_t nbytes, const OpSlot* slot,
               void*& desc) noexcept {
    desc = nullptr;
    return needed() ? find_or_register(segments, dest, nbytes, LocalUse::destination, slot, desc) : 0;
  }
  /// The operation is over, or was not posted after all.
  void forget(const OpSlot* slot) noexcept {
    if (needed() && !parts_->in_flight.empty()) drop(slot);
  }

  /// For tests and reports.
  const CacheCounts& counts() const noexcept { return parts_->cache.counts(); }
  size_t registered() const noexcept { return parts_->cache.open(); }

 private:
  /// What an operation in flight holds: a place in a buffer registered ahead, else an entry of the cache.
  struct Held {
    const std::byte* registered = nullptr;
    uint32_t entry = 0;
  };
  /// `shared` knows the address of `own`, so it stays where it is while the rail moves.
  struct Parts {
    Parts(const RegistrationSite& site, LocalBuffers& shared, size_t max_operations);
    ~Parts();

    LocalBuffers& shared;
    MemoryMonitor* const monitor;
    LocalRegistrations own;
    RegistrationCache<DomainRegistrar> cache;
    SlotTable<Held> in_flight;
    MemoryMonitor::Seen seen;
  };
  int find_or_register(std::span<const MemoryRegion> segments, const std::byte* p, size_t nbytes, LocalUse use,
                       const OpSlot* slot, void*& desc) noexcept;
  void drop(const OpSlot* slot) noexcept;

  std::unique_ptr<Parts> parts_;
};

}  // namespace railshmem::ofi
