// SPDX-License-Identifier: BSD-3-Clause
// The two protocols of flags behind which collectives move data. Neither needs a synchronisation between two calls.
//
// Full exchange: every member hears from every other before it returns. Exchanges use two sets of lines in turn, so a
// member that is one exchange ahead touches no line that a slower member still reads. No member is two exchanges ahead:
// it would have to hear from the slower member in between. Messages of exchange n cannot overtake those of exchange
// n - 2, which all members have received by then. So nobody waits for acknowledgements.
//
// Arrival: only some members hear from some, and a sender may be far ahead. The flag of a sender counts collectives,
// and a receiver waits for a number or a higher one. The protocol needs two things. First, a later flag must never be
// seen before earlier data: true for stores on a node, made true over the network by begin_arrival(). Second, only one
// member may write a flag: a member that passes data on uses the `passed` lines.
#pragma once

#include "src/collective/link.h"
#include "src/plugin/network.h"
#include "src/rma/copy_batch.h"

namespace railshmem {

/// The network copies data up to this size when it is sent; longer data must stay until settle().
inline constexpr size_t kCopiedBytes = 4096;

/// The number of a new full exchange.
inline uint64_t begin_exchange(Team& team) noexcept {
  team.enter();
  return ++team.exchanges;
}

/// The number of a new collective with arrival flags. On return all earlier sends of this PE are at their targets.
inline uint64_t begin_arrival(Team& team) noexcept {
  team.enter();
  if (team.context.net) settle(team);
  return ++team.arrivals;
}

/// Sets a flag of a member on this node, by its index in nodes.members, behind the stores so far.
inline void raise_here(Team& team, int index, size_t at, uint64_t number) noexcept {
  // release: pairs with reached().
  __atomic_store_n(reinterpret_cast<uint64_t*>(team.here(index, at)), number, __ATOMIC_RELEASE);
}

/// A push() whose source is free at once where nbytes <= kCopiedBytes; the caller must settle() after longer ones.
inline void deliver(Team& team, const char* function, int to, void* dest, const void* source, size_t nbytes, size_t at,
                    uint64_t number) noexcept {
  if (nbytes > kCopiedBytes) return push(team, function, to, dest, source, nbytes, at, number);
  push_copied(team, function, to, dest, source, nbytes, at, number);
}

/// The end of a collective that sent blocks of nbytes: their sources may be reused.
inline void finish_sends(Team& team, size_t nbytes) noexcept {
  if (nbytes > kCopiedBytes && team.context.net) settle(team);
}

/// Ranks after and before `rank` in a circle: every member starts with a partner of its own.
inline int ahead(const Team& team, int rank, int distance) noexcept {
  const int to = rank + distance;
  return to < team.size() ? to : to - team.size();
}
inline int behind(const Team& team, int rank, int distance) noexcept {
  const int from = rank - distance;
  return from >= 0 ? from : from + team.size();
}

/// Sets this PE's line of a full exchange in the area of every other member; all are on this node.
inline void raise_everywhere(Team& team, uint64_t number) noexcept {
  for (int i = 1; i < team.size(); ++i)
    raise_here(team, ahead(team, team.rank, i), team.area.exchange(number, team.rank), number);
}

/// Waits until every other member's line of a full exchange is here.
inline void await_exchange(Team& team, const char* function, uint64_t number) noexcept {
  for (int i = 1; i < team.size(); ++i) {
    const int from = behind(team, team.rank, i);
    await(team, function, from, team.area.exchange(number, from), number);
  }
}

/// A full exchange on one node in which every member writes to all others: `give(copies, to)` copies this PE's data to
/// member `to`. Copy engines have all copies under way at once, so flags are raised only after the last copy.
template <class Give, class KeepOwn>
void exchange_by_push(Team& team, const char* function, Give&& give, KeepOwn&& keep_own) noexcept {
  const uint64_t number = begin_exchange(team);
  CopyBatch copies(team.state.device);
  for (int i = 1; i < team.size(); ++i) {
    const int to = ahead(team, team.rank, i);
    give(copies, to);
    if (!copies.waits()) raise_here(team, to, team.area.exchange(number, team.rank), number);
  }
  keep_own(copies);
  copies.finish();
  if (copies.waits()) raise_everywhere(team, number);
  await_exchange(team, function, number);
}

/// A full exchange on one node in which every member reads from all others: `take(copies, from)` copies the data of
/// member `from` here once that member has entered. Returns when all have read, so that the sources are free.
template <class Take, class KeepOwn>
void exchange_by_pull(Team& team, const char* function, Take&& take, KeepOwn&& keep_own) noexcept {
  const uint64_t entered = begin_exchange(team);
  CopyBatch copies(team.state.device);
  raise_everywhere(team, entered);
  keep_own(copies);
  for (int i = 1; i < team.size(); ++i) {
    const int from = behind(team, team.rank, i);
    await(team, function, from, team.area.exchange(entered, from), entered);
    take(copies, from);
  }
  copies.finish();
  const uint64_t copied = begin_exchange(team);
  raise_everywhere(team, copied);
  await_exchange(team, function, copied);
}

}  // namespace railshmem
