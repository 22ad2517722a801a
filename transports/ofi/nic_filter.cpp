// SPDX-License-Identifier: BSD-3-Clause
#include "transports/ofi/nic_filter.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <tuple>

#include "src/base/error.h"
#include "transports/ofi/quirks.h"

namespace railshmem::ofi {
namespace {

bool is_nic(const NicFacts& nic, const std::string& wanted) {
  return nic.domain == wanted || nic.interface == wanted || nic.device == wanted || nic.bus == wanted;
}

/// Distinct values in the library's order, for messages.
std::string distinct(std::span<const NicFacts> listed, const std::vector<size_t>& entries,
                     const std::function<std::string(const NicFacts&)>& name) {
  std::vector<std::string> seen;
  for (const size_t entry : entries) {
    std::string value = name(listed[entry]);
    if (!value.empty() && std::find(seen.begin(), seen.end(), value) == seen.end()) seen.push_back(std::move(value));
  }
  std::string all;
  for (const std::string& value : seen) all += (all.empty() ? "" : ", ") + value;
  return all.empty() ? "none" : all;
}

/// Order of preference; a tie keeps libfabric's own order, which puts deprecated and layered providers last.
auto rank(const NicFacts& nic) {
  return std::tuple(nic.loopback, !nic.up, nic.pci.empty(), nic.host_bridge, !nic.ordered);
}

/// eth0:1 is a second address of eth0.
bool is_alias(const NicFacts& nic) {
  return uses_sockets(nic.provider) && nic.domain.find(':') != std::string::npos;
}

/// Why `nic` is not used beside or instead of `best`; empty when it may be.
std::string worse_than(const NicFacts& best, const NicFacts& nic) {
  if (nic.loopback && !best.loopback) return "it does not reach other hosts";
  if (!nic.up && best.up) return "its link is down";
  if (nic.pci.empty() && !best.pci.empty()) return "it does not bypass the kernel as " + best.provider + " does";
  if (nic.host_bridge && !best.host_bridge) return "a bridge of this host";
  if (nic.provider != best.provider) return best.provider + " is preferred";
  if (rank(nic) != rank(best)) return "it does not keep messages behind writes";
  return nic.variant == best.variant ? "" : "another protocol than that of " + best.domain;
}

const char* family_text(AddressFamily family) {
  switch (family) {
    case AddressFamily::ipv4:
      return "an IPv4";
    case AddressFamily::ipv6:
      return "an IPv6";
    case AddressFamily::ipv6_link_local:
      return "a link-local IPv6";
    default:
      return "an";
  }
}

constexpr AddressFamily kFamilies[] = {AddressFamily::ipv4, AddressFamily::ipv6, AddressFamily::ipv6_link_local,
                                       AddressFamily::other};

}  // namespace

std::string identity(const NicFacts& nic) {
  if (!nic.pci.empty()) return nic.pci;
  return is_alias(nic) ? nic.domain.substr(0, nic.domain.find(':')) : nic.domain;
}

NicFilter::NicFilter(std::span<const NicFacts> listed) : listed_(listed), fit_(listed.size()), why_(listed.size()) {
  if (listed.empty()) throw Error("libfabric lists no provider with reliable endpoints, messages and RMA");
  std::iota(fit_.begin(), fit_.end(), size_t{0});
}

void NicFilter::drop(size_t entry, std::string why) {
  why_[entry] = std::move(why);
  std::erase(fit_, entry);
}

template <class ReasonOf>
void NicFilter::drop_if(const ReasonOf& reason_of) {
  for (const size_t entry : std::vector(fit_))
    if (std::string why = reason_of(listed_[entry]); !why.empty()) drop(entry, std::move(why));
}

std::string NicFilter::available() const {
  return distinct(listed_, fit_, [](const NicFacts& nic) { return nic.domain; });
}

void NicFilter::keep_provider(const std::string& wanted) {
  std::vector<std::string> names;
  for (const NicFacts& nic : listed_) names.push_back(nic.provider);
  const std::string meant = provider_meant_by(wanted, names);
  const std::string before = distinct(listed_, fit_, [](const NicFacts& nic) { return nic.provider; });
  const std::string means = meant == wanted || meant.empty() ? "" : ", which means " + meant + " here";
  for (const NicFacts& nic : listed_)
    if (nic.provider == meant && !nic.unfit.empty())
      throw Error(
          text("SHMEM_OFI_PROVIDER is '%s': %s; available: %s", wanted.c_str(), nic.unfit.c_str(), before.c_str()));
  drop_if([&](const NicFacts& nic) {
    return nic.provider == meant ? "" : "SHMEM_OFI_PROVIDER is '" + wanted + "'" + means;
  });
  if (fit_.empty()) throw Error(text("SHMEM_OFI_PROVIDER is '%s'; available: %s", wanted.c_str(), before.c_str()));
}

void NicFilter::drop_unfit() {
  drop_if([](const NicFacts& nic) { return nic.unfit; });
  if (fit_.empty()) throw Error("no provider of libfabric may be used: " + listed_.front().unfit);
}

void NicFilter::keep_remote() {
  const std::string before =
      distinct(listed_, fit_, [](const NicFacts& nic) { return nic.provider + " on " + nic.domain; });
  drop_if([](const NicFacts& nic) { return nic.loopback ? "it does not reach other hosts" : ""; });
  if (fit_.empty())
    throw Error(
        text("the job spans several hosts, but these do not reach another host: %s; check SHMEM_OFI_PROVIDER and "
             "SHMEM_OFI_NICS",
             before.c_str()));
}

bool NicFilter::knows(const std::string& name) const {
  return std::any_of(fit_.begin(), fit_.end(), [&](size_t entry) { return is_nic(listed_[entry], name); });
}

void NicFilter::must_know(const std::vector<std::string>& names) const {
  for (const std::string& name : names)
    if (!knows(name)) throw Error(text("SHMEM_OFI_NICS names '%s'; available: %s", name.c_str(), available().c_str()));
}

void NicFilter::drop_named(const std::vector<std::string>& names) {
  const std::string before = available();
  drop_if([&](const NicFacts& nic) {
    const bool named = std::any_of(names.begin(), names.end(), [&](const auto& name) { return is_nic(nic, name); });
    return named ? "excluded by SHMEM_OFI_NICS" : "";
  });
  if (fit_.empty()) throw Error(text("SHMEM_OFI_NICS excludes all NICs there are: %s", before.c_str()));
}

void NicFilter::sort_by_rank(std::vector<size_t>& entries) const {
  const auto key = [&](size_t entry) { return std::pair(rank(listed_[entry]), is_alias(listed_[entry])); };
  std::stable_sort(entries.begin(), entries.end(), [&](size_t a, size_t b) { return key(a) < key(b); });
}

std::vector<size_t> NicFilter::all_by_rank() const {
  std::vector<size_t> entries(listed_.size());
  std::iota(entries.begin(), entries.end(), size_t{0});
  sort_by_rank(entries);
  return entries;
}

void NicFilter::keep_named(const std::vector<std::string>& names) {
  must_know(names);
  sort_by_rank(fit_);
  std::vector<size_t> found;
  const auto find_all = [&](const std::string& provider, AddressFamily family) {
    found.clear();
    for (const std::string& name : names)
      for (const size_t entry : fit_)
        if (const NicFacts& nic = listed_[entry];
            nic.provider == provider && nic.family == family && is_nic(nic, name)) {
          found.push_back(entry);
          break;
        }
    return found.size() == names.size();
  };
  const bool all = std::any_of(fit_.begin(), fit_.end(), [&](size_t entry) {
    return std::any_of(std::begin(kFamilies), std::end(kFamilies),
                       [&](AddressFamily family) { return find_all(listed_[entry].provider, family); });
  });
  if (!all)
    throw Error(
        "SHMEM_OFI_NICS: no provider has all of these NICs with addresses of one family; shmem_info "
        "--providers lists what each has");
  for (size_t i = 1; i < found.size(); ++i)
    for (size_t k = 0; k < i; ++k)
      if (identity(listed_[found[i]]) == identity(listed_[found[k]]))
        throw Error(
            text("SHMEM_OFI_NICS: %s and %s are the same NIC; SHMEM_OFI_RAILS_PER_NIC opens several rails on it",
                 names[k].c_str(), names[i].c_str()));
  const NicFacts& first = listed_[found.front()];
  drop_if([&](const NicFacts& nic) {
    return nic.provider == first.provider ? "not named in SHMEM_OFI_NICS" : first.provider + " is preferred";
  });
  for (const size_t entry : found) why_[entry].clear();
  fit_ = std::move(found);
}

void NicFilter::keep_best() {
  sort_by_rank(fit_);
  const NicFacts& best = listed_[fit_.front()];
  drop_if([&](const NicFacts& nic) { return worse_than(best, nic); });
  keep_one_address();
}

void NicFilter::keep_one_address() {
  AddressFamily best = AddressFamily::other;
  for (const size_t entry : fit_) best = std::max(best, listed_[entry].family);
  std::vector<std::string> seen;
  drop_if([&](const NicFacts& nic) -> std::string {
    if (nic.family != best) return text("it has not %s address as the others have", family_text(best));
    if (std::find(seen.begin(), seen.end(), identity(nic)) != seen.end()) return "a second address of the same NIC";
    seen.push_back(identity(nic));
    return {};
  });
}

void NicFilter::drop_slow() {
  uint64_t fastest = 0;
  for (const size_t entry : fit_) fastest = std::max(fastest, listed_[entry].speed);
  drop_if([&](const NicFacts& nic) -> std::string {
    if (nic.speed == 0 || nic.speed > fastest / 2) return {};
    return text("slower than others, which have %g Gb/s", static_cast<double>(fastest) / 1e9);
  });
}

void NicFilter::sort_by_bus() {
  std::stable_sort(fit_.begin(), fit_.end(), [&](size_t a, size_t b) { return listed_[a].bus < listed_[b].bus; });
}

}  // namespace railshmem::ofi
