// SPDX-License-Identifier: BSD-3-Clause
#include "transports/ofi/nic_facts.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <span>
#include <sstream>
#include <string_view>

#include "src/base/error.h"
#include "src/base/fds.h"
#include "transports/ofi/hints.h"
#include "transports/ofi/quirks.h"

namespace railshmem::ofi {
namespace {

/// The bytes of the host part of an internet address.
std::span<const uint8_t> address_bytes(const sockaddr& address) {
  if (address.sa_family == AF_INET)
    return {reinterpret_cast<const uint8_t*>(&reinterpret_cast<const sockaddr_in&>(address).sin_addr), sizeof(in_addr)};
  return {reinterpret_cast<const uint8_t*>(&reinterpret_cast<const sockaddr_in6&>(address).sin6_addr),
          sizeof(in6_addr)};
}

bool same_address(const sockaddr& a, const sockaddr& b) {
  return a.sa_family == b.sa_family && std::ranges::equal(address_bytes(a), address_bytes(b));
}

/// "192.0.2.0/24"; empty without a mask.
std::string subnet(const sockaddr& address, const sockaddr* mask) {
  if (!mask) return {};
  uint8_t prefix[sizeof(in6_addr)] = {};
  int length = 0;
  const auto host = address_bytes(address);
  // Some systems leave the family of a mask empty; its bytes lie where those of the address do.
  sockaddr_storage copy{};
  std::memcpy(&copy, mask, address.sa_family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6));
  copy.ss_family = address.sa_family;
  const auto bits = address_bytes(reinterpret_cast<const sockaddr&>(copy));
  for (size_t i = 0; i < host.size(); ++i) {
    prefix[i] = host[i] & bits[i];
    length += __builtin_popcount(bits[i]);
  }
  char words[INET6_ADDRSTRLEN];
  if (!inet_ntop(address.sa_family, prefix, words, sizeof words)) return {};
  return text("%s/%d", words, length);
}

std::string interface_folder(const std::string& interface) {
  return "/sys/class/net/" + interface + "/";
}

uint64_t interface_speed(const std::string& interface) {
  int64_t megabits = -1;  // also what the system says when it does not know
  std::istringstream(read_file(interface_folder(interface) + "speed")) >> megabits;
  return megabits > 0 ? static_cast<uint64_t>(megabits) * 1000000u : 0;
}

/// "0000:00:05.0", also where the interface's device is a child of the one on the bus (virtio, USB); else empty.
std::string interface_bus(const std::string& interface) {
  namespace fs = std::filesystem;
  std::error_code failed;
  for (fs::path device = fs::canonical(interface_folder(interface) + "device", failed); device.has_relative_path();
       device = device.parent_path())
    if (fs::canonical(device / "subsystem", failed).filename() == "pci") return device.filename().string();
  return {};
}

void add_interface_facts(NicFacts& facts, const sockaddr& address, const ifaddrs& interface) {
  facts.interface = interface.ifa_name;
  facts.interface.resize(std::min(facts.interface.find(':'), facts.interface.size()));  // eth0:1 labels an address
  facts.network = subnet(address, interface.ifa_netmask);
  facts.loopback = facts.loopback || (interface.ifa_flags & IFF_LOOPBACK);
  facts.up = interface.ifa_flags & IFF_RUNNING;
  // Bridges and virtual switches have a bridge folder; nothing but this host can answer at their address.
  facts.host_bridge = access((interface_folder(facts.interface) + "bridge").c_str(), F_OK) == 0;
  if (facts.speed == 0) facts.speed = interface_speed(facts.interface);
  if (facts.bus.empty()) facts.bus = interface_bus(facts.interface);
}

/// What the address itself tells: family, loopback, and the interface that has it.
void add_address_facts(NicFacts& facts, const fi_info& info, const ifaddrs* interfaces) {
  if (!info.src_addr) return;
  if (info.addr_format != FI_SOCKADDR_IN && info.addr_format != FI_SOCKADDR_IN6) return;
  const auto& address = *static_cast<const sockaddr*>(info.src_addr);
  if (address.sa_family == AF_INET) {
    facts.family = AddressFamily::ipv4;
    facts.loopback = facts.loopback || address_bytes(address).front() == IN_LOOPBACKNET;
  } else if (address.sa_family == AF_INET6) {
    const in6_addr& host = reinterpret_cast<const sockaddr_in6&>(address).sin6_addr;
    facts.family = IN6_IS_ADDR_LINKLOCAL(&host) ? AddressFamily::ipv6_link_local : AddressFamily::ipv6;
    facts.loopback = facts.loopback || IN6_IS_ADDR_LOOPBACK(&host);
  } else {
    return;
  }
  const ifaddrs* owner = nullptr;
  for (const ifaddrs* i = interfaces; i; i = i->ifa_next) {
    if (!i->ifa_addr || !same_address(*i->ifa_addr, address)) continue;
    // A bridge has the link-local address of its first port; providers over sockets call the domain by its interface.
    if (!owner || facts.domain == i->ifa_name) owner = i;
  }
  if (owner) add_interface_facts(facts, address, *owner);
}

/// True when the provider cannot leave this host.
bool stays_in_host(const fi_info& info) {
  const uint64_t caps = info.caps | info.domain_attr->caps;
  if (caps & FI_REMOTE_COMM) return false;
  if (caps & FI_LOCAL_COMM) return true;
  // Neither bit is said (ofi_rxm, ofi_rxd, shm): a name instead of a network address means shared memory.
  return info.addr_format == FI_ADDR_STR || info.addr_format == FI_FORMAT_UNSPEC;
}

void add_device_facts(NicFacts& facts, const fid_nic& nic) {
  if (nic.device_attr && nic.device_attr->name) facts.device = nic.device_attr->name;
  if (nic.link_attr) {
    facts.speed = nic.link_attr->speed;
    facts.up = nic.link_attr->state != FI_LINK_DOWN;
  }
  if (!nic.bus_attr || nic.bus_attr->bus_type != FI_BUS_PCI) return;
  const fi_pci_attr& pci = nic.bus_attr->attr.pci;
  facts.bus = text("%04x:%02x:%02x.%x", pci.domain_id, pci.bus_id, pci.device_id, pci.function_id);
  if (!uses_sockets(facts.provider)) facts.pci = facts.bus;
}

}  // namespace

Interfaces system_interfaces() {
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) list = nullptr;
  return Interfaces(list);
}

bool uses_sockets(const std::string& provider) noexcept {
  const std::string_view core = std::string_view(provider).substr(0, provider.find(';'));
  return core == "tcp" || core == "net" || core == "udp" || core == "sockets";
}

NicFacts read_facts(const fi_info& info, const Interfaces& interfaces) {
  NicFacts facts;
  facts.provider = info.fabric_attr->prov_name;
  facts.domain = info.domain_attr->name;
  facts.unfit = unfit(facts.provider);
  facts.loopback = stays_in_host(info);
  facts.ordered = orders_message_after_write(info);
  facts.variant = uint64_t{info.ep_attr->protocol} << 32 | static_cast<uint32_t>(info.domain_attr->mr_mode);
  if (info.nic) add_device_facts(facts, *info.nic);
  add_address_facts(facts, info, interfaces.get());
  if (facts.network.empty() && info.fabric_attr->name) facts.network = info.fabric_attr->name;
  return facts;
}

std::string facts_text(const NicFacts& facts) {
  std::string words = facts.domain;
  if (!facts.interface.empty() && facts.interface != facts.domain) words += " (" + facts.interface + ")";
  if (!facts.bus.empty()) words += ", " + facts.bus;
  if (facts.speed > 0) words += text(", %g Gb/s", static_cast<double>(facts.speed) / 1e9);
  if (!facts.network.empty()) words += ", network " + facts.network;
  return words;
}

}  // namespace railshmem::ofi
