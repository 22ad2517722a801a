// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/tcp/listeners.h"

#include <algorithm>
#include <cerrno>

#include "bootstrap/tcp/socket.h"

namespace railshmem::tcp {
namespace {

/// Only the kernel knows for sure, also of addresses that no interface carries.
bool is_own(const Address& address) noexcept {
  return static_cast<bool>(listen_on(address.with_port(0)));
}

/// A name that stands twice in /etc/hosts has its address twice.
std::vector<Address> each_once(const std::vector<Address>& addresses) {
  std::vector<Address> out;
  for (const Address& a : addresses)
    if (std::none_of(out.begin(), out.end(), [&](const Address& b) { return a.text() == b.text(); })) out.push_back(a);
  return out;
}

}  // namespace

std::vector<UniqueFd> open_listeners(const std::vector<Address>& wanted, int port) {
  const std::vector<Address> addresses = each_once(wanted);
  std::vector<UniqueFd> listeners;
  constexpr int kTries = 16;  // a port that is free at the first address may be taken at the second
  for (int attempt = 0; attempt < (port == 0 ? kTries : 1); ++attempt) {
    int common = port;
    for (const Address& address : addresses) {
      UniqueFd listener = listen_on(address.with_port(common));
      if (!listener) break;
      common = local_address(listener.get()).port();
      listeners.push_back(std::move(listener));
    }
    if (listeners.size() == addresses.size()) break;
    const int why = errno;
    listeners.clear();
    errno = why;
  }
  return listeners;
}

std::vector<UniqueFd> open_listeners_everywhere(int port) {
  std::vector<UniqueFd> listeners = open_listeners({any_address(AF_INET6, 0)}, port);  // takes IPv4 as well
  if (listeners.empty() && errno != EADDRINUSE) listeners = open_listeners({any_address(AF_INET, 0)}, port);
  return listeners;
}

ListenerPlan plan_listeners(const Meeting& meeting) {
  std::vector<Address> own = meeting.addresses;
  std::erase_if(own, [](const Address& a) { return !is_own(a); });
  if (meeting.reachability == Reachability::this_host) return {own.empty() ? meeting.addresses : own};
  const bool foreign = own.empty();
  // A host may know its own name as a loopback address (/etc/hosts), where the others would look in vain.
  std::erase_if(own, [](const Address& a) { return a.loopback(); });
  if (own.empty() && !meeting.interface.empty()) own = interface_addresses(meeting.interface);
  return {own, foreign};
}

std::string list_hosts(const std::vector<Address>& addresses) {
  std::string out;
  for (const Address& address : addresses) {
    const std::string host = address.text();
    out += (out.empty() ? "" : ", ") + host.substr(0, host.rfind(':'));
  }
  return out;
}

}  // namespace railshmem::tcp
