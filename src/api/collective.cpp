// SPDX-License-Identifier: BSD-3-Clause
#include "src/api/collective.h"

#include "src/api/team_call.h"
#include "src/check/collective.h"
#include "src/collective/collectives.h"
#include "src/rma/probe.h"
#include "src/rma/put_get.h"

namespace railshmem {
namespace {

/// SHMEM_CHECK: checks the dest_nbytes of dest and the source_nbytes of source.
void check_blocks(Team& team, check::CollectiveCall& call, void* dest, size_t dest_nbytes, const void* source,
                  size_t source_nbytes, size_t nelems, check::InPlace in_place) noexcept {
  call.number("nelems", static_cast<long long>(nelems));
  check::check_collective(team, call, {"dest", dest, dest_nbytes}, {"source", source, source_nbytes}, in_place);
}

using BlockCollective = void (*)(Team&, const char*, void*, const void*, size_t) noexcept;

template <BlockCollective kCollective>
[[gnu::cold]] void check_block_call(Team& team, const char* function, void* dest, const void* source, size_t nbytes,
                                    size_t nelems) noexcept {
  check::CollectiveCall call(team.state, function);
  const size_t all = nbytes * static_cast<size_t>(team.size());
  if (kCollective == collect) {  // members may give different lengths, and from any address when they give nothing
    check::must_be_symmetric(team.state, function, {"source", source, nbytes});
    check::must_be_symmetric(team.state, function, {"dest", dest, nbytes});
    check::must_not_overlap(function, {"dest", dest, nbytes}, {"source", source, nbytes});
    check::must_agree(team, call.address("dest", dest));
  } else {
    check_blocks(team, call, dest, all, source, kCollective == fcollect ? nbytes : all, nelems,
                 check::InPlace::forbidden);
  }
}

template <BlockCollective kCollective>
int block_call(const char* function, shmem_team_t handle, void* dest, const void* source, size_t nelems,
               size_t element) {
  Team* const team = find_team(function, handle);
  if (!team) return kBadTeam;
  PeState& state = team->state;
  const size_t nbytes = total_bytes(function, nelems, element, state.me);
  RAILSHMEM_PROBE_PLAIN(collective, function, nbytes);
  if (checking(state)) check_block_call<kCollective>(*team, function, dest, source, nbytes, nelems);
  // A member of a collect may give nothing and still take part. In other collectives all members pass one nelems.
  if (nelems == 0 && kCollective != collect) return 0;
  if (nelems > 0) check_local(function, "source", source, nbytes, state.me);
  kCollective(*team, function, dest, source, nbytes);
  return 0;
}

}  // namespace

int broadcast_call(const char* function, shmem_team_t handle, void* dest, const void* source, size_t nelems,
                   size_t element, int root) noexcept {
  Team* const team = find_team(function, handle);
  if (!team) return kBadTeam;
  PeState& state = team->state;
  check_member(function, *team, "PE_root", root);
  const size_t nbytes = total_bytes(function, nelems, element, state.me);
  RAILSHMEM_PROBE_PLAIN(collective, function, nbytes);
  if (checking(state)) {
    check::CollectiveCall call(state, function);
    check_blocks(*team, call.number("PE_root", root), dest, nbytes, source, nbytes, nelems, check::InPlace::allowed);
  }
  if (nelems == 0) return 0;
  if (team->rank == root) check_local(function, "source", source, nbytes, state.me);
  broadcast(*team, function, dest, source, nbytes, root);
  return 0;
}

int alltoalls_call(const char* function, shmem_team_t handle, void* dest, const void* source, ptrdiff_t dst,
                   ptrdiff_t sst, size_t nelems, size_t element) noexcept {
  Team* const team = find_team(function, handle);
  if (!team) return kBadTeam;
  PeState& state = team->state;
  RAILSHMEM_PROBE_PLAIN(collective, function, nelems * element);
  if (checking(state)) {
    const size_t all = nelems * static_cast<size_t>(team->size());
    check::CollectiveCall call(state, function);
    check_blocks(*team, call.number("dst", dst).number("sst", sst), dest, check::strided_bytes(all, dst, element),
                 source, check::strided_bytes(all, sst, element), nelems, check::InPlace::forbidden);
  }
  if (nelems == 0) return 0;
  check_local(function, "source", source, nelems * element, state.me);
  alltoalls(*team, function,
            {static_cast<std::byte*>(dest), static_cast<const std::byte*>(source), dst, sst, element, nelems});
  return 0;
}

int collect_call(const char* function, shmem_team_t handle, void* dest, const void* source, size_t nelems,
                 size_t element) noexcept {
  return block_call<collect>(function, handle, dest, source, nelems, element);
}

int fcollect_call(const char* function, shmem_team_t handle, void* dest, const void* source, size_t nelems,
                  size_t element) noexcept {
  return block_call<fcollect>(function, handle, dest, source, nelems, element);
}

int alltoall_call(const char* function, shmem_team_t handle, void* dest, const void* source, size_t nelems,
                  size_t element) noexcept {
  return block_call<alltoall>(function, handle, dest, source, nelems, element);
}

}  // namespace railshmem
