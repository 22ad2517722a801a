// SPDX-License-Identifier: BSD-3-Clause
// Registration of one segment in one domain, for peers and as a local buffer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "transports/ofi/registration.h"

namespace railshmem::ofi {

/// How a peer names one of our segments; travels in the descriptor.
struct RemoteRegion {
  uint64_t key = 0;
  uint64_t base = 0;  ///< added to an offset: the owner's address under FI_MR_VIRT_ADDR, else 0
};

/// One registered range. Must be closed before its endpoint and domain.
class MemoryRegion {
 public:
  MemoryRegion() = default;
  /// Registers `bytes` for writes and reads by this PE and its peers. `wanted_key` must be unique in the domain; it
  /// counts only where the provider leaves the choice of keys to us.
  MemoryRegion(const fi_info& info, fid_domain* domain, fid_ep* ep, std::span<const std::byte> bytes,
               uint64_t wanted_key);
  /// Registers memory of any kind. Where `wanted_key` is taken, the next keys are tried.
  MemoryRegion(const RegistrationSite& site, const Memory& memory, uint64_t wanted_key);

  RemoteRegion remote() const noexcept { return remote_; }
  void* desc() const noexcept { return desc_; }
  bool contains(const std::byte* p, size_t nbytes) const noexcept {
    return p >= begin_ && p < end_ && nbytes <= static_cast<size_t>(end_ - p);
  }

 private:
  Fid<fid_mr> mr_;
  RemoteRegion remote_;
  void* desc_ = nullptr;
  const std::byte* begin_ = nullptr;
  const std::byte* end_ = nullptr;
};

}  // namespace railshmem::ofi
