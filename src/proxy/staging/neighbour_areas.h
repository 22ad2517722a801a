// SPDX-License-Identifier: BSD-3-Clause
// The bounce areas of the other PEs of this host, mapped into this process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "src/proxy/staging/staging_terms.h"

namespace railshmem {

/// A network inside one host moves data by the CPU, from slot to slot, at 10 GB/s. A copy engine does it from the
/// peer's slot right away.
class NeighbourAreas {
 public:
  /// An area that cannot be mapped is left out, and the reason goes to the log.
  NeighbourAreas(std::span<const StagingTerms> by_pe, int me);
  NeighbourAreas(const NeighbourAreas&) = delete;
  ~NeighbourAreas();

  /// Where the slot of a PE is; null: it is not mapped, or these bytes are not all of its area.
  std::byte* at(int pe, uint64_t slot, size_t nbytes) const noexcept {
    const std::span<std::byte> area = by_pe_[static_cast<size_t>(pe)];
    return slot <= area.size() && nbytes <= area.size() - slot && !area.empty() ? area.data() + slot : nullptr;
  }
  /// Those that are mapped.
  std::span<const std::span<std::byte>> all() const noexcept { return mapped_; }

 private:
  std::vector<std::span<std::byte>> by_pe_;  ///< empty: not mapped
  std::vector<std::span<std::byte>> mapped_;
};

}  // namespace railshmem
