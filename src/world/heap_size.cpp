// SPDX-License-Identifier: BSD-3-Clause
#include "src/world/heap_size.h"

#include <sys/resource.h>

#include <algorithm>
#include <map>
#include <sstream>

#include "src/base/align.h"
#include "src/base/error.h"
#include "src/base/fds.h"
#include "src/base/quantity.h"
#include "src/heap/memory_limit.h"

namespace railshmem {
namespace {

constexpr uint64_t kLeast = uint64_t{512} << 20;
constexpr uint64_t kMost = uint64_t{16} << 30;  // with 1024 PEs on a node, 16 TiB of the 128 TiB of addresses
constexpr uint64_t kUnit = uint64_t{64} << 20;  // a round number, however much memory a kernel keeps for itself
constexpr uint64_t kShare = 2;                  // this part of the memory; the program's own data take the rest

bool is_limited(__rlimit_resource resource) {
  rlimit limit{};
  return getrlimit(resource, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

bool has_pool_of_huge_pages() {
  std::istringstream file(read_file("/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages"));
  uint64_t pages = 0;
  return file >> pages && pages > 0;
}

struct Host {
  uint64_t pes = 0;
  uint64_t memory = UINT64_MAX;
};

}  // namespace

uint64_t memory_for_heaps(const Env& env) {
  if (is_limited(RLIMIT_AS) || is_limited(RLIMIT_FSIZE)) return 0;
  if (env.huge_pages != HugePagesMode::off && has_pool_of_huge_pages()) return 0;
  return total_memory();
}

HeapSize choose_heap_size(const Env& env, const std::vector<Identity>& identities, bool network) {
  if (env.symmetric_size != kAutomaticSize) return {env.symmetric_size, "SHMEM_SYMMETRIC_SIZE"};
  if (network) return {kLeast, "SHMEM_SYMMETRIC_SIZE auto: a network may pin the whole heap"};
  std::map<uint64_t, Host> hosts;
  for (const Identity& one : identities) {
    Host& host = hosts[one.host];
    ++host.pes;
    host.memory = std::min(host.memory, one.memory_for_heaps);
  }
  HeapSize size{kMost, "SHMEM_SYMMETRIC_SIZE auto: its upper limit"};
  for (const auto& [id, host] : hosts) {
    const uint64_t part = align_down(host.memory / kShare / host.pes, kUnit);
    if (part >= size.nbytes) continue;
    size = {std::max(part, kLeast), text("SHMEM_SYMMETRIC_SIZE auto: half of %s for %s",
                                         memory_size(host.memory).c_str(), counted(host.pes, "PE").c_str())};
    if (part < kLeast) size.reason = "SHMEM_SYMMETRIC_SIZE auto: its lower limit";
  }
  return size;
}

}  // namespace railshmem
