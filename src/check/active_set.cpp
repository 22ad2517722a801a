// SPDX-License-Identifier: BSD-3-Clause
#include "src/check/active_set.h"

#include "src/base/log.h"

namespace railshmem::check {
namespace {

/// All words must be SHMEM_SYNC_VALUE, 0. That holds because must_agree() keeps members back: elsewhere those that are
/// faster may have added to them already.
void check_psync(const ActiveSet& set) noexcept {
  for (int i = 0; i < kSyncWords; ++i) {
    // relaxed: members may be adding.
    const uint64_t value = __atomic_load_n(set.psync + i, __ATOMIC_RELAXED);
    if (value != 0)
      die("%s: pSync[%d] is %lld, not SHMEM_SYNC_VALUE (0); initialise all %d words on all PEs, synchronise, and do "
          "not "
          "use the array for anything else; called at %s",
          set.function, i, static_cast<long long>(value), kSyncWords, find_call_site().data());
  }
}

}  // namespace

void check_active_call(Team* world, const ActiveSet& set, const ActiveTriplet& triplet,
                       const ActiveArguments& arguments) noexcept {
  const size_t nbytes = arguments.nelems * arguments.element;
  check_operands(set.state, set.function, {"dest", arguments.dest, nbytes}, {"source", arguments.source, nbytes},
                 arguments.in_place);
  if (!world || set.size() != world->size()) return;
  check_psync(set);
  CollectiveCall call(set.state, set.function);
  call.number("PE_start", triplet.start).number("logPE_stride", triplet.log_stride).number("PE_size", triplet.size);
  call.address("pSync", set.psync);
  if (arguments.root >= 0) call.number("PE_root", arguments.root);
  if (arguments.element > 0 && arguments.same_nelems) call.number("nelems", static_cast<long long>(arguments.nelems));
  if (nbytes > 0 && arguments.same_nelems) call.address("dest", arguments.dest).address("source", arguments.source);
  must_agree(*world, call);
}

}  // namespace railshmem::check
