// SPDX-License-Identifier: BSD-3-Clause
#include "transports/ofi/memory_region.h"

namespace railshmem::ofi {

MemoryRegion::MemoryRegion(const fi_info& info, fid_domain* domain, fid_ep* ep, std::span<const std::byte> bytes,
                           uint64_t wanted_key)
    : begin_(bytes.data()), end_(bytes.data() + bytes.size()) {
  constexpr uint64_t kAccess = FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE | FI_SEND | FI_RECV;
  const RegistrationSite site{&info, domain, ep};
  const Memory memory{bytes.data(), bytes.size()};
  const char* call = nullptr;
  check(site.open({memory, kAccess, wanted_key}, memory, mr_, &call), call, info.fabric_attr->prov_name);
  // A key has at most 64 bits here: providers with longer ones say FI_MR_RAW, which our hints do not offer.
  remote_.key = fi_mr_key(mr_.get());
  remote_.base = site.wants(FI_MR_VIRT_ADDR) ? reinterpret_cast<uint64_t>(bytes.data()) : 0;
  desc_ = fi_mr_desc(mr_.get());
}

}  // namespace railshmem::ofi
