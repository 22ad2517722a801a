// SPDX-License-Identifier: BSD-3-Clause
// Teams and contexts as kernels see them: rows of tables that the host fills before it hands out a handle.
#ifndef SHMEM_DETAIL_TEAM_H
#define SHMEM_DETAIL_TEAM_H

#include <stdint.h>

#include <type_traits>

#include "shmem/detail/portable.h"

namespace railshmem {

/// Row of a team, at the handle's low kTeamSlotBits minus one. PEs start, start + stride, ... of the world or, with a
/// table, of that ascending list of PEs.
struct TeamRow {
  uint64_t handle = 0;  ///< the whole handle; another one means that the caller's team is gone; 0: the row is free
  int32_t start = 0;
  int32_t stride = 1;
  int32_t size = 0;
  int32_t rank = -1;  ///< of this PE
  const int32_t* table = nullptr;
  int32_t table_size = 0;
  uint32_t slot = 0;  ///< which area of the control memory (device_control.h)
};

/// Row of a context, at the handle's low kContextPlaceBits minus two.
struct ContextRow {
  uint64_t handle = 0;
  uint64_t team = 1;           ///< handle of the team whose numbers its calls use; 1 is the world
  uint16_t number = 0;         ///< of its commands
  uint8_t direct_atomics = 0;  ///< declared: words updated through it are updated inside the node only
  uint8_t published = 0;       ///< declared: memory of this PE that its calls name was published before
  uint8_t reserved[4] = {};
};
static_assert(sizeof(TeamRow) == 40 && sizeof(ContextRow) == 24, "tables written by the host");
static_assert(std::is_trivially_copyable<TeamRow>::value && std::is_trivially_copyable<ContextRow>::value, "");

inline constexpr int kTeamSlotBits = 24, kContextPlaceBits = 20;

/// World PE of a rank in [0, size).
RAILSHMEM_HD inline int world_pe(const TeamRow& team, int rank) {
  const int index = team.start + rank * team.stride;
  return team.table != nullptr ? team.table[index] : index;
}

/// Rank of a world PE, or -1.
RAILSHMEM_HD inline int rank_of(const TeamRow& team, int pe) {
  int index = pe;
  if (team.table != nullptr) {
    int low = 0, high = team.table_size;
    while (low < high) {
      const int middle = low + (high - low) / 2;
      if (team.table[middle] < pe) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    if (low == team.table_size || team.table[low] != pe) return -1;
    index = low;
  }
  const int distance = index - team.start;
  if (team.stride == 0 || distance % team.stride != 0) return distance == 0 && team.size > 0 ? 0 : -1;
  const int rank = distance / team.stride;
  return rank >= 0 && rank < team.size ? rank : -1;
}

}  // namespace railshmem

#endif
