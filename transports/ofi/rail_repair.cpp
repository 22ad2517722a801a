// SPDX-License-Identifier: BSD-3-Clause
// What a rail needs when one of its ends was closed after a failure and opened anew.
#include <rdma/fi_domain.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "src/base/error.h"
#include "transports/ofi/linger.h"
#include "transports/ofi/rail.h"

namespace railshmem::ofi {

void Rail::readdress(int pe, Port port, std::span<const std::byte> address) {
  const char* provider = info_->fabric_attr->prov_name;
  fi_addr_t number = FI_ADDR_NOTAVAIL;
  const int inserted = fi_av_insert(av_.get(), address.data(), 1, &number, 0, nullptr);
  check(inserted, "fi_av_insert", provider);
  if (inserted != 1) throw Error(text("%s did not take the new address of PE %d", name_.c_str(), pe));
  if (addresses_.empty()) {
    addresses_.resize(npeers_);
    std::iota(addresses_.begin(), addresses_.end(), fi_addr_t{0});
  }
  // The old number stays in the vector: removing it while operations to it are in flight is an error for some
  // providers.
  addresses_[peer_index(pe, port)] = number;
  if (stuck_pe_ == pe) stuck_pe_ = -1;  // its patience starts anew
}

size_t Rail::discard_unsent() const {
  using Bytes = std::array<std::byte, sizeof(sockaddr_storage)>;
  std::vector<Bytes> addresses(npeers_);
  std::vector<std::span<const std::byte>> peers;
  for (size_t i = 0; i < npeers_; ++i) {
    size_t nbytes = sizeof(Bytes);
    const fi_addr_t number = addresses_.empty() ? i : addresses_[i];
    if (fi_av_lookup(av_.get(), number, addresses[i].data(), &nbytes) == 0)
      peers.push_back(std::span<const std::byte>(addresses[i]).first(std::min(nbytes, sizeof(Bytes))));
  }
  return ofi::discard_unsent(address(), peers);
}

}  // namespace railshmem::ofi
