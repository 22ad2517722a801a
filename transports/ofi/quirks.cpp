// SPDX-License-Identifier: BSD-3-Clause
#include "transports/ofi/quirks.h"

#include <rdma/fi_endpoint.h>

#include <algorithm>
#include <string_view>

#include "src/base/error.h"

namespace railshmem::ofi {
namespace {

constexpr uint32_t kEver = FI_VERSION(0, 0);
constexpr uint32_t kStill = ~uint32_t{0};  // every release so far has the difference, as far as we know

/// One difference: the providers that have it, the versions [since, before) of libfabric, and what a rail does about
/// it.
struct Difference {
  bool (*concerns)(const fi_info& info);
  uint32_t since;
  uint32_t before;
  void (*enter)(Quirks& quirks, const fi_info& info);
};

std::string_view provider_of(const fi_info& info) {
  return info.fabric_attr->prov_name ? info.fabric_attr->prov_name : "";
}
bool is_over_tcp(const fi_info& info) {
  return provider_of(info).starts_with("tcp") || provider_of(info).starts_with("net");
}
bool is_bare_tcp(const fi_info& info) {
  return provider_of(info) == "tcp";
}
bool is_sockets(const fi_info& info) {
  return info.ep_attr->protocol == FI_PROTO_SOCK_TCP;
}
bool is_rxd(const fi_info& info) {
  return info.ep_attr->protocol == FI_PROTO_RXD;
}

constexpr Difference kDifferences[] = {
    // A read that waits in the queue stays there while its answer arrives.
    {is_over_tcp, kEver, FI_VERSION(1, 18), [](Quirks& quirks, const fi_info&) { quirks.reads_may_fail = false; }},
    // Under FI_THREAD_COMPLETION the domain has no progress engine of its own. But fi_cq_open with FI_WAIT_FD asks the
    // engine for its descriptor, and so calls a null function.
    {is_bare_tcp, FI_VERSION(2, 0), kStill,
     [](Quirks& quirks, const fi_info&) { quirks.threading = FI_THREAD_DOMAIN; }},
    // fi_inject loses messages under load, 1 run of 20 with 2000 messages (seen with 1.17).
    {is_sockets, kEver, kStill, [](Quirks& quirks, const fi_info&) { quirks.counts_messages = true; }},
    // Read in the source of 1.17; without the first and the third line the rail suite fails:
    // - An injected send reports its completion with a null context.
    // - A send that finds all of the endpoint's entries in use says success and is dropped (until October 2025). So all
    //   messages count, and fewer than the entries are in flight.
    // - A message that finds no receive buffer, and gets one in the middle of a long write of its sender, takes that
    //   write's remaining packets. One look at the queue lets in 1000 packets at most (FI_OFI_RXD_SPIN_COUNT).
    // - The provider promises that messages stay behind writes. But a read waits for its window, and later posts
    //   overtake the posts that wait behind the read.
    {is_rxd, kEver, kStill,
     [](Quirks& quirks, const fi_info& info) {
       quirks.counts_messages = true;
       quirks.plain_sends = true;
       quirks.drains = true;
       quirks.receives = 1024;
       quirks.keeps_order = false;
       constexpr size_t kEntries = 1024;
       quirks.operations = std::min(kEntries, info.tx_attr->size ? info.tx_attr->size : kEntries) - 1;
     }},
};

/// A name in a setting, and what it means where libfabric does not list it.
struct Successor {
  std::string_view name, means;
};
constexpr Successor kSuccessors[] = {
    {"net", "tcp"},  // since 1.18: its endpoints became those of tcp
};

}  // namespace

Quirks quirks_of(const fi_info& info, uint32_t version) noexcept {
  Quirks quirks;
  for (const Difference& difference : kDifferences)
    if (difference.concerns(info) && FI_VERSION_GE(version, difference.since) && version < difference.before)
      difference.enter(quirks, info);
  return quirks;
}

std::string unfit(const std::string& provider, uint32_t version) {
  // With 1.14.0 38 of 64 conformance tests read old data behind a signal or fence; with 1.15.2 none does.
  if (provider != "shm" || version >= FI_VERSION(1, 15)) return {};
  return text("shm of libfabric %u.%u loses the order of data; use libfabric 1.15 or newer, or another provider",
              FI_MAJOR(version), FI_MINOR(version));
}

std::string exposure_of(const fi_info& info) {
  // Seen with 1.17: random datagrams to the port, and random bytes over a connection to the port.
  if (is_rxd(info)) return "end this job's PEs";
  if (is_sockets(info)) return "stall this job";
  return {};
}

std::string provider_meant_by(const std::string& wanted, const std::vector<std::string>& listed) {
  const auto lists = [&](std::string_view name) {
    return std::find(listed.begin(), listed.end(), name) != listed.end();
  };
  if (lists(wanted)) return wanted;
  for (const Successor& successor : kSuccessors)
    if (wanted == successor.name && lists(successor.means)) return std::string(successor.means);
  // The provider has no reliable datagram endpoints of its own, like tcp before 1.18, and verbs.
  if (const std::string layered = wanted + ";ofi_rxm"; lists(layered)) return layered;
  return {};
}

}  // namespace railshmem::ofi
