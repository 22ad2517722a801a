// SPDX-License-Identifier: BSD-3-Clause
#include "transports/ofi/nic.h"

#include <rdma/fi_errno.h>

#include <algorithm>

#include "src/base/error.h"
#include "src/base/log.h"
#include "src/base/printable.h"
#include "src/topology/machine.h"
#include "transports/ofi/down_interfaces.h"
#include "transports/ofi/hints.h"
#include "transports/ofi/nic_choice.h"
#include "transports/ofi/nic_names.h"
#include "transports/ofi/provider_defaults.h"

namespace railshmem::ofi {
namespace {

constexpr uint64_t kRailsPerNic = 16;  // far more than tests use; a limit against typing errors

/// What libfabric lists under one kind of progress, and what is chosen of it.
struct Found {
  std::vector<Info> infos;
  std::vector<NicFacts> facts;
  std::vector<Place> pes;
  std::vector<NotReady> not_ready;  ///< of the NICs named
  NicChoice choice;
  GpuWay gpu_way = GpuWay::staging;
  std::string why_gpu_way = {};
};

void list(Found& found, Progress progress, Memories memories) {
  set_provider_defaults();
  fi_info* raw = nullptr;
  const Info hints = make_hints(progress, memories);
  const int rc = fi_getinfo(api_version(), nullptr, nullptr, 0, hints.get(), &raw);
  if (rc != -FI_ENODATA) check(rc, "fi_getinfo", "any");
  const Info all(raw);
  const Interfaces interfaces = system_interfaces();
  for (const fi_info* i = all.get(); i; i = i->next) {
    found.infos.emplace_back(fi_dupinfo(i));
    if (!found.infos.back()) throw std::bad_alloc();
    found.facts.push_back(read_facts(*found.infos.back(), interfaces));
  }
}

/// The NICs that SHMEM_OFI_NICS names for this PE; none where it excludes, is empty, or is an error that
/// choose_nics() reports.
std::vector<std::string> named_nics(const NetworkConfig& config) {
  try {
    const NicNames names = parse_nic_names(config.env->ofi_nics);
    return names.kind == NicNames::Kind::only ? names.list(config.host_slot) : std::vector<std::string>();
  } catch (const Error&) {
    return {};
  }
}

/// Adds the interfaces that are named and down, where a rail can be opened on them: it is used when the link is back.
void add_down(Found& found, Progress progress, Memories memories, const std::vector<std::string>& named) {
  const Interfaces interfaces = system_interfaces();
  const Info hints = make_hints(progress, memories);
  for (const std::string& name : named) {
    std::string why = why_not_ready(name, interfaces);
    if (why.empty()) continue;
    found.not_ready.push_back({name, std::move(why)});
    const auto is_listed = [&](const NicFacts& nic) { return nic.domain == name || nic.interface == name; };
    if (std::any_of(found.facts.begin(), found.facts.end(), is_listed)) continue;
    for (DownInterface& offer : offers_at(name, *hints, interfaces)) {
      found.infos.push_back(std::move(offer.info));
      found.facts.push_back(std::move(offer.facts));
    }
  }
}

/// A job cannot begin where all NICs that are named wait for a link.
void must_have_link(const Found& found) {
  const auto& used = found.choice.used;
  if (found.not_ready.empty() ||
      std::any_of(used.begin(), used.end(), [&](size_t entry) { return found.facts[entry].up; }))
    return;
  const NotReady& first = found.not_ready.front();
  throw Error(text("SHMEM_OFI_NICS names no NIC that is up (%s: %s): bring one up, or name others", first.name.c_str(),
                   first.why.c_str()));
}

/// Places of the PEs, and of the NICs that are chosen by it. To read the machine takes time, so only where several are.
void locate(Found& found, const NetworkConfig& config) {
  found.pes.assign(std::max<size_t>(config.host_cpus.size(), 1), Place{});
  if (std::count_if(found.facts.begin(), found.facts.end(), [](const NicFacts& nic) { return !nic.pci.empty(); }) < 2)
    return;
  const Machine machine = Machine::read();
  for (NicFacts& nic : found.facts)
    if (!nic.pci.empty()) nic.place = machine.of_pci(nic.pci);
  for (size_t slot = 0; slot < config.host_cpus.size(); ++slot)
    found.pes[slot] = machine.of_cpus(config.host_cpus[slot]);
}

Found choose(Progress progress, const NetworkConfig& config, Memories memories) {
  Found found;
  list(found, progress, memories);
  add_down(found, progress, memories, named_nics(config));
  locate(found, config);
  const Env& env = *config.env;
  try {
    found.choice = choose_nics(found.facts, {env.ofi_provider, env.ofi_nics, config.several_hosts, env.ofi_max_rails,
                                             found.pes, config.host_slot, found.not_ready});
    must_have_link(found);
  } catch (const Error& error) {
    // A setting for another library, or of the site. It hides providers from fi_getinfo.
    const char* const limit = launcher_variable("FI_PROVIDER");
    if (!limit) throw;
    throw Error(
        text("%s; FI_PROVIDER is '%s' in the environment, and libfabric then lists only what it allows: unset it "
             "or add the provider to it",
             error.what(), printable(limit).c_str()));
  }
  return found;
}

/// Puts the entries that were listed with FI_HMEM in place of those that were chosen, if all of them have one whose
/// provider calls no CUDA.
void take_twins(Found& found, Progress progress, GpuWay way) {
  Found granted;
  list(granted, progress, Memories::host_and_gpu);
  std::vector<const fi_info*> twins;
  for (const size_t entry : found.choice.used) {
    const fi_info* const twin = twin_of(*found.infos[entry], granted.infos);
    if (twin == nullptr) {
      found.why_gpu_way = "the provider does not grant FI_HMEM";
    } else if (!moves_without_cuda(*twin, found.facts[entry])) {
      found.why_gpu_way = "the provider would call CUDA, which may wait for kernels that wait for this PE";
    }
    if (!found.why_gpu_way.empty()) return;
    twins.push_back(twin);
  }
  for (size_t i = 0; i < twins.size(); ++i) {
    found.infos[found.choice.used[i]].reset(fi_dupinfo(twins[i]));
    if (!found.infos[found.choice.used[i]]) throw std::bad_alloc();
  }
  found.gpu_way = way;
}

/// The choice, and how its NICs come to GPU memory.
Found choose(Progress progress, const NetworkConfig& config) {
  const GpuWay way = wanted_way(config);
  const OfiHmemMode mode = config.env->ofi_hmem;
  if (way == GpuWay::staging || way == GpuWay::pretended || !is_asked_for(mode)) {
    Found found = choose(progress, config, Memories::host);
    if (way == GpuWay::hmem || way == GpuWay::either) {
      take_twins(found, progress, way);
    } else {
      found.gpu_way = way;
      if (way == GpuWay::staging) found.why_gpu_way = "SHMEM_OFI_HMEM asks for it";
    }
    return found;
  }
  try {
    Found found = choose(progress, config, Memories::host_and_gpu);
    found.gpu_way = way;
    return found;
  } catch (const Error& error) {
    throw Error(text("SHMEM_OFI_HMEM is %s, but no provider that fits grants FI_HMEM (%s); set it to auto or staging",
                     mode == OfiHmemMode::hmem ? "hmem" : "dmabuf", error.what()));
  }
}

Found choose(const NetworkConfig& config) {
  const Env& env = *config.env;
  if (env.ofi_rails_per_nic < 1 || env.ofi_rails_per_nic > kRailsPerNic)
    throw Error(text("SHMEM_OFI_RAILS_PER_NIC is '%zu'; accepted: 1 to %zu", static_cast<size_t>(env.ofi_rails_per_nic),
                     static_cast<size_t>(kRailsPerNic)));
  if (env.ofi_progress == OfiProgressMode::thread) {
    try {
      return choose(Progress::thread, config);
    } catch (const Error& reason) {
      // Providers without a progress thread (shm, rxd) are not listed: our proxy thread drives them as well.
      log_info("no provider thread: %s; asking for manual progress", reason.what());
    }
  }
  // Also for `auto`: our own proxy thread polls anyway, and a provider's thread beside it only takes its locks.
  return choose(Progress::manual, config);
}

/// Names the NICs without which the job starts.
void warn_of_down(const Found& found) {
  for (const NotReady& nic : found.choice.absent)
    log_warn("SHMEM_OFI_NICS names %s, which cannot be used: %s; the job starts without it", nic.name.c_str(),
             nic.why.c_str());
  for (const size_t entry : found.choice.used) {
    const NicFacts& facts = found.facts[entry];
    for (const NotReady& nic : found.not_ready)
      if (!facts.up && (nic.name == facts.domain || nic.name == facts.interface))
        log_warn(
            "SHMEM_OFI_NICS names %s, which cannot be used yet: %s; the job starts without it and uses it when "
            "its link is up",
            nic.name.c_str(), nic.why.c_str());
  }
}

}  // namespace

std::string Nic::name() const {
  const std::string whole = std::string(provider()) + " on " + domain();
  return copy == 0 ? whole : whole + text(" #%zu", copy + 1);
}

std::vector<Nic> find_nics(const NetworkConfig& config) {
  const Found found = choose(config);
  warn_of_down(found);
  const std::string& wanted = config.env->ofi_provider;
  std::vector<Nic> nics;
  // All NICs once, then all a second time: so the first rails are those of different NICs.
  for (size_t copy = 0; copy < config.env->ofi_rails_per_nic; ++copy)
    for (size_t i = 0; i < found.choice.used.size(); ++i) {
      const size_t entry = found.choice.used[i];
      Info info(fi_dupinfo(found.infos[entry].get()));
      if (!info) throw std::bad_alloc();
      const bool without_cuda = found.gpu_way != GpuWay::pretended && !is_asked_for(config.env->ofi_hmem);
      nics.push_back({std::move(info), found.facts[entry], found.choice.verdicts[i].why, found.gpu_way,
                      found.why_gpu_way, without_cuda && found.gpu_way != GpuWay::staging, copy});
    }
  if (!wanted.empty() && wanted != nics.front().provider())
    log_info("libfabric %u.%u has no reliable endpoints of a provider '%s': SHMEM_OFI_PROVIDER=%s means '%s'",
             FI_MAJOR(fi_version()), FI_MINOR(fi_version()), wanted.c_str(), wanted.c_str(), nics.front().provider());
  return nics;
}

std::string explain_choice(const NetworkConfig& config) {
  const Found found = choose(config);
  std::string lines = text("NICs of PE %zu of %zu of this host", config.host_slot, found.pes.size());
  if (const Place& place = found.pes[config.host_slot]; place.package >= 0) lines += " on " + place_text(place);
  lines += '\n';
  for (const NicVerdict& verdict : found.choice.verdicts)
    lines += text("  %s %s: %s\n", verdict.used ? "used    " : "not used", verdict.nic.c_str(), verdict.why.c_str());
  for (const NotReady& nic : found.choice.absent)
    lines += text("  not used %s: named in SHMEM_OFI_NICS, but %s\n", nic.name.c_str(), nic.why.c_str());
  if (const size_t each = config.env->ofi_rails_per_nic; each > 1)
    lines += text("  %zu rails on each (SHMEM_OFI_RAILS_PER_NIC)\n", each);
  return lines;
}

}  // namespace railshmem::ofi
