// SPDX-License-Identifier: BSD-3-Clause
// Reductions of kernels. Operands meet in the order of ranks on every path, so the bits of a result are equal on all
// PEs.
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

/// reduce_packets() by one thread, with several packets at a time; blocks are whole words.
template <class T, class Op>
RAILSHMEM_HD RAILSHMEM_OUT_OF_LINE inline ChannelStatus reduce_words(const WorldView& world, TeamRow row, void* dest,
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
    for (uint32_t step = 1; step < n; ++step) {
      const int to = team.after(me, step);
      if (step == 1 || from_step != 0) batch.load(at(source, static_cast<uint32_t>(to) * from_step), k, count);
      exchange.send(to, k, count, batch);
    }
  }
  RAILSHMEM_NO_UNROLL
  for (uint32_t k = 0; k < words; k += Batch::kMost) {
    const uint32_t count = Batch::at(k, words);
    uint64_t sum[Batch::kMost] = {};
    RAILSHMEM_NO_UNROLL
    for (uint32_t i = 0; i < n; ++i) {
      if (i == me) {
        batch.load(at(source, me * from_step), k, count);
      } else {
        exchange.receive(static_cast<int>(i), k, count, batch);
      }
      RAILSHMEM_UNROLL
      for (uint32_t w = 0; w < Batch::kMost; ++w) {
        sum[w] = i == 0 ? batch.word[w] : combine_words<T, Op>(sum[w], batch.word[w]);
      }
    }
    RAILSHMEM_UNROLL
    for (uint32_t w = 0; w < Batch::kMost; ++w) batch.word[w] = sum[w];
    batch.store(dest, k, count);
  }
  return exchange.close(Heard::all);
}

/// Gives every member everybody's operands as packets. from_step: 0 where all members combine the whole sources; else
/// member i combines the elements that lie i steps into the sources.
template <class T, class Op, class Scope>
RAILSHMEM_HD inline ChannelStatus reduce_packets(const WorldView& world, const Members& team, T* dest, const T* source,
                                                 uint64_t nbytes, uint64_t from_step) {
  if constexpr (std::is_same<Scope, ThreadScope>::value) {
    if (whole_words(dest, source, nbytes))
      return reduce_words<T, Op>(world, team.row(), dest, source, static_cast<uint32_t>(nbytes / 8), from_step);
  }
  Exchange<Scope> exchange(world, team);
  const auto n = static_cast<uint32_t>(team.size()), me = static_cast<uint32_t>(team.rank());
  const auto words = static_cast<uint32_t>((nbytes + 7) / 8);
  RAILSHMEM_NO_UNROLL
  for (Deal deal(Scope::rank(), Scope::size(), words); deal.step < n; deal.next()) {
    const auto to = static_cast<uint32_t>(team.after(me, deal.step));
    if (to != me)
      exchange.send(static_cast<int>(to), deal.word, word_of(at(source, to * from_step), deal.word, nbytes));
  }
  Scope::sync();  // dest and source may be one array
  const void* const own = at(source, me * from_step);
  RAILSHMEM_NO_UNROLL
  for (uint32_t k = Scope::rank(); k < words; k += Scope::size()) {
    uint64_t sum = 0;
    RAILSHMEM_NO_UNROLL
    for (uint32_t i = 0; i < n; ++i) {
      const uint64_t word = i == me ? word_of(own, k, nbytes) : exchange.receive(static_cast<int>(i), k);
      sum = i == 0 ? word : combine_words<T, Op>(sum, word);
    }
    set_word(dest, k, nbytes, sum);
  }
  return exchange.close(Heard::all);
}

/// Which members get which part of a result.
enum class Result : uint8_t { everybody, parts };

/// Computes this member's slice from the sources of all. Out of line with few arguments, so that its callers hold no
/// more than these while they wait: a block of 1024 threads has 64 registers for each.
template <class T, class Op, Result kResult>
RAILSHMEM_HD RAILSHMEM_OUT_OF_LINE inline void reduce_slice(uint32_t rank, uint32_t size, const WorldView& world,
                                                            TeamRow row, T* dest, const T* source, uint64_t nelems) {
  const HeapPlace to = locate(world, dest, world.pe), from = locate(world, source, world.pe);
  Slice<T> slice{MappedArrays<T>(world, row, from), static_cast<int64_t>(to.offset - from.offset), 0, row.size};
  uint64_t begin = static_cast<uint64_t>(row.rank) * nelems, end = begin + nelems;
  if (kResult == Result::everybody) {
    begin = share_begin(slice.sources, nelems, row.rank);
    end = share_begin(slice.sources, nelems, row.rank + 1);
  } else {
    slice.to -= static_cast<int64_t>(begin * sizeof(T));
    slice.first = row.rank;
    slice.last = row.rank + 1;
  }
  slice_share<T, Op>(rank, size, slice, begin, end);
}

template <class T, class Op, class Scope, Result kResult>
RAILSHMEM_HD inline ChannelStatus reduce_slices(const WorldView& world, const Members& team, T* dest, const T* source,
                                                uint64_t nelems) {
  const ChannelStatus ready = sync_team<Scope>(world, team);  // the sources are ready
  reduce_slice<T, Op, kResult>(Scope::rank(), Scope::size(), world, team.row(), dest, source, nelems);
  const ChannelStatus met = sync_team<Scope>(world, team);
  return ready == ChannelStatus::ok ? met : ready;
}

/// Combines the rooms of all members into dest.
template <class T, class Op>
RAILSHMEM_HD RAILSHMEM_OUT_OF_LINE inline void combine_rooms(uint32_t rank, uint32_t size, T* dest, const T* rooms,
                                                             int nrooms, uint64_t nelems) {
  for (uint64_t e = rank; e < nelems; e += size) {
    const T* from = rooms + e;
    T sum = *from;
    RAILSHMEM_NO_UNROLL
    for (int i = 1; i < nrooms; ++i) {
      from += DeviceControlLayout::kPacketBytes / sizeof(T);
      sum = Op::of(sum, *from);
    }
    dest[e] = sum;
  }
}

/// The room of the first member for the next piece. Pieces use two halves in turn: a PE that is at the next piece has
/// met all others after they used the half for the last but one.
RAILSHMEM_HD inline unsigned char* rooms_of(const WorldView& world, const TeamRow& row) {
  const Members team(world, row);
  const uint64_t number = portable::load_relaxed(&team.counters()->syncs) + 1;
  return team.mine<unsigned char>(team.layout().room(team.slot(), number, 0));
}

template <class Scope>
RAILSHMEM_HD RAILSHMEM_OUT_OF_LINE inline ChannelStatus barrier_apart(const WorldView& world, TeamRow row) {
  return barrier_team<Scope>(world, Members(world, row));
}

/// Reduces piece by piece, through the room that each member has for the others' operands.
template <class T, class Op, class Scope>
RAILSHMEM_HD RAILSHMEM_OUT_OF_LINE inline ChannelStatus reduce_far(const WorldView& world, TeamRow row, T* dest,
                                                                   const T* source, uint64_t nelems,
                                                                   uint64_t from_step) {
  constexpr uint64_t kPiece = DeviceControlLayout::kPacketBytes / sizeof(T);
  ToAll job{row, nullptr, source, 0, from_step};
  for (uint64_t done = 0; done < nelems; done += kPiece) {
    const uint64_t count = nelems - done < kPiece ? nelems - done : kPiece;
    unsigned char* const rooms = rooms_of(world, job.row);
    job.dest = rooms + static_cast<uint64_t>(job.row.rank) * DeviceControlLayout::kPacketBytes;
    job.source = source + done;
    job.nbytes = count * sizeof(T);
    const ChannelStatus put = put_to_all<Scope>(world, job);
    const ChannelStatus met = barrier_apart<Scope>(world, job.row);
    if (put != ChannelStatus::ok || met != ChannelStatus::ok) return put != ChannelStatus::ok ? put : met;
    combine_rooms<T, Op>(Scope::rank(), Scope::size(), dest + done, reinterpret_cast<const T*>(rooms), job.row.size,
                         count);
    Scope::sync();
  }
  return ChannelStatus::ok;
}

/// Whether members can compute by loading each other's sources and storing to dests.
RAILSHMEM_HD inline bool by_slices(const Members& team, const HeapPlace& to, const HeapPlace& from) {
  return team.near() && to.heap == from.heap && to.here != nullptr;
}

template <class T, class Op, class Scope>
RAILSHMEM_HD inline ChannelStatus reduce(const WorldView& world, const Members& team, T* dest, const T* source,
                                         uint64_t nelems) {
  if (nelems == 0) return ChannelStatus::ok;
  if (fits_packets(team, nelems * sizeof(T), Scope::kReducePacketBytes)) {
    return reduce_packets<T, Op, Scope>(world, team, dest, source, nelems * sizeof(T), 0);
  }
  const HeapPlace to = locate(world, dest, world.pe), from = locate(world, source, world.pe);
  if (to.heap == nullptr || from.heap == nullptr) return ChannelStatus::bad_address;
  if (!by_slices(team, to, from)) return reduce_far<T, Op, Scope>(world, team.row(), dest, source, nelems, 0);
  return reduce_slices<T, Op, Scope, Result::everybody>(world, team, dest, source, nelems);
}

/// Gives member i the result of the elements from i * nelems on; the sources have nelems elements for each member.
template <class T, class Op, class Scope>
RAILSHMEM_HD inline ChannelStatus reducescatter(const WorldView& world, const Members& team, T* dest, const T* source,
                                                uint64_t nelems) {
  if (nelems == 0) return ChannelStatus::ok;
  const uint64_t nbytes = nelems * sizeof(T);
  if (fits_packets(team, nbytes, Scope::kReducePacketBytes))
    return reduce_packets<T, Op, Scope>(world, team, dest, source, nbytes, nbytes);
  const HeapPlace to = locate(world, dest, world.pe), from = locate(world, source, world.pe);
  if (to.heap == nullptr || from.heap == nullptr) return ChannelStatus::bad_address;
  // Where dest is a part of source, other members may still read the elements that would be overwritten.
  const bool apart = to.offset - from.offset >= nbytes * static_cast<uint64_t>(team.size());
  if (!apart || !by_slices(team, to, from)) {
    return reduce_far<T, Op, Scope>(world, team.row(), dest, source, nelems, nbytes);
  }
  return reduce_slices<T, Op, Scope, Result::parts>(world, team, dest, source, nelems);
}

}  // namespace device
}  // namespace railshmem

#endif
