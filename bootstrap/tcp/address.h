// SPDX-License-Identifier: BSD-3-Clause
// Internet addresses, IPv4 and IPv6 alike.
#pragma once

#include <sys/socket.h>

#include <string>
#include <vector>

#include "bootstrap/common/pack.h"

namespace railshmem::tcp {

struct Address {
  sockaddr_storage storage;
  socklen_t length;

  const sockaddr* raw() const noexcept { return reinterpret_cast<const sockaddr*>(&storage); }
  int family() const noexcept { return storage.ss_family; }
  /// 0 where the family has no ports.
  int port() const noexcept;
  Address with_port(int port) const noexcept;
  bool loopback() const noexcept;
  /// "10.0.0.1:29500" or "[fe80::1]:29500".
  std::string text() const;
};

/// Family, port and 16 address bytes; the form in which addresses travel.
inline constexpr size_t kPackedAddress = 19;
void pack(Packer& packer, const Address& address);
Address unpack_address(Unpacker& unpacker);

Address address_of(const sockaddr* raw, socklen_t length) noexcept;
/// Every address of any family on this port; for servers.
Address any_address(int family, int port) noexcept;
/// All addresses of a host name; throws Error naming `variable`, where the name comes from.
std::vector<Address> resolve(const std::string& host, int port, const char* variable);
/// Addresses of this host's interfaces that are up, loopback last. A name picks one interface; throws Error listing
/// the interfaces if none has that name.
std::vector<Address> interface_addresses(const std::string& interface);
/// This end of a connected or bound socket.
Address local_address(int fd);
/// The other end, for messages: "10.0.0.1:4711", or "?" when it is gone.
std::string peer_name(int fd);

}  // namespace railshmem::tcp
