// SPDX-License-Identifier: BSD-3-Clause
#include "src/check/active_set.h"

#include "src/base/log.h"

namespace railshmem::check {
namespace {

/// Before a call all words are SHMEM_SYNC_VALUE, 0. Members of a smaller set, which are not held back here, may already
/// have added their arrivals of this call; more than these is garbage.
void check_psync(const ActiveSet& set, bool exactly) noexcept {
  const uint64_t most = exactly ? 0 : 4 * static_cast<uint64_t>(set.size());
  for (int i = 0; i < kSyncWords; ++i) {
    // relaxed: members may be adding.
    const uint64_t value = __atomic_load_n(set.psync + i, __ATOMIC_RELAXED);
    if (value > most)
      die("%s: pSync[%d] is %lld, not SHMEM_SYNC_VALUE (0); initialise all %d words on all PEs, synchronise, and do "
          "not "
          "use the array for anything else; called at %s",
          set.function, i, static_cast<long long>(value), kSyncWords, find_call_site().data());
  }
}

}  // namespace

void check_active_call(Team& world, const ActiveSet& set, const ActiveTriplet& triplet,
                       const ActiveArguments& arguments) noexcept {
  const bool all = set.size() == world.size();
  check_psync(set, all);
  const size_t nbytes = arguments.nelems * arguments.element;
  const Buffer dest{"dest", arguments.dest, nbytes};
  const Buffer source{"source", arguments.source, nbytes};
  must_be_symmetric(set.state, set.function, dest);
  must_be_symmetric(set.state, set.function, source);
  if (arguments.in_place == InPlace::allowed)
    may_be_in_place(set.function, dest, source);
  else
    must_not_overlap(set.function, dest, source);
  if (!all) return;
  CollectiveCall call(set.state, set.function);
  call.number("PE_start", triplet.start).number("logPE_stride", triplet.log_stride).number("PE_size", triplet.size);
  call.address("pSync", set.psync);
  if (arguments.root >= 0) call.number("PE_root", arguments.root);
  if (arguments.element > 0 && arguments.same_nelems) call.number("nelems", static_cast<long long>(arguments.nelems));
  if (nbytes > 0 && arguments.same_nelems) call.address("dest", arguments.dest).address("source", arguments.source);
  must_agree(world, call);
}

}  // namespace railshmem::check
