// SPDX-License-Identifier: BSD-3-Clause
// How a call of the standard begins and ends in a kernel: its context becomes a peer, its failure a record.
#ifndef SHMEM_DEVICE_CALL_H
#define SHMEM_DEVICE_CALL_H

#include <stdint.h>

#include "shmem/device/issue.h"
#include "shmem/device/view.h"
#include "shmem/types.h"

namespace railshmem {
namespace device {

/// Writes the record, if it is the first failure since the host last looked.
RAILSHMEM_HD RAILSHMEM_OUT_OF_LINE inline void record_fault(const WorldView& world, DeviceCall call,
                                                            ChannelStatus status, int pe, const void* address) {
  if (world.fault == nullptr || world.fault_taken == nullptr || !portable::take(world.fault_taken)) return;
  FaultRecord& record = *world.fault;
  record.status = static_cast<uint64_t>(status);
  record.address = address_of(address);
  record.clock_ns = portable::clock_ns();
  record.pe = pe;
  record.call = call;
  record.block = threads::block_in_grid();
  record.thread = threads::rank_in_block();
  // release: pairs with the host's acquire; without it `ready` could be there before what it stands for.
  portable::store_release(&record.ready, 1);
}

/// The end of a call that returns nothing.
RAILSHMEM_HD inline void finish(const WorldView& world, DeviceCall call, ChannelStatus status, int pe,
                                const void* address) {
  if (status != ChannelStatus::ok) record_fault(world, call, status, pe, address);
}

/// The row of a context other than the default one, or null.
RAILSHMEM_HD inline const ContextRow* context_row(const WorldView& world, shmem_ctx_t ctx) {
  const auto handle = reinterpret_cast<uintptr_t>(ctx);
  const uint64_t place = (handle & ((uint64_t{1} << kContextPlaceBits) - 1)) - 2;
  if (place >= world.ncontexts || world.contexts[place].handle != handle) return nullptr;
  return world.contexts + place;
}

/// Which area of the control memory a team has, if the handle is one. No load.
RAILSHMEM_HD inline uint64_t slot_of(shmem_team_t team) {
  const auto handle = reinterpret_cast<uintptr_t>(team);
  return team == SHMEM_TEAM_WORLD ? 0 : (handle & ((uint64_t{1} << kTeamSlotBits) - 1)) - 1;
}

/// What the table has for a handle, whether it is that team's row or not. Loads the whole row in one trip; a caller
/// that does not look at the row yet does not wait for it.
RAILSHMEM_HD inline TeamRow row_at(const WorldView& world, shmem_team_t team) {
  const auto handle = reinterpret_cast<uintptr_t>(team);
  if (team == SHMEM_TEAM_WORLD) return {handle, 0, 1, world.npes, world.pe, nullptr, 0, 0};
  const uint64_t slot = slot_of(team);
  return slot < world.nteams ? world.teams[slot] : TeamRow{};
}
RAILSHMEM_HD inline TeamRow checked_row(const TeamRow& row, shmem_team_t team) {
  return row.handle == reinterpret_cast<uintptr_t>(team) ? row : TeamRow{};
}

/// The team of a handle; a team without PEs where the handle is invalid.
RAILSHMEM_HD inline TeamRow team_of(const WorldView& world, shmem_team_t team) {
  return checked_row(row_at(world, team), team);
}

/// The target that `pe` means in a call on `ctx`. A PE of -1 stands for none: operations on it fail as bad_pe.
RAILSHMEM_HD RAILSHMEM_OUT_OF_LINE inline Peer peer_on(const WorldView& world, shmem_ctx_t ctx, int pe) {
  Peer peer(-1);
  const ContextRow* const row = context_row(world, ctx);
  if (row == nullptr) return peer;
  peer.context = row->number;
  peer.direct_atomics = row->direct_atomics != 0;
  peer.published = row->published != 0;
  if (row->team == 1) {
    peer.pe = pe;
    return peer;
  }
  const TeamRow team = team_of(world, reinterpret_cast<shmem_team_t>(row->team));
  if (static_cast<uint32_t>(pe) < static_cast<uint32_t>(team.size)) peer.pe = world_pe(team, pe);
  return peer;
}

RAILSHMEM_HD inline Peer peer_of(const WorldView& world, shmem_ctx_t ctx, int pe) {
  return ctx == SHMEM_CTX_DEFAULT ? Peer(pe) : peer_on(world, ctx, pe);
}

/// Number of the context for fences. -1, the default context's, also for a handle that is no context: more order does
/// no harm.
RAILSHMEM_HD inline int32_t context_number(const WorldView& world, shmem_ctx_t ctx) {
  if (ctx == SHMEM_CTX_DEFAULT) return -1;
  const ContextRow* const row = context_row(world, ctx);
  return row == nullptr ? -1 : row->number;
}

}  // namespace device
}  // namespace railshmem

#endif
