// SPDX-License-Identifier: BSD-3-Clause
#include "transports/ofi/local_memory.h"

#include <algorithm>
#include <cerrno>

namespace railshmem::ofi {
namespace {

// Keys of local buffers start here, away from the small numbers of the segments: unique within a domain.
constexpr uint64_t kFirstLocalKey = 1u << 16;

}  // namespace

LocalMemory::LocalMemory(bool needed, fid_domain* domain, size_t max_operations)
    : needed_(needed), domain_(domain), next_key_(kFirstLocalKey) {
  if (needed_) in_flight_.reserve(max_operations);
}

int LocalMemory::find_or_register(std::span<const MemoryRegion> segments, const std::byte* p, size_t nbytes,
                                  const OpSlot* slot, void*& desc) noexcept {
  for (const MemoryRegion& segment : segments) {
    if (!segment.contains(p, nbytes)) continue;
    desc = segment.desc();
    return 0;
  }
  if (in_flight_.size() == in_flight_.capacity()) return EAGAIN;
  constexpr uint64_t kAccess = FI_READ | FI_WRITE | FI_SEND | FI_RECV;
  fid_mr* mr = nullptr;
  const int rc = fi_mr_reg(domain_, p, nbytes, kAccess, 0, next_key_++, 0, &mr, nullptr);
  if (rc != 0) return -rc;
  in_flight_.push_back({slot, Fid<fid_mr>(mr)});
  desc = fi_mr_desc(mr);
  return 0;
}

void LocalMemory::drop(const OpSlot* slot) noexcept {
  const auto found =
      std::find_if(in_flight_.begin(), in_flight_.end(), [&](const InFlight& op) { return op.slot == slot; });
  if (found == in_flight_.end()) return;
  *found = std::move(in_flight_.back());
  in_flight_.pop_back();
}

}  // namespace railshmem::ofi
