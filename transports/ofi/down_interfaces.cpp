// SPDX-License-Identifier: BSD-3-Clause
#include "transports/ofi/down_interfaces.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <rdma/fi_errno.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <new>

#include "src/base/error.h"
#include "src/base/fds.h"

namespace railshmem::ofi {
namespace {

namespace fs = std::filesystem;

/// "10.0.0.1", for an address that other hosts could reach; else empty.
std::string address_text(const ifaddrs& entry) {
  char words[INET6_ADDRSTRLEN];
  if (!entry.ifa_addr) return {};
  if (entry.ifa_addr->sa_family == AF_INET) {
    const auto& address = reinterpret_cast<const sockaddr_in&>(*entry.ifa_addr).sin_addr;
    return inet_ntop(AF_INET, &address, words, sizeof words) ? words : "";
  }
  if (entry.ifa_addr->sa_family != AF_INET6) return {};
  const auto& address = reinterpret_cast<const sockaddr_in6&>(*entry.ifa_addr).sin6_addr;
  if (IN6_IS_ADDR_LINKLOCAL(&address)) return {};
  return inet_ntop(AF_INET6, &address, words, sizeof words) ? words : "";
}

std::string why_interface(const std::string& name, const Interfaces& interfaces) {
  bool found = false;
  bool has_address = false;
  for (const ifaddrs* i = interfaces.get(); i; i = i->ifa_next) {
    if (name != i->ifa_name) continue;
    found = true;
    if (!(i->ifa_flags & IFF_UP)) return text("it is switched off; 'ip link set %s up' switches it on", name.c_str());
    if (!(i->ifa_flags & IFF_RUNNING)) return "its link is down";
    has_address = has_address || !address_text(*i).empty();
  }
  return found && !has_address ? "it has no address" : "";
}

std::vector<fs::path> entries_of(const fs::path& path) {
  std::vector<fs::path> entries;
  const Folder folder = open_folder(path.c_str());
  while (const dirent* entry = folder ? readdir(folder.get()) : nullptr)
    if (entry->d_name[0] != '.') entries.push_back(path / entry->d_name);
  return entries;
}

/// Of an RDMA device: a folder with a folder for each port.
std::string why_device(const fs::path& device) {
  bool has_port = false;
  for (const fs::path& port : entries_of(device / "ports")) {
    const std::string state = read_file(port / "state");  // "4: ACTIVE", "1: DOWN"
    if (state.find("ACTIVE") != std::string::npos) return {};
    has_port = true;
  }
  return has_port ? "its link is down" : "";
}

/// Replaces a string that a fi_info owns.
void rename(char*& name, const std::string& to) {
  char* const copy = strdup(to.c_str());
  if (!copy) throw std::bad_alloc();
  std::free(name);
  name = copy;
}

/// Appends what libfabric offers at `address`, in the names that it would have if the interface were up.
void add_offers(std::vector<DownInterface>& offers, const std::string& interface, const std::string& address,
                const fi_info& hints, const Interfaces& interfaces) {
  fi_info* raw = nullptr;
  if (fi_getinfo(api_version(), address.c_str(), nullptr, FI_SOURCE | FI_NUMERICHOST, &hints, &raw) != 0) return;
  const Info all(raw);
  for (const fi_info* i = all.get(); i; i = i->next) {
    if (!uses_sockets(i->fabric_attr->prov_name)) continue;
    Info info(fi_dupinfo(i));
    if (!info) throw std::bad_alloc();
    rename(info->domain_attr->name, interface);
    NicFacts facts = read_facts(*info, interfaces);
    if (facts.interface != interface || facts.up) continue;
    rename(info->fabric_attr->name, facts.network);
    offers.push_back({std::move(info), std::move(facts)});
  }
}

}  // namespace

std::string why_not_ready(const std::string& name, const Interfaces& interfaces) {
  if (name.find('/') != std::string::npos) return {};
  if (std::string why = why_interface(name, interfaces); !why.empty()) return why;
  if (std::string why = why_device("/sys/class/infiniband/" + name); !why.empty()) return why;
  const fs::path device = "/sys/bus/pci/devices/" + name;
  for (const fs::path& part : entries_of(device / "infiniband"))
    if (std::string why = why_device(part); !why.empty()) return why;
  for (const fs::path& part : entries_of(device / "net"))
    if (std::string why = why_interface(part.filename().string(), interfaces); !why.empty()) return why;
  return {};
}

std::vector<DownInterface> offers_at(const std::string& interface, const fi_info& hints, const Interfaces& interfaces) {
  std::vector<DownInterface> offers;
  for (const ifaddrs* i = interfaces.get(); i; i = i->ifa_next) {
    if (interface != i->ifa_name || (i->ifa_flags & IFF_RUNNING)) continue;
    if (const std::string address = address_text(*i); !address.empty())
      add_offers(offers, interface, address, hints, interfaces);
  }
  return offers;
}

}  // namespace railshmem::ofi
