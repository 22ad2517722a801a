// SPDX-License-Identifier: BSD-3-Clause
// Questions of shmem/setup.h, team.h and context.h in a kernel.
#ifndef SHMEM_DEVICE_CALLS_QUERY_H
#define SHMEM_DEVICE_CALLS_QUERY_H

#include "shmem/device/calls/define.h"

#if defined(RAILSHMEM_KERNEL_NAMES)

namespace railshmem {
namespace device {

RAILSHMEM_KERNEL inline void* mapped_object(const void* dest, int pe) {
  const WorldView& world = this_world();
  if (static_cast<uint32_t>(pe) >= static_cast<uint32_t>(world.npes)) return nullptr;
  return locate(world, dest, pe).here;
}

RAILSHMEM_KERNEL inline int team_rank(shmem_team_t team) {
  return team_of(this_world(), team).rank;
}

RAILSHMEM_KERNEL inline int team_size(shmem_team_t team) {
  const int size = team_of(this_world(), team).size;
  return size > 0 ? size : -1;
}

RAILSHMEM_KERNEL inline int translate(shmem_team_t from, int pe, shmem_team_t to) {
  const WorldView& world = this_world();
  const TeamRow source = team_of(world, from);
  if (static_cast<uint32_t>(pe) >= static_cast<uint32_t>(source.size)) return -1;
  return rank_of(team_of(world, to), world_pe(source, pe));
}

RAILSHMEM_KERNEL inline void* mapped_of_team(shmem_team_t team, const void* dest, int pe) {
  const TeamRow row = team_of(this_world(), team);
  return static_cast<uint32_t>(pe) < static_cast<uint32_t>(row.size) ? mapped_object(dest, world_pe(row, pe)) : nullptr;
}

RAILSHMEM_KERNEL inline int team_of_context(shmem_ctx_t ctx, shmem_team_t* team) {
  *team = SHMEM_TEAM_INVALID;
  if (ctx == SHMEM_CTX_DEFAULT) {
    *team = SHMEM_TEAM_WORLD;
    return 0;
  }
  const ContextRow* const row = context_row(this_world(), ctx);
  if (row == nullptr) return -1;
  *team = reinterpret_cast<shmem_team_t>(row->team);
  return 0;
}

RAILSHMEM_KERNEL inline void version_of_standard(int* major, int* minor) {
  *major = SHMEM_MAJOR_VERSION;
  *minor = SHMEM_MINOR_VERSION;
}

RAILSHMEM_KERNEL inline void vendor_name(char* name) {
  const char* const vendor = SHMEM_VENDOR_STRING;
  int i = 0;
  for (; i < SHMEM_MAX_NAME_LEN - 1 && vendor[i] != '\0'; ++i) name[i] = vendor[i];
  name[i] = '\0';
}

RAILSHMEM_KERNEL inline int is_pe(int pe) {
  return static_cast<uint32_t>(pe) < static_cast<uint32_t>(this_world().npes) ? 1 : 0;
}

RAILSHMEM_KERNEL inline int is_symmetric(const void* addr, int pe) {
  return is_pe(pe) != 0 && locate(this_world(), addr, pe).heap != nullptr ? 1 : 0;
}

}  // namespace device
}  // namespace railshmem

#endif

#endif
