// SPDX-License-Identifier: BSD-3-Clause
// Collectives of a node by packets that carry their own number: one trip over the link is all that a unit takes, and
// buffers may be any memory of this GPU. For CUDA, and for threads that stand for kernels.
#pragma once

#include "src/cuda/kernels/coll_talk.h"
#include "src/cuda/kernels/reduce.h"

namespace railshmem::cuda::kernels {

/// Calls `exchange(first)` for each exchange of this block, in which thread t handles unit first + t of `units`. A
/// block without units takes no part. All members have equal units, blocks and threads.
template <class Exchange>
RAILSHMEM_KERNEL inline void in_exchanges(Talk& talk, uint64_t units, Exchange&& exchange) {
  const uint32_t blocks = talk.blocks_with_packets();
  if (threads::block_in_row() >= blocks) return;
  const uint64_t step = static_cast<uint64_t>(threads::row_size()) * blocks;
  RAILSHMEM_NO_UNROLL
  for (uint64_t first = static_cast<uint64_t>(threads::row_size()) * threads::block_in_row(); first < units;
       first += step) {
    talk.next();
    exchange(first + threads::thread_in_row());
    if (first + step < units) threads::sync_block();  // see Talk
  }
}

RAILSHMEM_KERNEL inline const unsigned char* bytes_at(const void* base, uint64_t at) {
  return static_cast<const unsigned char*>(base) + at;
}
RAILSHMEM_KERNEL inline unsigned char* bytes_at(void* base, uint64_t at) {
  return static_cast<unsigned char*>(base) + at;
}

/// All-gather and all-to-all.
template <class Call>
RAILSHMEM_KERNEL inline void move_packets(Talk& talk, const Call& c) {
  const uint64_t units = (c.nbytes + kUnit - 1) / kUnit;
  in_exchanges(talk, units, [&](uint64_t unit) {
    if (unit >= units) return;
    const uint64_t at = unit * kUnit, left = c.nbytes - at;
    const void* const own = c.source[talk.me()];
    const Unit kept = load_unit(bytes_at(own, at), left);
    RAILSHMEM_NO_UNROLL
    for (int i = 1; i < talk.n(); ++i) {
      const int to = talk.after(i);
      const void* const source = c.source[to];
      talk.send(0, to, source == own ? kept : load_unit(bytes_at(source, at), left));
    }
    void* const own_dest = c.dest[talk.me()];
    if (own_dest != own) store_unit(bytes_at(own_dest, at), kept, left);
    RAILSHMEM_NO_UNROLL
    for (int i = talk.n() - 1; i > 0; --i) {
      const int from = talk.after(i);
      store_unit(bytes_at(c.dest[from], at), talk.receive(0, from), left);
    }
  });
}
template <class Call>
RAILSHMEM_KERNEL inline void run_move(const Call& c) {
  Talk talk(c.members);
  move_packets(talk, c);
  talk.close(c.dest[talk.me()]);
}

/// The largest block of all members, where no member knows that of the others.
RAILSHMEM_KERNEL inline uint64_t agree_on_most(Talk& talk, const MoveSizesCall& c, uint64_t* shared) {
  if (c.move.nbytes != ~uint64_t{0}) return c.move.nbytes;
  talk.next();
  if (threads::thread_in_row() == 0) {
    uint64_t most = 0;
    for (int k = 0; k < talk.n(); ++k) most = most < c.send_nbytes[k] ? c.send_nbytes[k] : most;
    for (int i = 1; i < talk.n(); ++i) talk.tell(talk.after(i), most, 0);
    for (int i = 1; i < talk.n(); ++i) {
      uint64_t theirs = 0, unused = 0;
      talk.hear(talk.after(i), &theirs, &unused);
      if (talk.well() && theirs > most) most = theirs;
    }
    *shared = most;
  }
  threads::sync_block();
  return *shared;
}

/// Blocks of different sizes: sends(k) and receives(k) bytes, `most` at most. A member that has nothing to send sends
/// one packet anyway: see Talk.
template <class Sends, class Receives>
RAILSHMEM_KERNEL inline void move_sizes(Talk& talk, const MoveCall& c, uint64_t most, Sends&& sends,
                                        Receives&& receives) {
  const bool speaks = threads::thread_in_row() == 0;
  in_exchanges(talk, (most + kUnit - 1) / kUnit, [&](uint64_t unit) {
    const uint64_t at = unit * kUnit;
    const int me = talk.me();
    const uint64_t own_left = left_of(sends(me), at);
    const Unit kept = own_left > 0 ? load_unit(bytes_at(c.source[me], at), own_left) : Unit{0, 0};
    RAILSHMEM_NO_UNROLL
    for (int i = 1; i < talk.n(); ++i) {
      const int to = talk.after(i);
      const uint64_t left = left_of(sends(to), at);
      if (left > 0) {
        talk.send(0, to, load_unit(bytes_at(c.source[to], at), left));
      } else if (speaks) {
        talk.send(0, to, {0, 0});
      }
    }
    if (own_left > 0 && c.dest[me] != c.source[me]) store_unit(bytes_at(c.dest[me], at), kept, own_left);
    RAILSHMEM_NO_UNROLL
    for (int i = talk.n() - 1; i > 0; --i) {
      const int from = talk.after(i);
      const uint64_t left = left_of(receives(from), at);
      if (left == 0 && !speaks) continue;
      const Unit unit_in = talk.receive(0, from);
      if (left > 0) store_unit(bytes_at(c.dest[from], at), unit_in, left);
    }
  });
}

/// How a kernel's operands meet: any type and operation, known when it runs.
struct AnyMeeting {
  ReduceOp op;
  TypeKind kind;
  Scale scale;

  /// The combination of scale.noperands units, in their order. One copy in a kernel, with all types and operations.
  RAILSHMEM_KERNEL RAILSHMEM_OUT_OF_LINE Unit of(const Unit* units) const {
    return visit_element(kind, op, [&]<class T, class Op>() { return meet<T, Op>(units, scale); });
  }
  template <class T, class Op>
  RAILSHMEM_KERNEL static Unit meet(const Unit* units, const Scale& scale) {
    static_assert(sizeof(Pack<T>) == sizeof(Unit));
    Meeting<T, Op, Pack<T>> met;
    met.begin(std::bit_cast<Pack<T>>(units[0]), scale);
    RAILSHMEM_NO_UNROLL
    for (int k = 1; k < scale.noperands; ++k) met.add(std::bit_cast<Pack<T>>(units[k]), scale);
    return std::bit_cast<Unit>(met.end(scale));
  }
};

/// Sums of one type: a kernel for these alone is short. The time of a short collective goes into loading the kernel's
/// instructions too.
template <class T>
struct SumMeeting {
  Scale scale;

  RAILSHMEM_KERNEL RAILSHMEM_OUT_OF_LINE Unit of(const Unit* units) const {
    return AnyMeeting::meet<T, device::Sum>(units, scale);
  }
  RAILSHMEM_KERNEL Unit of_two(Unit first, Unit second) const {
    Meeting<T, device::Sum, Pack<T>> met;
    met.begin(std::bit_cast<Pack<T>>(first), scale);
    met.add(std::bit_cast<Pack<T>>(second), scale);
    return std::bit_cast<Unit>(met.end(scale));
  }
};

/// The combination of all members' units, in the order of ranks; `own` is this member's.
template <class Meet>
RAILSHMEM_KERNEL inline Unit combine_units(Talk& talk, const Meet& meet, Unit own) {
  if constexpr (requires { meet.of_two(own, own); }) {
    if (talk.n() == 2) {
      const Unit other = talk.receive(0, 1 - talk.me());
      return talk.me() == 0 ? meet.of_two(own, other) : meet.of_two(other, own);
    }
  }
  Unit units[kMostMembers];
  RAILSHMEM_NO_UNROLL
  for (int first = 0; first < talk.n(); first += Talk::kGroup) {
    const int left = talk.n() - first, count = left < Talk::kGroup ? left : Talk::kGroup;
    Unit group[Talk::kGroup];
    talk.receive_group(first, count, own, group);
    RAILSHMEM_UNROLL
    for (int i = 0; i < Talk::kGroup; ++i) {
      if (i < count) units[first + i] = group[i];
    }
  }
  return meet.of(units);
}

/// Reduce-scatter and all-reduce. `parts` is c.two_steps, as a type where it is known when the kernel is compiled.
template <class Call, class Meet, class Parts>
RAILSHMEM_KERNEL inline void combine_packets(Talk& talk, const Call& c, const Meet& meet, Parts parts) {
  const uint64_t units = (c.nbytes + kUnit - 1) / kUnit;
  const int me = talk.me();
  // How much of part k there is behind a place in it.
  const auto left = [&](int part, uint64_t at) {
    const uint64_t in_part = c.nbytes - at;
    if constexpr (std::is_same_v<Parts, std::false_type>) return in_part;
    if (!parts) return in_part;
    const uint64_t in_vector = left_of(c.whole, static_cast<uint64_t>(part) * c.nbytes + at);
    return in_part < in_vector ? in_part : in_vector;
  };
  in_exchanges(talk, units, [&](uint64_t unit) {
    if (unit >= units) return;
    const uint64_t at = unit * kUnit;
    const void* const own = c.source[me];
    const Unit kept = load_unit(bytes_at(own, at), left(me, at));
    RAILSHMEM_NO_UNROLL
    for (int i = 1; i < talk.n(); ++i) {
      const int to = talk.after(i);
      const void* const source = c.source[to];
      talk.send(0, to, source == own ? kept : load_unit(bytes_at(source, at), left(to, at)));
    }
    const Unit result = combine_units(talk, meet, kept);
    const uint64_t my_place = parts ? static_cast<uint64_t>(me) * c.nbytes : 0;
    store_unit(bytes_at(c.dest, my_place + at), result, left(me, at));
    if constexpr (!std::is_same_v<Parts, std::false_type>) {
      if (!parts) return;
      RAILSHMEM_NO_UNROLL
      for (int i = 1; i < talk.n(); ++i) talk.send(1, talk.after(i), result);
      RAILSHMEM_NO_UNROLL
      for (int i = talk.n() - 1; i > 0; --i) {
        const int from = talk.after(i);
        const uint64_t place = static_cast<uint64_t>(from) * c.nbytes;
        store_unit(bytes_at(c.dest, place + at), talk.receive(1, from), left(from, at));
      }
    }
  });
}
template <class Call>
RAILSHMEM_KERNEL inline AnyMeeting meeting_of(const Call& c) {
  return {c.op, c.kind, {c.scaling, c.factor, c.members.n}};
}
template <class Call>
RAILSHMEM_KERNEL inline void run_combine(const Call& c) {
  Talk talk(c.members);
  combine_packets(talk, c, meeting_of(c), c.two_steps != 0);
  talk.close(c.dest);
}
/// Of calls whose elements are T and whose operation is a sum; kParts: in two steps.
template <class T, bool kParts>
RAILSHMEM_KERNEL inline void run_sum(const EvenCombineCall& c) {
  Talk talk(c.members);
  combine_packets(talk, c, SumMeeting<T>{{c.scaling, c.factor, c.members.n}}, std::bool_constant<kParts>());
  talk.close(c.dest);
}

}  // namespace railshmem::cuda::kernels
