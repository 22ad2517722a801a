// SPDX-License-Identifier: BSD-3-Clause
// What a rail needs when one of its ends was closed after a failure and opened anew.
#include <rdma/fi_domain.h>
#include <sys/socket.h>

#include <algorithm>
#include <exception>
#include <numeric>

#include "src/base/error.h"
#include "src/base/log.h"
#include "transports/ofi/rail.h"
#include "transports/ofi/tcp_sockets.h"

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
  stuck_.accepted(pe);  // its patience starts anew
}

void Rail::close() noexcept {
  if (!is_open()) return;
  try {
    discard_unsent();
  } catch (const std::exception& error) {
    log_warn("rail %s is closed, but what it has not sent may still be sent: %s", name_.c_str(), error.what());
  }
  local_ = {};
  segments_.clear();
  extents_.clear();
  ep_.reset();
  receives_mr_.reset();
  receives_ = {};
  av_.reset();
  cq_.reset();
  domain_.reset();
  fabric_.reset();
  addresses_.clear();
  outstanding_ = 0;
  max_outstanding_ = 0;  // refuses posts
  wait_fd_ = -1;
  stuck_.clear();
}

/// Empty if the provider does not tell it.
std::vector<std::byte> Rail::address_of_peer(size_t index) const {
  std::vector<std::byte> bytes(sizeof(sockaddr_storage));
  size_t nbytes = bytes.size();
  const fi_addr_t number = addresses_.empty() ? index : addresses_[index];
  if (fi_av_lookup(av_.get(), number, bytes.data(), &nbytes) != 0) return {};
  bytes.resize(std::min(nbytes, bytes.size()));
  return bytes;
}

size_t Rail::discard_unsent() const {
  std::vector<std::vector<std::byte>> addresses;
  for (size_t i = 0; i < npeers_; ++i) addresses.push_back(address_of_peer(i));
  const std::vector<std::span<const std::byte>> peers(addresses.begin(), addresses.end());
  return ofi::discard_unsent(address(), peers);
}

std::vector<std::vector<std::byte>> Rail::addresses_of(std::span<const int> pes) const {
  std::vector<std::vector<std::byte>> addresses;
  for (const int pe : pes)
    for (size_t port = 0; port < ports_; ++port)
      addresses.push_back(address_of_peer(peer_index(pe, static_cast<Port>(port))));
  return addresses;
}

size_t Rail::cut(std::span<const int> pes) const {
  if (!is_open()) return 0;
  const std::vector<std::vector<std::byte>> addresses = addresses_of(pes);
  return ofi::cut(address(), std::vector<std::span<const std::byte>>(addresses.begin(), addresses.end()));
}

size_t Rail::limit_silence(std::span<const int> pes, unsigned timeout_ms) const {
  if (!is_open()) return 0;
  const std::vector<std::vector<std::byte>> addresses = addresses_of(pes);
  const std::vector<std::span<const std::byte>> peers(addresses.begin(), addresses.end());
  return ofi::limit_silence(address(), peers, timeout_ms);
}

}  // namespace railshmem::ofi
