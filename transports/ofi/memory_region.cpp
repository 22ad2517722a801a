// SPDX-License-Identifier: BSD-3-Clause
#include "transports/ofi/memory_region.h"

#include <rdma/fi_errno.h>

namespace railshmem::ofi {

MemoryRegion::MemoryRegion(const fi_info& info, fid_domain* domain, fid_ep* ep, std::span<const std::byte> bytes,
                           uint64_t wanted_key)
    : MemoryRegion(RegistrationSite{&info, domain, ep}, Memory{bytes.data(), bytes.size()}, wanted_key) {}

MemoryRegion::MemoryRegion(const RegistrationSite& site, const Memory& memory, uint64_t wanted_key)
    : begin_(memory.base), end_(memory.base + memory.nbytes) {
  constexpr uint64_t kAccess = FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE | FI_SEND | FI_RECV;
  constexpr int kKeyTries = 64;  // local buffers may have taken some
  const char* call = nullptr;
  int rc = -FI_ENOKEY;
  for (int i = 0; i < kKeyTries && rc == -FI_ENOKEY; ++i)
    rc = site.open({memory, kAccess, wanted_key + static_cast<uint64_t>(i)}, memory, mr_, &call);
  check(rc, call, site.info->fabric_attr->prov_name);
  // A key has at most 64 bits here: providers with longer ones say FI_MR_RAW, which our hints do not offer.
  remote_.key = fi_mr_key(mr_.get());
  remote_.base = site.wants(FI_MR_VIRT_ADDR) ? reinterpret_cast<uint64_t>(memory.base) : 0;
  desc_ = fi_mr_desc(mr_.get());
}

}  // namespace railshmem::ofi
