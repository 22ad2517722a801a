// SPDX-License-Identifier: BSD-3-Clause
#include "transports/ofi/nic_choice.h"

#include <algorithm>

#include "src/base/error.h"
#include "src/topology/nic_share.h"
#include "transports/ofi/nic_filter.h"
#include "transports/ofi/nic_names.h"

namespace railshmem::ofi {
namespace {

NicNames names_of(const NicRequest& request, const NicFilter& filter) {
  try {
    return parse_nic_names(request.nics);
  } catch (const Error& error) {
    throw Error(text("SHMEM_OFI_NICS is '%s': %s; %s; available: %s", request.nics.c_str(), error.what(), kNicNamesForm,
                     filter.available().c_str()));
  }
}

/// Reasons of the NICs that are left in the filter, in their order.
using Reasons = std::vector<std::string>;

/// Interfaces in the order of the filter: of sockets, because nothing tells which of them are in one network with
/// those of a peer, and of a list, because the user has said so.
Reasons take_first(NicFilter& filter, size_t limit, const std::string& why) {
  const std::vector<size_t> all = filter.fit();
  for (size_t i = limit; i < all.size(); ++i) filter.drop(all[i], text("beyond the limit of %zu", limit));
  return Reasons(filter.fit().size(), why);
}

/// Whom a NIC that this PE does not use is dealt to.
std::string dealt_to(size_t nic, const std::vector<NicShare>& shares) {
  std::vector<size_t> users;
  for (size_t pe = 0; pe < shares.size(); ++pe)
    if (const auto& slice = shares[pe].slice; std::find(slice.begin(), slice.end(), nic) != slice.end())
      users.push_back(pe);
  if (users.empty()) return {};
  return users.size() == 1 ? text("dealt to PE %zu of the host", users.front())
                           : text("dealt to %zu other PEs of the host", users.size());
}

Reasons take_share(NicFilter& filter, const NicRequest& request) {
  filter.drop_slow();
  filter.sort_by_bus();
  const std::vector<size_t> all = filter.fit();
  std::vector<Place> places;
  for (const size_t entry : all) places.push_back(filter.facts(entry).place);
  const std::vector<NicShare> shares = share_nics(places, request.pes, request.max_rails);
  const NicShare& mine = shares[request.slot];
  const auto has = [](const std::vector<size_t>& list, size_t nic) {
    return std::find(list.begin(), list.end(), nic) != list.end();
  };
  const auto far = [&](size_t nic) { return distance_text(distance(request.pes[request.slot], places[nic])); };

  for (size_t nic = 0; nic < all.size(); ++nic) {
    if (has(mine.rails, nic)) continue;
    std::string why = has(mine.slice, nic) ? text("beyond the limit of %zu", mine.rails.size()) : dealt_to(nic, shares);
    if (why.empty()) why = text("left over: %zu NICs for %zu PEs", all.size(), shares.size());
    filter.drop(all[nic], text("%s; %s", why.c_str(), far(nic)));
  }
  Reasons reasons;
  std::vector<size_t> rails;
  for (const size_t nic : mine.rails) {
    rails.push_back(all[nic]);
    reasons.push_back(text("%s; %s", far(nic),
                           has(mine.slice, nic)
                               ? text("dealt to PE %zu of %zu of the host", request.slot, shares.size()).c_str()
                               : "beyond the share of this PE, up to SHMEM_OFI_MAX_RAILS"));
  }
  filter.keep(std::move(rails));
  return reasons;
}

/// The names whose NICs libfabric lists. Those that are only down go to `absent`, as long as one is left; a name that
/// is unknown stays, and is an error of keep_named().
std::vector<std::string> present(const std::vector<std::string>& names, const NicFilter& filter,
                                 const NicRequest& request, std::vector<NotReady>& absent) {
  std::vector<std::string> left;
  for (const std::string& name : names) {
    const auto why = std::find_if(request.not_ready.begin(), request.not_ready.end(),
                                  [&](const NotReady& each) { return each.name == name; });
    if (filter.knows(name) || why == request.not_ready.end())
      left.push_back(name);
    else
      absent.push_back(*why);
  }
  if (!left.empty()) return left;
  std::string reasons;
  for (const NotReady& each : absent) reasons += (reasons.empty() ? "" : "; ") + each.name + ": " + each.why;
  throw Error(text("SHMEM_OFI_NICS names no NIC that is up (%s): bring one up, or name others; available: %s",
                   reasons.c_str(), filter.available().c_str()));
}

Reasons choose(NicFilter& filter, const NicNames& names, const NicRequest& request, std::vector<NotReady>& absent) {
  if (names.kind == NicNames::Kind::only) {
    filter.keep_named(present(names.list(request.slot), filter, request, absent));
    return take_first(filter, request.max_rails ? request.max_rails : filter.fit().size(), "named in SHMEM_OFI_NICS");
  }
  if (names.kind == NicNames::Kind::except) filter.drop_named(names.list(0));
  filter.keep_best();
  if (!filter.facts(filter.fit().front()).pci.empty()) return take_share(filter, request);
  return take_first(filter, std::max<size_t>(request.max_rails, 1), "the best that libfabric lists");
}

/// One line for each NIC of the provider in use, one for each other provider.
std::vector<NicVerdict> verdicts_of(std::span<const NicFacts> listed, const NicFilter& filter, const Reasons& reasons) {
  std::vector<NicVerdict> verdicts;
  std::vector<std::string> seen;
  const auto is_new = [&](const std::string& name) {
    if (std::find(seen.begin(), seen.end(), name) != seen.end()) return false;
    seen.push_back(name);
    return true;
  };
  for (size_t i = 0; i < reasons.size(); ++i) {
    const NicFacts& nic = filter.facts(filter.fit()[i]);
    is_new(identity(nic));
    verdicts.push_back({nic.provider + " on " + facts_text(nic), true, reasons[i]});
  }
  const std::string& provider = filter.facts(filter.fit().front()).provider;
  for (const size_t entry : filter.all_by_rank())
    if (listed[entry].provider == provider && is_new(identity(listed[entry])))
      verdicts.push_back({provider + " on " + facts_text(listed[entry]), false, filter.why_dropped(entry)});
  for (const size_t entry : filter.all_by_rank())  // the reason of a provider is that of its best NIC
    if (listed[entry].provider != provider && is_new(listed[entry].provider))
      verdicts.push_back({listed[entry].provider, false, filter.why_dropped(entry)});
  return verdicts;
}

}  // namespace

NicChoice choose_nics(std::span<const NicFacts> listed, const NicRequest& request) {
  NicFilter filter(listed);
  filter.drop_unfit();
  if (!request.provider.empty()) filter.keep_provider(request.provider);
  const NicNames names = names_of(request, filter);
  if (request.several_hosts) filter.keep_remote();
  std::vector<NotReady> absent;
  const Reasons reasons = choose(filter, names, request, absent);
  return {filter.fit(), std::move(absent), verdicts_of(listed, filter, reasons)};
}

}  // namespace railshmem::ofi
