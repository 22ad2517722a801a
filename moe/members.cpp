// SPDX-License-Identifier: BSD-3-Clause
#include "moe/members.h"

#include "overlap/driver.h"
#include "src/base/error.h"

namespace railshmem::moe {

void check_team(shmem_team_t team) {
  if (shmem_team_n_pes(team) < 1)
    throw Error(text("team %ld does not exist on this PE", static_cast<long>(reinterpret_cast<intptr_t>(team))));
}

shmemx_topology_t place_of(shmem_team_t team) {
  check_team(team);
  const int n = shmem_team_n_pes(team);
  if (n > kMostMembers) throw Error(text("the team has %d members; it may have %d", n, kMostMembers));
  shmemx_topology_t where{};
  where.size = sizeof where;
  if (shmemx_topology_get(team, &where) != 0) throw Error("the team's nodes are not known");
  if (n > 1 && where.mapped == 0)
    throw Error(
        "the GPUs of the team's members do not map each other's memory, which this library needs; it is for "
        "GPUs with NVLink or peer access");
  return where;
}

Members members_of(shmem_team_t team, const Shape& shape, void* workspace, size_t nbytes, uint64_t needed,
                   const char* function) {
  if (workspace == nullptr || nbytes < needed)
    throw Error(text("workspace %p has %zu bytes; this configuration needs %llu (%s), of shmem_malloc", workspace,
                     nbytes, static_cast<unsigned long long>(needed), function));
  if (reinterpret_cast<uintptr_t>(workspace) % kUnit != 0)
    throw Error(
        text("workspace %p does not begin at a multiple of 16 bytes; allocate it with shmem_malloc", workspace));
  if (shmem_addr_accessible(workspace, shmem_my_pe()) == 0)
    throw Error(text("workspace %p is no symmetric memory; allocate it with shmem_malloc", workspace));
  Members members{};
  members.shape = shape;
  members.me = shmem_team_my_pe(team);
  const bool one_node = place_of(team).nnodes == 1;
  for (int k = 0; k < shape.n; ++k) {
    members.pe[k] = shmem_team_translate_pe(team, k, SHMEM_TEAM_WORLD);
    void* const there = k == members.me ? workspace : shmem_ptr(workspace, members.pe[k]);
    if (there == nullptr && one_node)
      throw Error(
          text("workspace %p is not mapped from PE %d; allocate it with shmem_malloc", workspace, members.pe[k]));
    members.memory[k] = static_cast<unsigned char*>(there);
  }
  return members;
}

void clear_words(void* workspace, uint64_t nbytes) {
  overlap::must(overlap::driver().fill_async(overlap::address_of(workspace), 0, nbytes, nullptr), "cuMemsetD8Async");
  overlap::must(overlap::driver().stream_synchronize(nullptr), "cuStreamSynchronize");
}

}  // namespace railshmem::moe
