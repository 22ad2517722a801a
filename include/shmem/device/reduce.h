// SPDX-License-Identifier: BSD-3-Clause
// Reductions of kernels. Operands meet in the order of ranks on every path, so all PEs get the same bits.
#ifndef SHMEM_DEVICE_REDUCE_H
#define SHMEM_DEVICE_REDUCE_H

#include <stdint.h>

#include "shmem/detail/operators.h"
#include "shmem/device/collective.h"
#include "shmem/device/slice.h"

namespace railshmem {
namespace device {

/// Elements of T in a word of 8 bytes.
template <class T, class Op>
RAILSHMEM_HD inline uint64_t combine_words(uint64_t a, uint64_t b) {
  constexpr int kCount = 8 / sizeof(T);
  T left[kCount], right[kCount];
  __builtin_memcpy(left, &a, 8);
  __builtin_memcpy(right, &b, 8);
  RAILSHMEM_UNROLL
  for (int i = 0; i < kCount; ++i) left[i] = Op::of(left[i], right[i]);
  uint64_t out;
  __builtin_memcpy(&out, left, 8);
  return out;
}

/// Everybody gets everybody's operands as packets.
template <class T, class Op, class Scope>
RAILSHMEM_HD inline ChannelStatus reduce_packets(const WorldView& world, const Members& team, T* dest, const T* source,
                                                 uint64_t nbytes) {
  Exchange<Scope> exchange(world, team);
  const auto n = static_cast<uint32_t>(team.size()), me = static_cast<uint32_t>(team.rank());
  const auto words = static_cast<uint32_t>((nbytes + 7) / 8);
  RAILSHMEM_NO_UNROLL
  for (Deal deal(Scope::rank(), Scope::size(), words); deal.step < n; deal.next()) {
    const auto to = static_cast<uint32_t>(team.after(me, deal.step));
    if (to != me) exchange.send(static_cast<int>(to), deal.word, word_of(source, deal.word, nbytes));
  }
  Scope::sync();  // dest may be source
  RAILSHMEM_NO_UNROLL
  for (uint32_t k = Scope::rank(); k < words; k += Scope::size()) {
    uint64_t sum = 0;
    RAILSHMEM_NO_UNROLL
    for (uint32_t i = 0; i < n; ++i) {
      const uint64_t word = i == me ? word_of(source, k, nbytes) : exchange.receive(static_cast<int>(i), k);
      sum = i == 0 ? word : combine_words<T, Op>(sum, word);
    }
    set_word(dest, k, nbytes, sum);
  }
  return exchange.close(Heard::all);
}

/// Each member computes a slice, from the sources of all into the dests of all.
template <class T, class Op, class Scope>
RAILSHMEM_HD inline ChannelStatus reduce_slices(const WorldView& world, const Members& team,
                                                const MappedArrays<T>& dests, const MappedArrays<T>& sources,
                                                uint64_t nelems) {
  const ChannelStatus ready = sync_team<Scope>(world, team);  // sources are
  slice_share<T, Op>(Scope::rank(), Scope::size(), dests, sources, nelems);
  const ChannelStatus met = sync_team<Scope>(world, team);
  return ready == ChannelStatus::ok ? met : ready;
}

/// Piece by piece through the room that each member has for the others' operands.
template <class T, class Op, class Scope>
RAILSHMEM_HD RAILSHMEM_OUT_OF_LINE inline ChannelStatus reduce_far(const WorldView& world, TeamRow row, T* dest,
                                                                   const T* source, uint64_t nelems) {
  const Members team(world, row);
  constexpr uint64_t kPiece = DeviceControlLayout::kPacketBytes / sizeof(T);
  for (uint64_t done = 0; done < nelems; done += kPiece) {
    const uint64_t count = nelems - done < kPiece ? nelems - done : kPiece;
    // Two halves in turn: who is at the next piece has met everybody after they used the last but one.
    const uint64_t number = portable::load_relaxed(&team.counters()->syncs) + 1;
    const auto room = [&](int rank) { return team.mine<T>(team.layout().room(team.slot(), number, rank)); };
    const Share share{count * sizeof(T), 0, 0};
    const ChannelStatus put = put_each<Scope>(world, team, room(team.rank()), source + done, share);
    const ChannelStatus status = settle<Scope>(world, team, put);
    if (status != ChannelStatus::ok) return status;
    for (uint64_t e = Scope::rank(); e < count; e += Scope::size()) {
      T sum = room(0)[e];
      for (int i = 1; i < team.size(); ++i) sum = Op::of(sum, room(i)[e]);
      dest[done + e] = sum;
    }
    Scope::sync();
  }
  return ChannelStatus::ok;
}

template <class T, class Op, class Scope>
RAILSHMEM_HD inline ChannelStatus reduce(const WorldView& world, const Members& team, T* dest, const T* source,
                                         uint64_t nelems) {
  if (nelems == 0) return ChannelStatus::ok;
  if (fits_packets(team, nelems * sizeof(T))) {
    return reduce_packets<T, Op, Scope>(world, team, dest, source, nelems * sizeof(T));
  }
  const HeapPlace to = locate(world, dest, team.pe(0)), from = locate(world, source, team.pe(0));
  if (to.heap == nullptr || from.heap == nullptr) return ChannelStatus::bad_address;
  if (!team.near() || to.here == nullptr || from.here == nullptr) {
    return reduce_far<T, Op, Scope>(world, team.row(), dest, source, nelems);
  }
  const MappedArrays<T> dests(world, team.row(), to), sources(world, team.row(), from);
  return reduce_slices<T, Op, Scope>(world, team, dests, sources, nelems);
}

}  // namespace device
}  // namespace railshmem

#endif
