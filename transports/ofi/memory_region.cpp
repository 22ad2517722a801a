// SPDX-License-Identifier: BSD-3-Clause
#include "transports/ofi/memory_region.h"

namespace railshmem::ofi {

MemoryRegion::MemoryRegion(const fi_info& info, fid_domain* domain, fid_ep* ep, std::span<const std::byte> bytes,
                           uint64_t wanted_key)
    : begin_(bytes.data()), end_(bytes.data() + bytes.size()) {
  constexpr uint64_t kAccess = FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE | FI_SEND | FI_RECV;
  const char* provider = info.fabric_attr->prov_name;
  const auto mode = static_cast<uint64_t>(info.domain_attr->mr_mode);
  mr_ = own<fid_mr>("fi_mr_reg", provider, [&](fid_mr** mr) {
    return fi_mr_reg(domain, bytes.data(), bytes.size(), kAccess, 0, wanted_key, 0, mr, nullptr);
  });
  if (mode & FI_MR_ENDPOINT) {
    check(fi_mr_bind(mr_.get(), &ep->fid, 0), "fi_mr_bind", provider);
    check(fi_mr_enable(mr_.get()), "fi_mr_enable", provider);
  }
  // A key has at most 64 bits here: providers with longer ones say FI_MR_RAW, which our hints do not offer.
  remote_.key = fi_mr_key(mr_.get());
  remote_.base = mode & FI_MR_VIRT_ADDR ? reinterpret_cast<uint64_t>(bytes.data()) : 0;
  desc_ = fi_mr_desc(mr_.get());
}

}  // namespace railshmem::ofi
