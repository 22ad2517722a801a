// SPDX-License-Identifier: BSD-3-Clause
// Collectives of kernels that move data. Small blocks among mapped members travel as packets; everything else is put
// to its place, completed, and followed by one synchronisation.
#ifndef SHMEM_DEVICE_COLLECTIVE_H
#define SHMEM_DEVICE_COLLECTIVE_H

#include <stdint.h>

#include <type_traits>

#include "shmem/device/packets.h"
#include "shmem/device/spread.h"
#include "shmem/device/strided.h"

namespace railshmem {
namespace device {

RAILSHMEM_HD inline unsigned char* at(void* block, uint64_t offset) {
  return static_cast<unsigned char*>(block) + offset;
}
RAILSHMEM_HD inline const unsigned char* at(const void* block, uint64_t offset) {
  return static_cast<const unsigned char*>(block) + offset;
}

/// Called after puts to members: returns when the puts of all members have arrived.
template <class Scope>
RAILSHMEM_HD inline ChannelStatus settle(const WorldView& world, const Members& team, ChannelStatus status) {
  const ChannelStatus met = barrier_team<Scope>(world, team);
  return status == ChannelStatus::ok ? met : status;
}

/// What one member sends: `nbytes` to each member, to offset `to` of dest, from i * from_step of source for member i.
struct Share {
  uint64_t nbytes;
  uint64_t to;         ///< in the dest of every other member
  uint64_t from_step;  ///< 0: all members get one block; else member i gets what is i steps into source
};

/// One put to each member.
template <class Scope>
RAILSHMEM_HD inline ChannelStatus put_each(const WorldView& world, const Members& team, void* dest, const void* source,
                                           const Share& share) {
  ChannelStatus status = ChannelStatus::ok;
  int to = team.rank();  // each member begins with itself, lest all put to one member first
  RAILSHMEM_NO_UNROLL
  for (int i = 0; i < team.size(); ++i) {
    const void* const from = at(source, static_cast<uint64_t>(to) * share.from_step);
    const ChannelStatus put =
        putmem<Scope>(world, at(dest, share.to), from, share.nbytes, team.pe(to), Completion::later);
    if (put != ChannelStatus::ok) status = put;
    to = to + 1 == team.size() ? 0 : to + 1;
  }
  return status;
}

/// A put of `nbytes` to each member, as the arguments of put_to_all().
struct ToAll {
  TeamRow row;
  void* dest;
  const void* source;
  uint64_t nbytes;
  uint64_t from_step;  ///< 0: all members get one block; else member i gets what is i steps into source
};

/// Sends where spread() cannot: some members are far, or dest and source are not aligned alike. The arguments stay in
/// memory and few calls are below this function, because a block of 1024 threads has 64 registers for each.
template <class Scope>
RAILSHMEM_HD RAILSHMEM_OUT_OF_LINE inline ChannelStatus put_to_all(const WorldView& world, const ToAll& job) {
  ChannelStatus status = ChannelStatus::ok;
  RAILSHMEM_NO_UNROLL
  for (int i = 0; i < job.row.size; ++i) {
    const int step = i + job.row.rank, rank = step < job.row.size ? step : step - job.row.size;
    const int pe = world_pe(job.row, rank);
    const void* const source = at(job.source, static_cast<uint64_t>(rank) * job.from_step);
    const HeapPlace place = locate(world, job.dest, pe);
    ChannelStatus put = check_range(world, place, job.nbytes, pe);
    if (put == ChannelStatus::ok && place.here != nullptr) {
      if constexpr (std::is_same<Scope, ThreadScope>::value) {
        copy_any_bytes(place.here, source, job.nbytes);
      } else {
        copy_together<1>(Scope::rank(), Scope::size(), place.here, source, job.nbytes);
      }
    } else if (put == ChannelStatus::ok && Scope::leads()) {
      put = put_far(world, place, source, job.nbytes, pe, Payload::written, Completion::later);
    }
    if (put != ChannelStatus::ok) status = put;
  }
  return status;
}

template <class Scope>
RAILSHMEM_HD inline ChannelStatus put_shares(const WorldView& world, const Members& team, void* dest,
                                             const void* source, const Share& share) {
  ChannelStatus status = ChannelStatus::ok;
  if (share.from_step != 0) {
    status = put_each<Scope>(world, team, dest, source, share);
  } else if (!spread<Scope>(world, team, at(dest, share.to), source, share.nbytes)) {
    const ToAll job{team.row(), at(dest, share.to), source, share.nbytes, 0};
    status = put_to_all<Scope>(world, job);
  }
  return settle<Scope>(world, team, status);
}

/// exchange_blocks() by one thread, with several packets at a time; blocks are whole words.
RAILSHMEM_HD RAILSHMEM_OUT_OF_LINE inline ChannelStatus exchange_words(const WorldView& world, TeamRow row, void* dest,
                                                                       const void* source, uint32_t words,
                                                                       uint64_t from_step) {
  const Members team(world, row);
  Exchange<ThreadScope> exchange(world, team);
  const auto n = static_cast<uint32_t>(team.size()), me = static_cast<uint32_t>(team.rank());
  RAILSHMEM_NO_UNROLL
  for (uint32_t step = 1; step < n; ++step) exchange.await_room(team.after(me, step));
  Batch batch;
  RAILSHMEM_NO_UNROLL
  for (uint32_t k = 0; k < words; k += Batch::kMost) {
    const uint32_t count = Batch::at(k, words);
    RAILSHMEM_NO_UNROLL
    for (uint32_t step = 0; step < n; ++step) {
      const int to = team.after(me, step);
      if (step == 0 || from_step != 0) batch.load(at(source, static_cast<uint32_t>(to) * from_step), k, count);
      if (step == 0) {
        batch.store(dest, me * words + k, count);
      } else {
        exchange.send(to, k, count, batch);
      }
    }
  }
  RAILSHMEM_NO_UNROLL
  for (uint32_t step = 1; step < n; ++step) {
    const int from = team.after(me, step);
    RAILSHMEM_NO_UNROLL
    for (uint32_t k = 0; k < words; k += Batch::kMost) {
      const uint32_t count = Batch::at(k, words);
      exchange.receive(from, k, count, batch);
      batch.store(dest, static_cast<uint32_t>(from) * words + k, count);
    }
  }
  return exchange.close(Heard::all);
}

/// Exchanges blocks of `nbytes` by packets; the block of member i goes to i * nbytes of dest.
template <class Scope>
RAILSHMEM_HD inline ChannelStatus exchange_blocks(const WorldView& world, const Members& team, void* dest,
                                                  const void* source, uint64_t nbytes, uint64_t from_step) {
  if constexpr (std::is_same<Scope, ThreadScope>::value) {
    if (whole_words(dest, source, nbytes))
      return exchange_words(world, team.row(), dest, source, static_cast<uint32_t>(nbytes / 8), from_step);
  }
  Exchange<Scope> exchange(world, team);
  const auto n = static_cast<uint32_t>(team.size()), me = static_cast<uint32_t>(team.rank());
  const auto words = static_cast<uint32_t>((nbytes + 7) / 8);
  RAILSHMEM_NO_UNROLL
  for (Deal deal(Scope::rank(), Scope::size(), words); deal.step < n; deal.next()) {
    const auto to = static_cast<uint32_t>(team.after(me, deal.step));
    const uint64_t word = word_of(at(source, to * from_step), deal.word, nbytes);
    if (to == me) {
      set_word(at(dest, me * nbytes), deal.word, nbytes, word);
    } else {
      exchange.send(static_cast<int>(to), deal.word, word);
    }
  }
  RAILSHMEM_NO_UNROLL
  for (Deal deal(Scope::rank(), Scope::size(), words); deal.step < n; deal.next()) {
    const auto from = static_cast<uint32_t>(team.after(me, deal.step));
    if (from == me) continue;
    set_word(at(dest, from * nbytes), deal.word, nbytes, exchange.receive(static_cast<int>(from), deal.word));
  }
  return exchange.close(Heard::all);
}

/// All members must get one answer. `most` depends on the scope, so all members call in scopes of one kind.
RAILSHMEM_HD inline bool fits_packets(const Members& team, uint64_t nbytes, uint64_t most) {
  return team.packets() && nbytes <= most;
}

template <class Scope>
RAILSHMEM_HD inline ChannelStatus fcollect(const WorldView& world, const Members& team, void* dest, const void* source,
                                           uint64_t nbytes) {
  if (nbytes == 0) return ChannelStatus::ok;
  if (fits_packets(team, nbytes, Scope::kPacketBytes))
    return exchange_blocks<Scope>(world, team, dest, source, nbytes, 0);
  return put_shares<Scope>(world, team, dest, source, {nbytes, static_cast<uint64_t>(team.rank()) * nbytes, 0});
}

template <class Scope>
RAILSHMEM_HD inline ChannelStatus alltoall(const WorldView& world, const Members& team, void* dest, const void* source,
                                           uint64_t nbytes) {
  if (nbytes == 0) return ChannelStatus::ok;
  if (fits_packets(team, nbytes, Scope::kPacketBytes))
    return exchange_blocks<Scope>(world, team, dest, source, nbytes, nbytes);
  return put_shares<Scope>(world, team, dest, source, {nbytes, static_cast<uint64_t>(team.rank()) * nbytes, nbytes});
}

/// A broadcast by packets, by one thread, with several packets at a time; blocks are whole words.
RAILSHMEM_HD RAILSHMEM_OUT_OF_LINE inline ChannelStatus broadcast_words(const WorldView& world, TeamRow row, void* dest,
                                                                        const void* source, uint32_t words, int root) {
  const Members team(world, row);
  Exchange<ThreadScope> exchange(world, team);
  const auto n = static_cast<uint32_t>(team.size()), first = static_cast<uint32_t>(root);
  const bool gives = team.rank() == root;
  RAILSHMEM_NO_UNROLL
  for (uint32_t step = 1; gives && step < n; ++step) exchange.await_room(team.after(first, step));
  Batch batch;
  RAILSHMEM_NO_UNROLL
  for (uint32_t k = 0; k < words; k += Batch::kMost) {
    const uint32_t count = Batch::at(k, words);
    if (gives) {
      batch.load(source, k, count);
    } else {
      exchange.receive(root, k, count, batch);
    }
    RAILSHMEM_NO_UNROLL
    for (uint32_t step = 1; gives && step < n; ++step) exchange.send(team.after(first, step), k, count, batch);
    batch.store(dest, k, count);
  }
  return exchange.close(Heard::not_all);
}

template <class Scope>
RAILSHMEM_HD inline ChannelStatus broadcast(const WorldView& world, const Members& team, void* dest, const void* source,
                                            uint64_t nbytes, int root) {
  if (nbytes == 0) return ChannelStatus::ok;
  if (static_cast<uint32_t>(root) >= static_cast<uint32_t>(team.size())) return ChannelStatus::bad_pe;
  if (!fits_packets(team, nbytes, Scope::kPacketBytes)) {
    const bool mine = team.rank() == root;
    return mine ? put_shares<Scope>(world, team, dest, source, {nbytes, 0, 0})
                : settle<Scope>(world, team, ChannelStatus::ok);
  }
  if constexpr (std::is_same<Scope, ThreadScope>::value) {
    if (whole_words(dest, source, nbytes))
      return broadcast_words(world, team.row(), dest, source, static_cast<uint32_t>(nbytes / 8), root);
  }
  Exchange<Scope> exchange(world, team);
  const auto words = static_cast<uint32_t>((nbytes + 7) / 8);
  if (team.rank() == root) {
    const auto n = static_cast<uint32_t>(team.size());
    RAILSHMEM_NO_UNROLL
    for (Deal deal(Scope::rank(), Scope::size(), words); deal.step < n; deal.next()) {
      const auto to = static_cast<int>(deal.step);
      const uint64_t word = word_of(source, deal.word, nbytes);
      if (to == root) {
        set_word(dest, deal.word, nbytes, word);
      } else {
        exchange.send(to, deal.word, word);
      }
    }
  } else {
    for (uint32_t k = Scope::rank(); k < words; k += Scope::size())
      set_word(dest, k, nbytes, exchange.receive(root, k));
  }
  return exchange.close(Heard::not_all);
}

/// Collects blocks of as many bytes as each member likes, one behind the other.
template <class Scope>
RAILSHMEM_HD inline ChannelStatus collect(const WorldView& world, const Members& team, void* dest, const void* source,
                                          uint64_t nbytes) {
  // The sizes first, into the room of each member; the number of the next synchronisation says which half of it.
  const uint64_t number = portable::load_relaxed(&team.counters()->syncs) + 1;
  const auto room = [&](int rank) { return team.mine<uint64_t>(team.layout().room(team.slot(), number, rank)); };
  ChannelStatus status = ChannelStatus::ok;
  Scope::sync();
  for (uint32_t i = Scope::rank(); i < static_cast<uint32_t>(team.size()); i += Scope::size()) {
    const ChannelStatus put = p(world, room(team.rank()), nbytes, team.pe(static_cast<int>(i)));
    if (put != ChannelStatus::ok) status = put;
  }
  status = settle<Scope>(world, team, status);
  uint64_t before = 0;
  for (int i = 0; i < team.rank(); ++i) before += *room(i);
  const ChannelStatus put = put_shares<Scope>(world, team, dest, source, {nbytes, before, 0});
  return status == ChannelStatus::ok ? put : status;
}

/// Exchanges blocks of spaced elements.
template <class Scope>
RAILSHMEM_HD inline ChannelStatus alltoalls(const WorldView& world, const Members& team, void* dest, const void* source,
                                            const Spacing& s) {
  if (s.nblocks == 0) return ChannelStatus::ok;
  ChannelStatus status = ChannelStatus::ok;
  for (int i = 0; i < team.size(); ++i) {
    const int to = (team.rank() + i) % team.size();
    const uint64_t into = static_cast<uint64_t>(team.rank()) * s.nblocks * static_cast<uint64_t>(s.to);
    const uint64_t from = static_cast<uint64_t>(to) * s.nblocks * static_cast<uint64_t>(s.from);
    const ChannelStatus put = ibput<Scope>(world, at(dest, into), at(source, from), s, team.pe(to));
    if (put != ChannelStatus::ok) status = put;
  }
  return settle<Scope>(world, team, status);
}

}  // namespace device
}  // namespace railshmem

#endif
