// SPDX-License-Identifier: BSD-3-Clause
// Reductions and scans over teams: every name of include/shmem/reduce.h, and the reductions of reduce16.h.
#include "src/collective/reduce.h"

#include "shmem/reduce16.h"
#include "src/api/alias.h"
#include "src/api/probe.h"
#include "src/api/reductions.h"
#include "src/api/team_call.h"
#include "src/check/collective.h"
#include "src/collective/scan.h"
#include "src/rma/put_get.h"

using namespace railshmem;

namespace {

/// Checks what every algorithm takes for granted, then runs `algorithm(team, job)`.
template <class Algorithm>
int run(const Reducer& call, shmem_team_t handle, void* dest, const void* source, size_t nelems,
        Algorithm&& algorithm) noexcept {
  Team* const team = find_team(call.function, handle);
  if (!team) return kBadTeam;
  PeState& state = team->state;
  const size_t nbytes = total_bytes(call.function, nelems, call.element, state.me);
  RAILSHMEM_PROBE_PLAIN(collective, call.function, nbytes);
  if (checking(state)) {
    check::CollectiveCall agreed(state, call.function);
    check::check_collective(*team, agreed.number("nelems", static_cast<long long>(nelems)), {"dest", dest, nbytes},
                            {"source", source, nbytes}, check::InPlace::allowed);
  }
  if (nelems == 0) return 0;
  check_local(call.function, "dest", dest, nbytes, state.me);
  check_local(call.function, "source", source, nbytes, state.me);
  locate(state, call.function, dest, nbytes, state.me);
  locate(state, call.function, source, nbytes, state.me);
  algorithm(*team, Reduction{call.function, find_combine(call.op, call.kind), call.element, nelems,
                             static_cast<std::byte*>(dest), static_cast<const std::byte*>(source), call.op, call.kind});
  return 0;
}

// Not inlined: there are 194 callers.
[[gnu::noinline]] int reduce_on(const Reducer& call, shmem_team_t team, void* dest, const void* source,
                                size_t nelems) noexcept {
  return run(call, team, dest, source, nelems, [](Team& t, const Reduction& job) noexcept { reduce(t, job); });
}
[[gnu::noinline]] int scan_on(const Reducer& call, Scan kind, shmem_team_t team, void* dest, const void* source,
                              size_t nelems) noexcept {
  return run(call, team, dest, source, nelems, [=](Team& t, const Reduction& job) noexcept { scan(t, job, kind); });
}

}  // namespace

// clang-format off
#define REDUCE(NAME, OP, T)                                                                           \
  int pshmem_##NAME##_reduce(shmem_team_t team, T* dest, const T* source, size_t nreduce) {           \
    static constexpr Reducer kCall{"shmem_" #NAME "_reduce", ReduceOp::OP, type_kind<T>(), sizeof(T)};  \
    return reduce_on(kCall, team, dest, source, nreduce);                                             \
  }
#define SCAN(NAME, KIND, T)                                                                           \
  int pshmem_##NAME(shmem_team_t team, T* dest, const T* source, size_t nelems) {                     \
    static constexpr Reducer kCall{"shmem_" #NAME, ReduceOp::sum, type_kind<T>(), sizeof(T)};         \
    return scan_on(kCall, Scan::KIND, team, dest, source, nelems);                                    \
  }
#define SCANS(N, T) SCAN(N##_sum_inscan, inclusive, T) SCAN(N##_sum_exscan, exclusive, T)
#define REDUCE16(NAME, OP, T)                                                                          \
  int shmemx_##NAME##_reduce(shmem_team_t team, uint16_t* dest, const uint16_t* source, size_t nreduce) { \
    static constexpr Reducer kCall{"shmemx_" #NAME "_reduce", ReduceOp::OP, type_kind<T>(), sizeof(T)};   \
    return reduce_on(kCall, team, dest, source, nreduce);                                              \
  }
// clang-format on

extern "C" {
RAILSHMEM_FOR_REDUCTIONS(REDUCE)
RAILSHMEM_FOR_REDUCTIONS16(REDUCE16)
RAILSHMEM_FOR_REDUCE_SUM_TYPES(SCANS)
#undef REDUCE
}
RAILSHMEM_REDUCE_FUNCTIONS(RAILSHMEM_WEAK)
