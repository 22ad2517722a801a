// SPDX-License-Identifier: BSD-3-Clause
#include "transports/ofi/nic.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>

#include <cstring>
#include <memory>

#include "src/base/error.h"
#include "src/base/log.h"
#include "transports/ofi/nic_choice.h"
#include "transports/ofi/provider_defaults.h"

namespace railshmem::ofi {
namespace {

using Interfaces = std::unique_ptr<ifaddrs, decltype([](ifaddrs* list) { freeifaddrs(list); })>;

Interfaces system_interfaces() {
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) list = nullptr;  // only names and flags are lost
  return Interfaces(list);
}

bool same_address(const sockaddr& a, const sockaddr& b) {
  if (a.sa_family != b.sa_family) return false;
  if (a.sa_family == AF_INET)
    return reinterpret_cast<const sockaddr_in&>(a).sin_addr.s_addr ==
           reinterpret_cast<const sockaddr_in&>(b).sin_addr.s_addr;
  return std::memcmp(&reinterpret_cast<const sockaddr_in6&>(a).sin6_addr,
                     &reinterpret_cast<const sockaddr_in6&>(b).sin6_addr, sizeof(in6_addr)) == 0;
}

/// Bridges and virtual switches have a bridge folder; nothing but this host can answer at their address.
bool is_host_bridge(const char* interface) {
  const std::string folder = std::string("/sys/class/net/") + interface + "/bridge";
  return access(folder.c_str(), F_OK) == 0;
}

/// What the address itself tells: family, loopback, and the interface that has it.
void add_address_facts(NicFacts& facts, const fi_info& info, const ifaddrs* interfaces) {
  if (!info.src_addr) return;
  if (info.addr_format != FI_SOCKADDR_IN && info.addr_format != FI_SOCKADDR_IN6) return;
  const auto& address = *static_cast<const sockaddr*>(info.src_addr);
  if (address.sa_family == AF_INET) {
    const uint32_t host = ntohl(reinterpret_cast<const sockaddr_in&>(address).sin_addr.s_addr);
    facts.family = AddressFamily::ipv4;
    facts.loopback = facts.loopback || (host >> 24) == IN_LOOPBACKNET;
  } else if (address.sa_family == AF_INET6) {
    const in6_addr& host = reinterpret_cast<const sockaddr_in6&>(address).sin6_addr;
    facts.family = IN6_IS_ADDR_LINKLOCAL(&host) ? AddressFamily::ipv6_link_local : AddressFamily::ipv6;
    facts.loopback = facts.loopback || IN6_IS_ADDR_LOOPBACK(&host);
  } else {
    return;
  }
  for (const ifaddrs* i = interfaces; i; i = i->ifa_next) {
    if (!i->ifa_addr || !same_address(*i->ifa_addr, address)) continue;
    facts.interface = i->ifa_name;
    facts.loopback = facts.loopback || (i->ifa_flags & IFF_LOOPBACK);
    facts.host_bridge = is_host_bridge(i->ifa_name);
    return;
  }
}

/// True when the provider cannot leave this host.
bool stays_in_host(const fi_info& info) {
  const uint64_t caps = info.caps | info.domain_attr->caps;
  if (caps & FI_REMOTE_COMM) return false;
  if (caps & FI_LOCAL_COMM) return true;
  // Neither bit is said (ofi_rxm, ofi_rxd, shm): a name instead of a network address means shared memory.
  return info.addr_format == FI_ADDR_STR || info.addr_format == FI_FORMAT_UNSPEC;
}

std::string pci_address(const fi_info& info) {
  const fid_nic* nic = info.nic;
  if (!nic || !nic->bus_attr || nic->bus_attr->bus_type != FI_BUS_PCI) return {};
  const fi_pci_attr& pci = nic->bus_attr->attr.pci;
  return text("%04x:%02x:%02x.%x", pci.domain_id, pci.bus_id, pci.device_id, pci.function_id);
}

NicFacts facts_of(const fi_info& info, const ifaddrs* interfaces) {
  NicFacts facts;
  facts.provider = info.fabric_attr->prov_name;
  facts.domain = info.domain_attr->name;
  facts.pci = pci_address(info);
  facts.loopback = stays_in_host(info);
  facts.ordered = orders_message_after_write(info);
  add_address_facts(facts, info, interfaces);
  return facts;
}

struct Listing {
  std::vector<Info> infos;
  std::vector<NicFacts> facts;
};

Listing list_nics(Progress progress) {
  set_provider_defaults();
  fi_info* raw = nullptr;
  const Info hints = make_hints(progress);
  const int rc = fi_getinfo(api_version(), nullptr, nullptr, 0, hints.get(), &raw);
  if (rc != -FI_ENODATA) check(rc, "fi_getinfo", "any");
  const Info all(raw);
  const Interfaces interfaces = system_interfaces();
  Listing listing;
  for (const fi_info* i = all.get(); i; i = i->next) {
    Info copy(fi_dupinfo(i));
    if (!copy) throw std::bad_alloc();
    listing.facts.push_back(facts_of(*copy, interfaces.get()));
    listing.infos.push_back(std::move(copy));
  }
  return listing;
}

std::vector<Nic> pick(Listing listing, const Env& env, bool several_hosts) {
  const NicRequest request{env.ofi_provider, env.ofi_nic, several_hosts, env.ofi_max_rails};
  std::vector<Nic> nics;
  for (size_t i : choose_nics(listing.facts, request)) nics.push_back(Nic{std::move(listing.infos[i])});
  if (!env.ofi_provider.empty() && env.ofi_provider != nics.front().provider())
    log_info("provider '%s' has no reliable endpoints of its own: using '%s'", env.ofi_provider.c_str(),
             nics.front().provider());
  return nics;
}

}  // namespace

std::vector<Nic> find_nics(const Env& env, bool several_hosts) {
  if (env.ofi_progress == OfiProgressMode::thread) {
    try {
      return pick(list_nics(Progress::thread), env, several_hosts);
    } catch (const Error& reason) {
      // Providers without a progress thread (shm, rxd) are not listed: our proxy thread drives them as well.
      log_info("no provider thread: %s; asking for manual progress", reason.what());
    }
  }
  // Also for `auto`: our own proxy thread polls anyway, and a provider's thread beside it only takes its locks.
  return pick(list_nics(Progress::manual), env, several_hosts);
}

}  // namespace railshmem::ofi
