// SPDX-License-Identifier: BSD-3-Clause
// What libfabric is told about a piece of memory, and the one place where memory is registered.
#pragma once

#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>

#include <cstddef>
#include <cstdint>

#include "transports/ofi/fid.h"

namespace railshmem::ofi {

/// Where memory is, for providers that ask to be told (FI_MR_HMEM).
enum class HmemInterface : uint8_t { host, cuda };

/// Memory to register. With a dmabuf descriptor the pages are those of the descriptor from `dmabuf_offset` on, and
/// `base` is only their address for peers.
struct Memory {
  const std::byte* base = nullptr;
  size_t nbytes = 0;
  HmemInterface kind = HmemInterface::host;
  int device = 0;  ///< number of the device within its kind
  int dmabuf_fd = -1;
  uint64_t dmabuf_offset = 0;
};

/// fi_mr_attr of some memory with what it points to.
class RegistrationAttributes {
 public:
  /// Throws Error when a dmabuf is asked for and this libfabric knows none.
  RegistrationAttributes(const Memory& memory, uint64_t access, uint64_t key);
  RegistrationAttributes(const RegistrationAttributes&) = delete;  // points into itself

  const fi_mr_attr& get() const noexcept { return attributes_; }
  uint64_t flags() const noexcept { return flags_; }

 private:
  iovec pages_{};
#ifdef FI_MR_DMABUF
  fi_mr_dmabuf dmabuf_{};
#endif
  fi_mr_attr attributes_{};
  uint64_t flags_ = 0;
};

/// Makes pages exist, without changing what is in them; true when they do. Memory that may only be read is read.
bool populate(const Memory& memory, bool writable) noexcept;

/// A domain and, where registrations belong to an endpoint (FI_MR_ENDPOINT), that endpoint, which is enabled. Used
/// by one thread at a time, like the rail.
struct RegistrationSite {
  const fi_info* info = nullptr;
  fid_domain* domain = nullptr;
  fid_ep* endpoint = nullptr;

  bool wants(uint64_t mode) const noexcept { return (static_cast<uint64_t>(info->domain_attr->mr_mode) & mode) != 0; }
  /// Registers as the provider asks for it: pages populated, bound and enabled. Returns 0 or a negative code of
  /// libfabric, and says which call it was when `call` is not null.
  int open(const RegistrationAttributes& attributes, const Memory& memory, Fid<fid_mr>& region,
           const char** call = nullptr) const noexcept;
};

}  // namespace railshmem::ofi
