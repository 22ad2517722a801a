// SPDX-License-Identifier: BSD-3-Clause
// Collectives that move data: every name of include/shmem/collective.h.
#include "src/api/alias.h"
#include "src/api/team_call.h"
#include "src/collective/alltoalls.h"
#include "src/collective/blocks.h"
#include "src/collective/broadcast.h"
#include "src/collective/collect.h"
#include "src/rma/put_get.h"

using namespace railshmem;

namespace {

int broadcast_call(const char* function, shmem_team_t handle, void* dest, const void* source, size_t nelems,
                   size_t element, int root) {
  Team* const team = find_team(function, handle);
  if (!team) return kBadTeam;
  check_member(function, *team, "PE_root", root);
  if (nelems == 0) return 0;
  broadcast(*team, function, dest, source, total_bytes(function, nelems, element, team->state.me), root);
  return 0;
}

using BlockCollective = void (*)(Team&, const char*, void*, const void*, size_t) noexcept;

template <BlockCollective kCollective>
int block_call(const char* function, shmem_team_t handle, void* dest, const void* source, size_t nelems,
               size_t element) {
  Team* const team = find_team(function, handle);
  if (!team) return kBadTeam;
  // Members of a collect may give nothing and still take part; of the others either all have nothing or none.
  if (nelems == 0 && kCollective != collect) return 0;
  kCollective(*team, function, dest, source, total_bytes(function, nelems, element, team->state.me));
  return 0;
}

int alltoalls_call(const char* function, shmem_team_t handle, void* dest, const void* source, ptrdiff_t dst,
                   ptrdiff_t sst, size_t nelems, size_t element) {
  Team* const team = find_team(function, handle);
  if (!team) return kBadTeam;
  if (nelems == 0) return 0;
  alltoalls(*team, function,
            {static_cast<std::byte*>(dest), static_cast<const std::byte*>(source), dst, sst, element, nelems});
  return 0;
}

}  // namespace

// clang-format off
#define BROADCAST(FUNCTION, T, ELEMENT)                                                                               \
  int pshmem_##FUNCTION(shmem_team_t team, T* dest, const T* source, size_t nelems, int PE_root) {                    \
    return broadcast_call("shmem_" #FUNCTION, team, dest, source, nelems, ELEMENT, PE_root);                          \
  }
#define BLOCKS(FUNCTION, COLLECTIVE, T, ELEMENT)                                                                      \
  int pshmem_##FUNCTION(shmem_team_t team, T* dest, const T* source, size_t nelems) {                                 \
    return block_call<COLLECTIVE>("shmem_" #FUNCTION, team, dest, source, nelems, ELEMENT);                           \
  }
#define ALLTOALLS(FUNCTION, T, ELEMENT)                                                                               \
  int pshmem_##FUNCTION(shmem_team_t team, T* dest, const T* source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems) {   \
    return alltoalls_call("shmem_" #FUNCTION, team, dest, source, dst, sst, nelems, ELEMENT);                         \
  }

#define TYPED(N, T)                           \
  BROADCAST(N##_broadcast, T, sizeof(T))      \
  BLOCKS(N##_collect, collect, T, sizeof(T))  \
  BLOCKS(N##_fcollect, fcollect, T, sizeof(T)) \
  BLOCKS(N##_alltoall, alltoall, T, sizeof(T)) \
  ALLTOALLS(N##_alltoalls, T, sizeof(T))
// clang-format on

extern "C" {
RAILSHMEM_FOR_RMA_TYPES(TYPED)
BROADCAST(broadcastmem, void, 1)
BLOCKS(collectmem, collect, void, 1)
BLOCKS(fcollectmem, fcollect, void, 1)
BLOCKS(alltoallmem, alltoall, void, 1)
ALLTOALLS(alltoallsmem, void, 1)
}
RAILSHMEM_TEAM_DATA_FUNCTIONS(RAILSHMEM_WEAK)
