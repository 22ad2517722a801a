// SPDX-License-Identifier: BSD-3-Clause
// The members of a team wait for each other.
#ifndef SHMEM_DEVICE_SYNC_H
#define SHMEM_DEVICE_SYNC_H

#include <stdint.h>

#include "shmem/device/members.h"
#include "shmem/device/order.h"
#include "shmem/device/scope.h"
#include "shmem/device/signal.h"

namespace railshmem {
namespace device {

/// Tells one member the number, after everything that this thread knows of: the caller has issued a release_fence().
RAILSHMEM_HD inline ChannelStatus announce(const WorldView& world, const Members& team, int to, uint64_t offset,
                                           uint64_t number) {
  const int pe = team.pe(to);
  if (team.mapped(pe)) {
    portable::store_fenced(team.theirs<uint64_t>(to, offset), number);
    return ChannelStatus::ok;
  }
  // A team's numbers take one channel, whichever blocks call: in two channels a later number could pass an earlier one.
  return signal_by(world, team.far(offset), number, SignalOp::set, pe, Payload::released, team.slot());
}

/// Waits until a word has the number or a larger one. Numbers only grow.
RAILSHMEM_HD RAILSHMEM_OUT_OF_LINE inline ChannelStatus await_number_long(const WorldView& world, const uint64_t* word,
                                                                          uint64_t number) {
  Waiter waiter(error_of(world), Deadline{world.timeout_ns});
  // acquire: pairs with the fence and store of announce(); without it what the other did before could look undone.
  while (portable::load_acquire(word) < number) {
    const ChannelStatus status = waiter.turn();
    if (status != ChannelStatus::ok) return status;
  }
  return ChannelStatus::ok;
}

/// await_number_long(), but a wait that ends soon takes no call.
RAILSHMEM_HD inline ChannelStatus await_number(const WorldView& world, const uint64_t* word, uint64_t number) {
  RAILSHMEM_NO_UNROLL
  for (int turn = 0; turn < kShortTurns; ++turn) {
    // acquire: pairs with the fence and store of announce(), as in await_number_long().
    if (portable::load_acquire(word) >= number) return ChannelStatus::ok;
  }
  return await_number_long(world, word, number);
}

/// Whether every team is one of few(): then next_sync() can issue the fence before it is known which team it is.
RAILSHMEM_HD inline bool fences_early(const WorldView& world) {
  return world.npes <= DeviceControlLayout::kFewPes;
}

/// Returns how many synchronisations the team in a slot has had, 0 for threads that tell nobody. Nothing here depends
/// on the team's row, and nothing looks at the count, so both are loaded while the fence runs. All threads of the scope
/// call this once before sync_as(), whether the handle turns out to be a team or not.
template <class Scope>
RAILSHMEM_HD inline uint64_t next_sync(const WorldView& world, uint32_t slot) {
  const bool speaks = Scope::rank() < static_cast<uint32_t>(DeviceControlLayout::kFewPes);
  const auto* const counters = reinterpret_cast<const TeamCounters*>(world.heap.mine + world.control +
                                                                     DeviceControlLayout(world.npes, 1).counters(slot));
  // relaxed: every thread reads before the scope meets, so that none reads what the leader writes after the meeting.
  const uint64_t before = speaks ? portable::load_relaxed(&counters->syncs) : 0;
  Scope::sync();
  if (speaks && fences_early(world)) portable::release_fence();
  return before;
}

/// Every member tells every other one, in one step. The threads of the scope share the other members among them.
template <class Scope>
RAILSHMEM_HD inline ChannelStatus sync_few(const WorldView& world, const Members& team, uint64_t number) {
  const auto n = static_cast<uint32_t>(team.size()), me = static_cast<uint32_t>(team.rank());
  ChannelStatus status = ChannelStatus::ok;
  if (Scope::rank() < n && !fences_early(world)) portable::release_fence();
  RAILSHMEM_NO_UNROLL
  for (uint32_t i = Scope::rank(); i < n; i += Scope::size()) {
    const int to = team.after(me, i);  // not all at one member first
    if (i == 0) continue;
    const ChannelStatus told = announce(world, team, to, team.layout().arrival(team.slot(), team.rank()), number);
    if (told != ChannelStatus::ok) status = told;
  }
  RAILSHMEM_NO_UNROLL
  for (uint32_t i = Scope::rank(); i < n && status == ChannelStatus::ok; i += Scope::size()) {
    const int from = team.after(me, i);
    if (i != 0) status = await_number(world, team.mine<uint64_t>(team.layout().arrival(team.slot(), from)), number);
  }
  return status;
}

/// Dissemination by one thread: after round r every member has heard of 2^(r+1) members.
RAILSHMEM_HD RAILSHMEM_OUT_OF_LINE inline ChannelStatus sync_many(const WorldView& world, TeamRow row,
                                                                  uint64_t number) {
  const Members team(world, row);
  int round = 0;
  for (int64_t step = 1; step < team.size(); step *= 2, ++round) {
    const uint64_t word = team.layout().arrival(team.slot(), round);
    const auto to = static_cast<int>((team.rank() + step) % team.size());
    portable::release_fence();
    ChannelStatus status = announce(world, team, to, word, number);
    if (status == ChannelStatus::ok) status = await_number(world, team.mine<uint64_t>(word), number);
    if (status != ChannelStatus::ok) return status;
  }
  return ChannelStatus::ok;
}

/// Synchronises the members: what the scope's threads stored or knew of before is visible to all members after. Waits
/// for no command. `before` is the result of next_sync().
template <class Scope>
RAILSHMEM_HD inline ChannelStatus sync_as(const WorldView& world, const Members& team, uint64_t before) {
  const uint64_t number = before + 1;
  ChannelStatus status = ChannelStatus::ok;
  if (team.few()) {
    status = sync_few<Scope>(world, team, number);
  } else if (Scope::leads()) {
    status = sync_many(world, team.row(), number);
  }
  // Stored after the others were told, so that no fence waits for this store.
  if (Scope::leads()) portable::store_relaxed(&team.counters()->syncs, number);
  Scope::sync();
  return status;
}

template <class Scope>
RAILSHMEM_HD inline ChannelStatus sync_team(const WorldView& world, const Members& team) {
  return sync_as<Scope>(world, team, next_sync<Scope>(world, team.slot()));
}

/// Completes this PE's operations first.
template <class Scope>
RAILSHMEM_HD inline ChannelStatus barrier_team(const WorldView& world, const Members& team) {
  ChannelStatus status = ChannelStatus::ok;
  if (world.nchannels != 0) {
    Scope::sync();
    if (Scope::leads()) status = wait_for_commands(world);
  }
  // Direct stores are complete for every PE that hears of this PE's arrival, by the fence before the announcement.
  const ChannelStatus met = sync_team<Scope>(world, team);
  return status == ChannelStatus::ok ? met : status;
}

}  // namespace device
}  // namespace railshmem

#endif
