// SPDX-License-Identifier: BSD-3-Clause
// What is known of one entry of fi_getinfo's list, from libfabric and from the system.
#pragma once

#include <ifaddrs.h>

#include <cstdint>
#include <memory>
#include <string>

#include "src/topology/place.h"

struct fi_info;

namespace railshmem::ofi {

/// Better families have higher values.
enum class AddressFamily : uint8_t { other, ipv6_link_local, ipv6, ipv4 };

struct NicFacts {
  std::string provider;
  std::string domain;
  std::string interface;  ///< name of the system's interface that has the address; empty when unknown
  std::string device;     ///< the provider's name of the hardware; empty when unknown
  std::string pci;        ///< bus address of a NIC that bypasses the kernel; empty for tcp, shm and the like
  std::string bus;        ///< bus address of whatever device carries the traffic; empty if none exists
  std::string network;    ///< what two rails have in common that reach each other: subnet or fabric; may be empty
  AddressFamily family = AddressFamily::other;
  bool loopback = false;     ///< an address of this host only, or a provider that stays within a host
  bool host_bridge = false;  ///< docker0 and the like: an address that other hosts cannot reach
  bool ordered = false;      ///< keeps messages behind earlier writes
  bool up = true;            ///< false: the link is known to be down
  std::string unfit = {};    ///< why no rail may use it; empty: rails may
  uint64_t speed = 0;        ///< bits per second; 0: unknown
  uint64_t variant = 0;      ///< protocol and registration mode: rails beside each other must agree
  Place place;               ///< of the device; filled in where it matters
};

struct FreeInterfaces {
  void operator()(ifaddrs* list) const noexcept { freeifaddrs(list); }
};
using Interfaces = std::unique_ptr<ifaddrs, FreeInterfaces>;
/// The system's interfaces; empty when it does not tell: only names, networks and flags are lost.
Interfaces system_interfaces();

NicFacts read_facts(const fi_info& info, const Interfaces& interfaces);

/// "mlx5_0, 0000:18:00.0, 400 Gb/s".
std::string facts_text(const NicFacts& facts);

/// Sockets of the kernel: tcp, net, udp, sockets, and what is layered over them.
bool uses_sockets(const std::string& provider) noexcept;

}  // namespace railshmem::ofi
