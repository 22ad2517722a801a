// SPDX-License-Identifier: BSD-3-Clause
#include "perftest/info/info.h"

#ifdef RAILSHMEM_INFO_FABRIC
#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#endif

namespace railshmem::info {

#ifdef RAILSHMEM_INFO_FABRIC
namespace {

struct FreeInfo {
  void operator()(fi_info* info) const noexcept { fi_freeinfo(info); }
};

const char* or_empty(const char* text) {
  return text ? text : "";
}

Json capabilities(const fi_info& info) {
  Json names = Json::array();
  const std::pair<uint64_t, const char*> known[] = {{FI_RMA, "rma"},
                                                    {FI_ATOMIC, "atomic"},
                                                    {FI_HMEM, "hmem"},
                                                    {FI_RMA_EVENT, "rma_event"},
                                                    {FI_MULTI_RECV, "multi_recv"}};
  for (const auto& [bit, name] : known)
    if (info.caps & bit) names.push_back(name);
  return names;
}

/// A limit in bytes, in words where the provider has none: SIZE_MAX, with sockets 4096 bytes less.
Json limit(size_t nbytes) {
  if (nbytes > PTRDIFF_MAX) return "unlimited";
  return nbytes;
}

/// PCI address and link speed where the provider knows its device.
void add_nic(Json& entry, const fi_info& info) {
  if (!info.nic) return;
  if (const fi_device_attr* device = info.nic->device_attr) entry["device"] = or_empty(device->name);
  if (const fi_link_attr* link = info.nic->link_attr)
    if (link->speed) entry["gigabit_s"] = static_cast<double>(link->speed) / 1e9;
  const fi_bus_attr* bus = info.nic->bus_attr;
  if (!bus || bus->bus_type != FI_BUS_PCI) return;
  char address[32];
  const fi_pci_attr& pci = bus->attr.pci;
  snprintf(address, sizeof address, "%04x:%02x:%02x.%x", pci.domain_id, pci.bus_id, pci.device_id, pci.function_id);
  entry["pci"] = address;
}

}  // namespace

Json providers() {
  const uint32_t version = fi_version();
  Json out{{"libfabric", std::to_string(FI_MAJOR(version)) + "." + std::to_string(FI_MINOR(version))},
           {"domains", Json::array()}};
  const std::unique_ptr<fi_info, FreeInfo> hints(fi_allocinfo());
  if (!hints) throw std::bad_alloc();
  hints->caps = FI_RMA;  // what the library needs; providers without it could not be chosen
  hints->mode = ~0ull;
  hints->ep_attr->type = FI_EP_RDM;
  hints->domain_attr->mr_mode = ~3;  // every mode but the two deprecated values
  fi_info* list = nullptr;
  const int status = fi_getinfo(FI_VERSION(1, 11), nullptr, nullptr, 0, hints.get(), &list);
  if (status != 0) {
    out["error"] = std::string("fi_getinfo: ") + fi_strerror(-status);
    return out;
  }
  const std::unique_ptr<fi_info, FreeInfo> owner(list);
  Json seen = Json::array();
  for (const fi_info* info = list; info; info = info->next) {
    // One entry for each provider and domain: getinfo repeats them per address format.
    const std::string key = std::string(info->fabric_attr->prov_name) + " " + or_empty(info->domain_attr->name);
    if (std::find(seen.begin(), seen.end(), key) != seen.end()) continue;
    seen.push_back(key);
    Json entry{
        {"provider", info->fabric_attr->prov_name},          {"domain", or_empty(info->domain_attr->name)},
        {"fabric", or_empty(info->fabric_attr->name)},       {"capabilities", capabilities(*info)},
        {"inject_bytes", limit(info->tx_attr->inject_size)}, {"max_message", limit(info->ep_attr->max_msg_size)}};
    add_nic(entry, *info);
    out["domains"].push_back(entry);
  }
  return out;
}
#else
Json providers() {
  return {{"libfabric", "not built in"}, {"domains", Json::array()}};
}
#endif

}  // namespace railshmem::info
