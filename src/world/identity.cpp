// SPDX-License-Identifier: BSD-3-Clause
#include "src/world/identity.h"

#include <unistd.h>

#include <algorithm>
#include <string_view>

#include "src/base/error.h"
#include "src/base/fingerprint.h"
#include "src/base/quantity.h"
#include "src/world/heap_size.h"

namespace railshmem {
namespace {

constexpr uint64_t kLayoutVersion = 7;

uint64_t as_number(const std::vector<TransportKind>& list) {
  uint64_t number = 0;
  for (const TransportKind kind : list) number = number * 8 + static_cast<uint64_t>(kind) + 1;
  return number;
}

/// 0 for an empty text.
uint64_t as_number(std::string_view in) {
  return in.empty() ? 0 : fnv1a(in);
}

void must_agree(const char* what, uint64_t mine, uint64_t theirs, int me, int pe) {
  if (mine == theirs) return;
  throw Error(text("%s differs between PEs: %llu on PE %d, %llu on PE %d; start all PEs with the same value", what,
                   static_cast<unsigned long long>(mine), me, static_cast<unsigned long long>(theirs), pe));
}

void sizes_must_agree(uint64_t mine, uint64_t theirs, int me, int pe) {
  if (mine == theirs) return;
  const auto shown = [](uint64_t size) { return size == kAutomaticSize ? "auto" : memory_size(size); };
  throw Error(
      text("SHMEM_SYMMETRIC_SIZE differs between PEs: %s on PE %d, %s on PE %d; start all PEs with the same value",
           shown(mine).c_str(), me, shown(theirs).c_str(), pe));
}

}  // namespace

Identity make_identity(const Env& env) {
  Identity mine{};
  mine.host = host_id();
  mine.pid_namespace = pid_namespace();
  mine.symmetric_size = env.symmetric_size;
  if (env.symmetric_size == kAutomaticSize) mine.memory_for_heaps = memory_for_heaps(env);
  mine.node_size = env.node_size;
  mine.teams_max = env.teams_max;
  mine.collectives = as_number(env.collectives);
  mine.collective_chunk = env.collective_chunk;
  mine.data_segment = static_cast<uint64_t>(env.data_segment);
  mine.transports = as_number(env.transport);
  mine.stats = env.stats;
  mine.trace = !env.trace.empty();
  mine.check = env.check;
  mine.pid = getpid();
  if (sched_getaffinity(0, sizeof mine.cpus, &mine.cpus) != 0) CPU_ZERO(&mine.cpus);
  mine.layout = kLayoutVersion;
  return mine;
}

std::vector<Identity> exchange_identities(Bootstrap& bootstrap, const Identity& mine) {
  std::vector<Identity> all = exchange(bootstrap, mine);
  const int me = bootstrap.pe();
  for (int pe = 0; pe < bootstrap.npes(); ++pe) {
    const Identity& theirs = all[static_cast<size_t>(pe)];
    must_agree("the version of the library", mine.layout, theirs.layout, me, pe);
    sizes_must_agree(mine.symmetric_size, theirs.symmetric_size, me, pe);
    must_agree("SHMEM_NODE_SIZE", mine.node_size, theirs.node_size, me, pe);
    must_agree("SHMEM_TEAMS_MAX", mine.teams_max, theirs.teams_max, me, pe);
    must_agree("SHMEM_COLLECTIVES (its hash)", mine.collectives, theirs.collectives, me, pe);
    must_agree("SHMEM_COLLECTIVE_CHUNK", mine.collective_chunk, theirs.collective_chunk, me, pe);
    must_agree("SHMEM_DATA_SEGMENT (as a number)", mine.data_segment, theirs.data_segment, me, pe);
    must_agree("SHMEM_TRANSPORT", mine.transports, theirs.transports, me, pe);
    must_agree("SHMEM_STATS", mine.stats, theirs.stats, me, pe);
    must_agree("SHMEM_TRACE (0: empty)", mine.trace, theirs.trace, me, pe);
    must_agree("SHMEM_CHECK", mine.check, theirs.check, me, pe);
    must_agree("the use of GPU memory for the heap (set SHMEM_HEAP_KIND to host or device; 1: used)", mine.device_heap,
               theirs.device_heap, me, pe);
  }
  return all;
}

int count_cpus(const std::vector<Identity>& identities, uint64_t host) noexcept {
  cpu_set_t all;
  CPU_ZERO(&all);
  for (const Identity& one : identities)
    if (one.host == host) CPU_OR(&all, &all, &one.cpus);
  return std::max(1, CPU_COUNT(&all));
}

}  // namespace railshmem
