// SPDX-License-Identifier: BSD-3-Clause
#include "src/world/observations.h"

#include <unistd.h>

#include <span>
#include <string>

#include "src/base/error.h"
#include "src/base/log.h"
#include "src/observe/report.h"

namespace railshmem {
namespace {

using observe::PartInfo;

void print_statistics(const std::vector<observe::Totals>& by_pe) {
  log_report("stats: %s", observe::stats_heading().c_str());
  for (size_t pe = 0; pe < by_pe.size(); ++pe)
    for (const std::string& row : observe::stats_rows(static_cast<int>(pe), by_pe[pe]))
      log_report("stats: %s", row.c_str());
}

/// The rails of every PE that used a network.
void print_rails(Bootstrap& bootstrap, Network* network) {
  std::string mine;
  if (network)
    for (const std::string& row : network->rail_rows()) mine += row + '\n';
  const auto by_pe = exchange_bytes(bootstrap, std::as_bytes(std::span(mine)));
  if (bootstrap.pe() != 0) return;
  for (size_t pe = 0; pe < by_pe.size(); ++pe) {
    const std::string rows(reinterpret_cast<const char*>(by_pe[pe].data()), by_pe[pe].size());
    for (size_t at = 0; at < rows.size();) {
      const size_t end = rows.find('\n', at);
      log_report("stats: %5zu %s", pe, rows.substr(at, end - at).c_str());
      at = end + 1;
    }
  }
}

std::string part_of(const std::string& file, int pe) {
  return file + ".pe" + std::to_string(pe);
}

/// Called by PE 0 when all parts are closed. Throws nothing, because the other PEs wait for PE 0 afterwards.
void join_timelines(observe::Observer& observer, const std::vector<PartInfo>& parts) noexcept try {
  const std::string& path = observer.settings().trace;
  observe::TimelineWriter file(path, 0, observer.clock());
  uint64_t dropped = 0;
  int joined = 0;
  for (int pe = 0; pe < static_cast<int>(parts.size()); ++pe) {
    const PartInfo& part = parts[static_cast<size_t>(pe)];
    const std::string name = part_of(path, pe);
    if (part.nbytes == 0) continue;  // the PE of this part has said why
    // A file with the part's name but another size does not belong to this job.
    if (observe::file_size(name) != part.nbytes) {
      log_warn("the timeline of PE %d is not visible here and stays on its own host as %s", pe, name.c_str());
      continue;
    }
    file.append_part(name, part);
    ::unlink(name.c_str());
    dropped += part.dropped;
    ++joined;
  }
  file.finish(dropped, joined);
  if (dropped > 0)
    log_warn("SHMEM_TRACE: %llu events were dropped; raise SHMEM_TRACE_LIMIT, or trace less",
             static_cast<unsigned long long>(dropped));
} catch (const std::exception& e) {
  log_error("%s; the parts that are not in it stay as %s", e.what(), part_of(observer.settings().trace, 0).c_str());
}

PartInfo write_part(observe::Observer& observer) noexcept {
  try {
    return observer.write_part(observer.part_path());
  } catch (const std::exception& e) {
    log_error("%s", e.what());
    return {};
  }
}

}  // namespace

std::unique_ptr<observe::Observer> make_observer(const Env& env, int pe) {
  if (!env.stats && !env.check && env.trace.empty()) return nullptr;
  return std::make_unique<observe::Observer>(observe::Settings{pe, env.stats, env.check, env.trace, env.trace_limit});
}

void publish_observations(observe::Observer& observer, Bootstrap& bootstrap, Network* network) noexcept {
  try {
    if (observer.stats()) {
      const std::vector<observe::Totals> by_pe = exchange(bootstrap, observer.finish());
      if (bootstrap.pe() == 0) print_statistics(by_pe);
      print_rails(bootstrap, network);
    }
    if (observer.tracing()) {
      const std::vector<PartInfo> parts = exchange(bootstrap, write_part(observer));
      if (bootstrap.pe() == 0) join_timelines(observer, parts);
      bootstrap.barrier();  // a reader finds the file whole after any PE's end
    }
  } catch (const std::exception& e) {
    die("shmem_finalize: %s", e.what());
  }
}

}  // namespace railshmem
