// SPDX-License-Identifier: BSD-3-Clause
#include "src/active/active_set.h"

#include "include/shmem/types.h"
#include "src/base/log.h"
#include "src/base/pe_list.h"
#include "src/base/process.h"
#include "src/base/quantity.h"
#include "src/rma/peer_address.h"

namespace railshmem {
namespace {

static_assert(SHMEM_SYNC_VALUE == 0, "counting starts there");
static_assert(SHMEM_SYNC_SIZE == kSyncWords && SHMEM_BARRIER_SYNC_SIZE == kSyncWords &&
              SHMEM_BCAST_SYNC_SIZE == kSyncWords && SHMEM_COLLECT_SYNC_SIZE == kSyncWords &&
              SHMEM_REDUCE_SYNC_SIZE == kSyncWords && SHMEM_ALLTOALL_SYNC_SIZE == kSyncWords &&
              SHMEM_ALLTOALLS_SYNC_SIZE == kSyncWords);
static_assert(sync_index(SyncWord::fell) < kSyncWords && sizeof(long) == sizeof(uint64_t));

/// Ends the job where the three numbers describe no set of this job's PEs.
void check_triplet(const ActiveSet& set, const ActiveTriplet& triplet) noexcept {
  const int npes = set.state.npes;
  if (triplet.start < 0 || triplet.start >= npes) [[unlikely]]
    die("%s: PE_start is %d, but this job has %s", set.function, triplet.start, all_pes(npes).c_str());
  if (triplet.log_stride < 0 || triplet.log_stride > 30) [[unlikely]]
    die("%s: logPE_stride is %d; it is the base-2 logarithm of the stride, 0 for consecutive PEs", set.function,
        triplet.log_stride);
  if (triplet.size < 1) [[unlikely]]
    die("%s: PE_size is %d; an active set has at least one PE", set.function, triplet.size);
  const int64_t last = triplet.start + (static_cast<int64_t>(triplet.size - 1) << triplet.log_stride);
  if (last >= npes) [[unlikely]]
    die("%s: PE_start %d, logPE_stride %d and PE_size %d reach to PE %lld, but this job has %s", set.function,
        triplet.start, triplet.log_stride, triplet.size, static_cast<long long>(last), all_pes(npes).c_str());
}

/// Does not look at the contents: faster members may have added to them already.
void check_psync(const ActiveSet& set, const long* psync) noexcept {
  if (!psync) [[unlikely]]
    die("%s: pSync is NULL; pass a symmetric array of %d longs, all SHMEM_SYNC_VALUE", set.function, kSyncWords);
  uintptr_t offset = 0;
  if (!find_segment(set.state, psync, kSyncWords * sizeof *psync, &offset)) [[unlikely]]
    die_bad_address(set.state, set.function, psync, kSyncWords * sizeof *psync, set.state.me);
  if (reinterpret_cast<uintptr_t>(psync) % sizeof *psync != 0) [[unlikely]]
    die("%s: pSync %p is not a multiple of %zu; declare it as an array of long", set.function,
        static_cast<const void*>(psync), sizeof *psync);
}

/// Undefined by the standard, harmless here, and done by programs that let every PE call.
[[gnu::cold]] void warn_outsider(const ActiveSet& set, const ActiveTriplet& triplet) noexcept {
  // relaxed: only the first thread prints the warning; nothing else is handed over.
  if (g_process.warned.outside_active_set.exchange(true, std::memory_order_relaxed)) return;
  log_warn(
      "%s: this PE is not in the active set (PE_start %d, logPE_stride %d, PE_size %d) and does nothing; only "
      "members should call (said once)",
      set.function, triplet.start, triplet.log_stride, triplet.size);
}

}  // namespace

bool find_active_set(ActiveSet& set, const ActiveTriplet& triplet, long* psync) noexcept {
  check_triplet(set, triplet);
  check_psync(set, psync);
  set.pes = {triplet.start, 1 << triplet.log_stride, triplet.size};
  set.rank = set.pes.rank(set.state.me);
  set.psync = reinterpret_cast<uint64_t*>(psync);
  if (set.rank >= 0) [[likely]]
    return true;
  warn_outsider(set, triplet);
  return false;
}

void check_active_root(const ActiveSet& set, int root) noexcept {
  if (root < 0 || root >= set.size()) [[unlikely]]
    die("%s: PE_root is %d, but the active set has %s; the root is counted within the set, from 0", set.function, root,
        counted(static_cast<uint64_t>(set.size()), "PE").c_str());
}

size_t active_bytes(const ActiveSet& set, size_t nelems, size_t element) noexcept {
  size_t all = 0;
  if (__builtin_mul_overflow(nelems, element * static_cast<size_t>(set.size()), &all)) [[unlikely]]
    die("%s: nelems is %zu, which for %d PEs is more than an address space; check the element count", set.function,
        nelems, set.size());
  return nelems * element;
}

}  // namespace railshmem
