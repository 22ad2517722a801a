// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/local/oshrun/own_host.h"

#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <memory>

namespace railshmem::oshrun {
namespace {

std::string lower(std::string_view in) {
  std::string out(in);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return out;
}

/// Up to the first dot: "node1" of "node1.cluster".
std::string_view first_label(std::string_view name) {
  return name.substr(0, name.find('.'));
}

bool same_address(const sockaddr* a, const sockaddr* b) {
  if (!a || !b || a->sa_family != b->sa_family) return false;
  if (a->sa_family == AF_INET)
    return reinterpret_cast<const sockaddr_in*>(a)->sin_addr.s_addr ==
           reinterpret_cast<const sockaddr_in*>(b)->sin_addr.s_addr;
  return a->sa_family == AF_INET6 && std::memcmp(&reinterpret_cast<const sockaddr_in6*>(a)->sin6_addr,
                                                 &reinterpret_cast<const sockaddr_in6*>(b)->sin6_addr, 16) == 0;
}

/// The whole network 127.0.0.0/8, not only the address that an interface shows.
bool is_loopback(const sockaddr* address) {
  return address->sa_family == AF_INET &&
         ntohl(reinterpret_cast<const sockaddr_in*>(address)->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
}

bool is_own_address(const sockaddr* address) {
  if (is_loopback(address)) return true;
  ifaddrs* found = nullptr;
  if (getifaddrs(&found) != 0) return false;
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owner(found, freeifaddrs);
  for (const ifaddrs* one = found; one; one = one->ifa_next)
    if (same_address(one->ifa_addr, address)) return true;
  return false;
}

/// Whether an address of `name` is this host's. `flags` AI_NUMERICHOST: `name` is itself an address, and no name
/// service is asked.
bool has_own_address(const std::string& name, int flags) {
  addrinfo hints{};
  hints.ai_flags = flags;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(name.c_str(), nullptr, &hints, &found) != 0) return false;
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(found, freeaddrinfo);
  for (const addrinfo* one = found; one; one = one->ai_next)
    if (is_own_address(one->ai_addr)) return true;
  return false;
}

}  // namespace

std::string comparable_name(std::string_view name) {
  const size_t user = name.find('@') == std::string_view::npos ? 0 : name.find('@') + 1;
  std::string host = lower(name.substr(user));
  if (host.size() > 1 && host.back() == '.') host.pop_back();
  return std::string(name.substr(0, user)) + host;
}

bool is_this_host(const std::string& name) {
  char mine[256] = "";
  gethostname(mine, sizeof mine - 1);
  const std::string own = lower(mine);
  const std::string asked = comparable_name(name);
  if (asked == "localhost" || asked == own || asked == first_label(own)) return true;
  if (has_own_address(asked, AI_NUMERICHOST)) return true;
  // The kernel may know the short name only. Another host of another domain may have the same short name.
  return first_label(asked) == first_label(own) && has_own_address(asked, 0);
}

}  // namespace railshmem::oshrun
