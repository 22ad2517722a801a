// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/tcp/address.h"

#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <memory>

namespace railshmem::tcp {
namespace {

sockaddr_in& v4(Address& a) noexcept {
  return reinterpret_cast<sockaddr_in&>(a.storage);
}
const sockaddr_in& v4(const Address& a) noexcept {
  return reinterpret_cast<const sockaddr_in&>(a.storage);
}
sockaddr_in6& v6(Address& a) noexcept {
  return reinterpret_cast<sockaddr_in6&>(a.storage);
}
const sockaddr_in6& v6(const Address& a) noexcept {
  return reinterpret_cast<const sockaddr_in6&>(a.storage);
}

}  // namespace

int Address::port() const noexcept {
  if (family() != AF_INET && family() != AF_INET6) return 0;
  return ntohs(family() == AF_INET6 ? v6(*this).sin6_port : v4(*this).sin_port);
}

Address Address::with_port(int port) const noexcept {
  Address out = *this;
  (family() == AF_INET6 ? v6(out).sin6_port : v4(out).sin_port) = htons(static_cast<uint16_t>(port));
  return out;
}

bool Address::loopback() const noexcept {
  if (family() == AF_INET6) return IN6_IS_ADDR_LOOPBACK(&v6(*this).sin6_addr);
  return ntohl(v4(*this).sin_addr.s_addr) >> 24 == 127;
}

std::string Address::text() const {
  char host[NI_MAXHOST] = "?";
  getnameinfo(raw(), length, host, sizeof host, nullptr, 0, NI_NUMERICHOST);
  return railshmem::text(family() == AF_INET6 ? "[%s]:%d" : "%s:%d", host, port());
}

void pack(Packer& packer, const Address& address) {
  std::array<uint8_t, 16> bytes{};
  if (address.family() == AF_INET6)
    std::memcpy(bytes.data(), &v6(address).sin6_addr, 16);
  else
    std::memcpy(bytes.data(), &v4(address).sin_addr, 4);
  packer.add(static_cast<uint8_t>(address.family() == AF_INET6 ? 6 : 4));
  packer.add(static_cast<uint16_t>(address.port()));
  packer.add(bytes);
}

Address unpack_address(Unpacker& unpacker) {
  const auto version = unpacker.get<uint8_t>();
  const auto port = unpacker.get<uint16_t>();
  const auto bytes = unpacker.get<std::array<uint8_t, 16>>();
  if (version != 4 && version != 6)
    throw Error(railshmem::text("an address of version %d is neither IPv4 nor IPv6", version));
  Address out = any_address(version == 6 ? AF_INET6 : AF_INET, port);
  if (version == 6)
    std::memcpy(&v6(out).sin6_addr, bytes.data(), 16);
  else
    std::memcpy(&v4(out).sin_addr, bytes.data(), 4);
  return out;
}

Address address_of(const sockaddr* raw, socklen_t length) noexcept {
  Address out{};
  out.length = std::min<socklen_t>(length, sizeof out.storage);
  std::memcpy(&out.storage, raw, out.length);
  return out;
}

Address any_address(int family, int port) noexcept {
  Address out{};
  out.storage.ss_family = static_cast<sa_family_t>(family);
  out.length = family == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
  return out.with_port(port);
}

std::vector<Address> resolve(const std::string& host, int port, const char* variable) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int status = getaddrinfo(host.c_str(), nullptr, &hints, &found);
  if (status != 0)
    throw Error(
        railshmem::text("%s is '%s', which is no known host: %s", variable, host.c_str(), gai_strerror(status)));
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(found, freeaddrinfo);
  std::vector<Address> out;
  for (const addrinfo* one = found; one; one = one->ai_next)
    if (one->ai_family == AF_INET || one->ai_family == AF_INET6)
      out.push_back(address_of(one->ai_addr, one->ai_addrlen).with_port(port));
  return out;
}

std::vector<Address> interface_addresses(const std::string& interface) {
  ifaddrs* found = nullptr;
  check_errno(getifaddrs(&found) == 0, "getifaddrs");
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owner(found, freeifaddrs);
  std::vector<Address> out;
  std::string names;
  for (const ifaddrs* one = found; one; one = one->ifa_next) {
    const int family = one->ifa_addr ? one->ifa_addr->sa_family : AF_UNSPEC;
    if ((family != AF_INET && family != AF_INET6) || !(one->ifa_flags & IFF_UP)) continue;
    if (names.find(one->ifa_name) == std::string::npos)
      names += (names.empty() ? "" : ", ") + std::string(one->ifa_name);
    const Address address = address_of(one->ifa_addr, family == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in));
    // Link-local addresses mean something else on every host.
    if (family == AF_INET6 && IN6_IS_ADDR_LINKLOCAL(&v6(address).sin6_addr)) continue;
    if (interface.empty() || interface == one->ifa_name) out.push_back(address);
  }
  if (out.empty())
    throw Error(railshmem::text("SHMEM_TCP_INTERFACE is '%s', but this host has an address only on: %s",
                                interface.c_str(), names.c_str()));
  std::stable_partition(out.begin(), out.end(), [](const Address& a) { return !a.loopback(); });
  return out;
}

Address local_address(int fd) {
  sockaddr_storage storage{};
  socklen_t length = sizeof storage;
  check_errno(getsockname(fd, reinterpret_cast<sockaddr*>(&storage), &length) == 0, "getsockname");
  return address_of(reinterpret_cast<const sockaddr*>(&storage), length);
}

std::string peer_name(int fd) {
  sockaddr_storage storage{};
  socklen_t length = sizeof storage;
  if (getpeername(fd, reinterpret_cast<sockaddr*>(&storage), &length) != 0) return "?";
  return address_of(reinterpret_cast<const sockaddr*>(&storage), length).text();
}

}  // namespace railshmem::tcp
