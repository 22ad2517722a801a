// SPDX-License-Identifier: BSD-3-Clause
// Collectives of active sets: every name of include/shmem/active_set.h.
#include "src/check/active_set.h"
#include "src/active/collectives.h"
#include "src/api/alias.h"
#include "src/api/job.h"
#include "src/api/probe.h"
#include "src/base/log.h"
#include "src/rma/ordering.h"

using namespace railshmem;

namespace {

using Arguments = check::ActiveArguments;

/// Runs `body(set)` on the members of the set; others return.
template <class Body>
void on_members(const char* function, const ActiveTriplet& triplet, long* psync, const Arguments& arguments,
                Body body) noexcept {
  ActiveSets& sets = job::world(function).active_sets();
  ActiveSet set = sets.begin(function);
  if (!find_active_set(set, triplet, psync)) return;
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

template <class T>
void reduce(const char* function, T* dest, const T* source, int nreduce, const ActiveTriplet& triplet, long* psync,
            ReduceOp op) noexcept {
  if (nreduce < 0) [[unlikely]]
    die("%s: nreduce is %d; pass a number of elements", function, nreduce);
  const size_t nelems = static_cast<size_t>(nreduce);
  const Arguments arguments{dest, source, nelems, sizeof(T), -1, true, check::InPlace::allowed};
  on_members(function, triplet, psync, arguments, [&](const ActiveSet& set) {
    active_reduce(set,
                  {function, find_combine(op, type_kind<T>()), sizeof(T), nelems, reinterpret_cast<std::byte*>(dest),
                   reinterpret_cast<const std::byte*>(source), op, type_kind<T>()});
  });
}

}  // namespace

// clang-format off
#define TRIPLET ActiveTriplet{PE_start, logPE_stride, PE_size}
#define UNWRAP(...) __VA_ARGS__
#define DATA(FUNCTION, PARAMETERS, ARGUMENTS, BODY)                                                                   \
  void pshmem_##FUNCTION(UNWRAP PARAMETERS, int PE_start, int logPE_stride, int PE_size, long* pSync) {               \
    on_members("shmem_" #FUNCTION, TRIPLET, pSync, Arguments{UNWRAP ARGUMENTS}, [&](const ActiveSet& set) { BODY; }); \
  }
#define SIZED(BITS)                                                                                                          \
  DATA(alltoall##BITS, (void* dest, const void* source, size_t nelems),                                                      \
       (dest, source, nelems, BITS / 8),                                                                                     \
       active_alltoall(set, dest, source, active_bytes(set, nelems, BITS / 8)))                                              \
  DATA(alltoalls##BITS, (void* dest, const void* source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems),                       \
       (dest, source, nelems, BITS / 8),                                                                                     \
       active_alltoalls(set,                                                                                                 \
                        {static_cast<std::byte*>(dest), static_cast<const std::byte*>(source), dst, sst, BITS / 8, nelems})) \
  DATA(broadcast##BITS, (void* dest, const void* source, size_t nelems, int PE_root),                                        \
       (dest, source, nelems, BITS / 8, PE_root),                                                                            \
       active_broadcast(set, dest, source, active_bytes(set, nelems, BITS / 8), PE_root))                                    \
  DATA(collect##BITS, (void* dest, const void* source, size_t nelems),                                                       \
       (dest, source, nelems, BITS / 8, -1, false),                                                                          \
       active_collect(set, dest, source, active_bytes(set, nelems, BITS / 8)))                                               \
  DATA(fcollect##BITS, (void* dest, const void* source, size_t nelems),                                                      \
       (dest, source, nelems, BITS / 8),                                                                                     \
       active_fcollect(set, dest, source, active_bytes(set, nelems, BITS / 8)))

#define TO_ALL(N, T, NAME, OP)                                                                             \
  void pshmem_##N##_##NAME##_to_all(T* dest, const T* source, int nreduce, int PE_start, int logPE_stride, \
                                    int PE_size, T*, long* pSync) {                                        \
    reduce<T>("shmem_" #N "_" #NAME "_to_all", dest, source, nreduce, TRIPLET, pSync, ReduceOp::OP);       \
  }
#define TO_ALL_BITS(A, N, T) TO_ALL(N, T, and, bit_and) TO_ALL(N, T, or, bit_or) TO_ALL(N, T, xor, bit_xor)
#define TO_ALL_ORDER(A, N, T) TO_ALL(N, T, max, max) TO_ALL(N, T, min, min)
#define TO_ALL_SUM(A, N, T) TO_ALL(N, T, sum, sum) TO_ALL(N, T, prod, prod)
// clang-format on

extern "C" {

void pshmem_barrier(int PE_start, int logPE_stride, int PE_size, long* pSync) {
  on_members("shmem_barrier", TRIPLET, pSync, {}, [](const ActiveSet& set) {
    quiet(set.state, set.state.default_context);
    active_sync(set);
  });
}

void pshmem_sync(int PE_start, int logPE_stride, int PE_size, long* pSync) {
  on_members("shmem_sync", TRIPLET, pSync, {}, [](const ActiveSet& set) { active_sync(set); });
}

SIZED(32)
SIZED(64)
#undef SIZED
RAILSHMEM_TO_ALL_BITS_TYPES(TO_ALL_BITS, )
RAILSHMEM_TO_ALL_ORDER_TYPES(TO_ALL_ORDER, )
RAILSHMEM_TO_ALL_SUM_TYPES(TO_ALL_SUM, )
}
RAILSHMEM_ACTIVE_SET_FUNCTIONS(RAILSHMEM_WEAK)
