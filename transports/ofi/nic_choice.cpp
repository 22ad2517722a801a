// SPDX-License-Identifier: BSD-3-Clause
#include "transports/ofi/nic_choice.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <tuple>

#include "src/base/error.h"

namespace railshmem::ofi {
namespace {

/// "tcp" means tcp;ofi_rxm where the library's bare tcp has no endpoints of our kind.
bool is_provider(const NicFacts& nic, const std::string& wanted, bool bare_exists) {
  if (nic.provider == wanted) return true;
  return !bare_exists && nic.provider == wanted + ";ofi_rxm";
}

bool is_nic(const NicFacts& nic, const std::string& wanted) {
  return nic.domain == wanted || nic.interface == wanted;
}

/// Distinct values in the library's order, for messages.
std::string available(std::span<const NicFacts> listed, const std::function<std::string(const NicFacts&)>& name) {
  std::vector<std::string> seen;
  for (const NicFacts& nic : listed) {
    std::string value = name(nic);
    if (!value.empty() && std::find(seen.begin(), seen.end(), value) == seen.end()) seen.push_back(std::move(value));
  }
  std::string all;
  for (const std::string& value : seen) all += (all.empty() ? "" : ", ") + value;
  return all.empty() ? "none" : all;
}

/// Order of preference; a tie keeps libfabric's own order, which puts deprecated and layered providers last.
auto rank(const NicFacts& nic) {
  return std::tuple(nic.loopback, nic.pci.empty(), nic.host_bridge, !nic.ordered);
}

/// One physical NIC: its bus address, or its domain where libfabric does not know the hardware.
const std::string& identity(const NicFacts& nic) {
  return nic.pci.empty() ? nic.domain : nic.pci;
}

void keep_provider(std::vector<size_t>& fit, std::span<const NicFacts> listed, const std::string& wanted) {
  const bool bare_exists =
      std::any_of(listed.begin(), listed.end(), [&](const NicFacts& nic) { return nic.provider == wanted; });
  std::erase_if(fit, [&](size_t i) { return !is_provider(listed[i], wanted, bare_exists); });
  if (!fit.empty()) return;
  throw Error(text("SHMEM_OFI_PROVIDER is '%s'; available: %s", wanted.c_str(),
                   available(listed, [](const NicFacts& nic) { return nic.provider; }).c_str()));
}

void keep_nic(std::vector<size_t>& fit, std::span<const NicFacts> listed, const std::string& wanted) {
  std::vector<NicFacts> before;
  for (size_t i : fit) before.push_back(listed[i]);
  std::erase_if(fit, [&](size_t i) { return !is_nic(listed[i], wanted); });
  if (!fit.empty()) return;
  throw Error(text("SHMEM_OFI_NIC is '%s'; available: %s", wanted.c_str(),
                   available(before, [](const NicFacts& nic) { return nic.domain; }).c_str()));
}

void keep_remote(std::vector<size_t>& fit, std::span<const NicFacts> listed) {
  std::vector<NicFacts> before;
  for (size_t i : fit) before.push_back(listed[i]);
  std::erase_if(fit, [&](size_t i) { return listed[i].loopback; });
  if (!fit.empty()) return;
  const auto name = [](const NicFacts& nic) { return nic.provider + " on " + nic.domain; };
  throw Error(
      text("the job spans several hosts, but these do not reach another host: %s; check SHMEM_OFI_PROVIDER and "
           "SHMEM_OFI_NIC",
           available(before, name).c_str()));
}

/// The best address of each NIC, in the order in which the NICs were listed, all of the best family among them.
std::vector<size_t> one_per_nic(const std::vector<size_t>& fit, std::span<const NicFacts> listed) {
  std::vector<size_t> chosen;
  AddressFamily best = AddressFamily::other;
  for (size_t i : fit) {
    best = std::max(best, listed[i].family);
    const auto same = std::find_if(chosen.begin(), chosen.end(),
                                   [&](size_t k) { return identity(listed[k]) == identity(listed[i]); });
    if (same == chosen.end()) {
      chosen.push_back(i);
    } else if (listed[i].family > listed[*same].family) {
      *same = i;
    }
  }
  std::erase_if(chosen, [&](size_t i) { return listed[i].family != best; });
  return chosen;
}

}  // namespace

std::vector<size_t> choose_nics(std::span<const NicFacts> listed, const NicRequest& request) {
  if (listed.empty()) throw Error("libfabric lists no provider with reliable endpoints, messages and RMA");
  std::vector<size_t> fit(listed.size());
  std::iota(fit.begin(), fit.end(), size_t{0});
  if (!request.provider.empty()) keep_provider(fit, listed, request.provider);
  if (!request.nic.empty()) keep_nic(fit, listed, request.nic);
  if (request.several_hosts) keep_remote(fit, listed);

  std::stable_sort(fit.begin(), fit.end(), [&](size_t a, size_t b) { return rank(listed[a]) < rank(listed[b]); });
  // A rail beside the first must be as good: no loopback or bridge joins eth0, no second provider joins the first.
  const NicFacts& first = listed[fit.front()];
  std::erase_if(fit, [&](size_t i) { return listed[i].provider != first.provider || rank(listed[i]) != rank(first); });
  std::vector<size_t> chosen = one_per_nic(fit, listed);
  if (chosen.size() > request.max_rails) chosen.resize(std::max<size_t>(request.max_rails, 1));
  return chosen;
}

}  // namespace railshmem::ofi
