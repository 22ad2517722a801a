// SPDX-License-Identifier: BSD-3-Clause
#include "src/api/active_set.h"

#include "src/active/collectives.h"
#include "src/api/job.h"
#include "src/base/log.h"
#include "src/check/active_set.h"
#include "src/rma/ordering.h"
#include "src/rma/probe.h"

namespace railshmem {
namespace {

using Arguments = check::ActiveArguments;

/// Runs `body(set)` on the members of the set; others return.
template <class Body>
void on_members(const char* function, const ActiveArguments& members, const Arguments& arguments, Body body) noexcept {
  const ActiveTriplet triplet{members.start, members.log_stride, members.size};
  ActiveSets& sets = job::world(function).active_sets();
  ActiveSet set = sets.begin(function);
  if (!find_active_set(set, triplet, members.psync)) return;
  PeState& state = set.state;
  const bool moves = arguments.element > 0;
  const Probe probe(
      state, nullptr,
      {moves ? observe::Kind::collective : observe::Kind::barrier, function, arguments.nelems * arguments.element});
  sets.use_team(set);
  // Without a team several threads of some PE may be in such collectives at once, which the world's one area is not
  // made for; and what this PE's own thread level is, others do not know.
  if (checking(state)) {
    Team* const world = set.team ? &job::world(function).teams().world() : nullptr;
    check::check_active_call(world, set, triplet, arguments);
  }
  body(set);
}

}  // namespace

void active_barrier_call(const char* function, const ActiveArguments& members) noexcept {
  on_members(function, members, {}, [](const ActiveSet& set) {
    quiet(set.state, set.state.default_context);
    active_sync(set);
  });
}

void active_sync_call(const char* function, const ActiveArguments& members) noexcept {
  on_members(function, members, {}, [](const ActiveSet& set) { active_sync(set); });
}

void active_alltoall_call(const char* function, const ActiveArguments& members, void* dest, const void* source,
                          size_t nelems, size_t element) noexcept {
  on_members(function, members, {dest, source, nelems, element},
             [&](const ActiveSet& set) { active_alltoall(set, dest, source, active_bytes(set, nelems, element)); });
}

void active_alltoalls_call(const char* function, const ActiveArguments& members, void* dest, const void* source,
                           ptrdiff_t dst, ptrdiff_t sst, size_t nelems, size_t element) noexcept {
  on_members(function, members, {dest, source, nelems, element}, [&](const ActiveSet& set) {
    active_alltoalls(set,
                     {static_cast<std::byte*>(dest), static_cast<const std::byte*>(source), dst, sst, element, nelems});
  });
}

void active_broadcast_call(const char* function, const ActiveArguments& members, void* dest, const void* source,
                           size_t nelems, size_t element, int root) noexcept {
  on_members(function, members, {dest, source, nelems, element, root}, [&](const ActiveSet& set) {
    active_broadcast(set, dest, source, active_bytes(set, nelems, element), root);
  });
}

void active_collect_call(const char* function, const ActiveArguments& members, void* dest, const void* source,
                         size_t nelems, size_t element) noexcept {
  on_members(function, members, {dest, source, nelems, element, -1, false},
             [&](const ActiveSet& set) { active_collect(set, dest, source, active_bytes(set, nelems, element)); });
}

void active_fcollect_call(const char* function, const ActiveArguments& members, void* dest, const void* source,
                          size_t nelems, size_t element) noexcept {
  on_members(function, members, {dest, source, nelems, element},
             [&](const ActiveSet& set) { active_fcollect(set, dest, source, active_bytes(set, nelems, element)); });
}

void active_reduce_call(const char* function, const ActiveArguments& members, void* dest, const void* source,
                        int nreduce, ReduceOp op, TypeKind kind, size_t element) noexcept {
  if (nreduce < 0) [[unlikely]]
    die("%s: nreduce is %d; pass a number of elements", function, nreduce);
  const size_t nelems = static_cast<size_t>(nreduce);
  const Arguments arguments{dest, source, nelems, element, -1, true, check::InPlace::allowed};
  on_members(function, members, arguments, [&](const ActiveSet& set) {
    active_reduce(set, {function, find_combine(op, kind), element, nelems, static_cast<std::byte*>(dest),
                        static_cast<const std::byte*>(source), op, kind});
  });
}

}  // namespace railshmem
