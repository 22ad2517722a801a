// SPDX-License-Identifier: BSD-3-Clause
// Collectives of a node by packets that carry their own number: one trip over the link is all that a unit takes, and
// buffers may be any memory of this GPU. A thread handles one unit at a time in short calls, whose kernels are short
// too, and kUnitsOfThread in long ones, whose packets carry more. For CUDA, and for threads that stand for kernels.
#pragma once

#include "src/cuda/kernels/coll_talk.h"
#include "src/cuda/kernels/reduce.h"

namespace railshmem::cuda::kernels {

RAILSHMEM_KERNEL inline const unsigned char* bytes_at(const void* base, uint64_t at) {
  return static_cast<const unsigned char*>(base) + at;
}
RAILSHMEM_KERNEL inline unsigned char* bytes_at(void* base, uint64_t at) {
  return static_cast<unsigned char*>(base) + at;
}

/// The units of a thread in an exchange, of `units` in all.
template <uint32_t kUnits>
class Share {
 public:
  RAILSHMEM_KERNEL Share(uint64_t first, uint64_t step, uint64_t units)
      : at_(first * kUnit), step_(step * kUnit), count_(0) {
    RAILSHMEM_UNROLL
    for (uint32_t i = 0; i < kUnits; ++i) count_ += first + i * step < units ? 1 : 0;
  }
  RAILSHMEM_KERNEL uint32_t count() const { return count_; }
  /// How many of them a vector of `nbytes` has.
  RAILSHMEM_KERNEL uint32_t count_in(uint64_t nbytes) const {
    uint32_t count = 0;
    RAILSHMEM_UNROLL
    for (uint32_t i = 0; i < kUnits; ++i) count += i < count_ && at(i) < nbytes ? 1 : 0;
    return count;
  }

  /// The units of a vector of `nbytes`, with zeros behind its end. All loads are on their way at once, unless the
  /// vector begins or ends within a unit.
  RAILSHMEM_KERNEL Units<kUnits> load(const void* from, uint64_t nbytes) const {
    if constexpr (kUnits == 1) return {load_unit(bytes_at(from, at_), left_of(nbytes, at_))};
    if (!is_whole(from, nbytes)) return load_ragged_units(from, nbytes, *this);
    Units<kUnits> units{};
    RAILSHMEM_UNROLL
    for (uint32_t i = 0; i < kUnits; ++i) {
      if (i < count_) units.at[i] = copying::load(reinterpret_cast<const Unit*>(bytes_at(from, at(i))));
    }
    return units;
  }
  RAILSHMEM_KERNEL void store(void* to, uint64_t nbytes, const Units<kUnits>& units) const {
    if constexpr (kUnits == 1) return store_unit(bytes_at(to, at_), units.at[0], left_of(nbytes, at_));
    if (!is_whole(to, nbytes)) return store_ragged_units(to, nbytes, units, *this);
    RAILSHMEM_UNROLL
    for (uint32_t i = 0; i < kUnits; ++i) {
      if (i < count_) copying::store(reinterpret_cast<Unit*>(bytes_at(to, at(i))), units.at[i]);
    }
  }

 private:
  /// Where unit i begins in a vector, in bytes.
  RAILSHMEM_KERNEL uint64_t at(uint32_t i) const { return at_ + i * step_; }
  /// Whether the vector has all of these units, each where a unit may lie.
  RAILSHMEM_KERNEL bool is_whole(const void* vector, uint64_t nbytes) const {
    return reinterpret_cast<uintptr_t>(vector) % kUnit == 0 && (count_ == 0 || at(count_ - 1) + kUnit <= nbytes);
  }
  RAILSHMEM_KERNEL RAILSHMEM_OUT_OF_LINE static Units<kUnits> load_ragged_units(const void* from, uint64_t nbytes,
                                                                                Share share) {
    Units<kUnits> units{};
    RAILSHMEM_NO_UNROLL
    for (uint32_t i = 0; i < share.count_; ++i) {
      const uint64_t left = left_of(nbytes, share.at(i));  // an empty vector has no address
      if (left > 0) units.at[i] = load_unit(bytes_at(from, share.at(i)), left);
    }
    return units;
  }
  RAILSHMEM_KERNEL RAILSHMEM_OUT_OF_LINE static void store_ragged_units(void* to, uint64_t nbytes, Units<kUnits> units,
                                                                        Share share) {
    RAILSHMEM_NO_UNROLL
    for (uint32_t i = 0; i < share.count_; ++i) {
      const uint64_t left = left_of(nbytes, share.at(i));
      if (left > 0) store_unit(bytes_at(to, share.at(i)), units.at[i], left);
    }
  }

  uint64_t at_, step_;
  uint32_t count_;
};

/// Calls `exchange(share)` for each exchange of this block. A kernel of one unit a thread and one of several send equal
/// packets where one exchange is enough for both. A block without units takes no part. All members have equal
/// units, blocks and threads. The threads of all blocks take units in turn: few units are spread over all of them.
template <uint32_t kUnits, class Exchange>
RAILSHMEM_KERNEL inline void in_exchanges(Talk& talk, uint64_t units, Exchange&& exchange) {
  const uint32_t blocks = talk.blocks_with_packets();
  if (threads::block_in_row() >= blocks) return;
  const uint64_t step = static_cast<uint64_t>(threads::row_size()) * blocks;
  RAILSHMEM_NO_UNROLL
  for (uint64_t first = static_cast<uint64_t>(threads::row_size()) * threads::block_in_row(); first < units;
       first += step * kUnits) {
    talk.next();
    exchange(Share<kUnits>(first + threads::thread_in_row(), step, units));
    if (first + step * kUnits < units) threads::sync_block();  // see Talk
  }
}

/// All-gather and all-to-all.
template <uint32_t kUnits, class Call>
RAILSHMEM_KERNEL inline void move_packets(Talk& talk, const Call& c) {
  in_exchanges<kUnits>(talk, (c.nbytes + kUnit - 1) / kUnit, [&](const Share<kUnits>& share) {
    if (share.count() == 0) return;
    const void* const own = c.source[talk.me()];
    const Units<kUnits> kept = share.load(own, c.nbytes);
    RAILSHMEM_NO_UNROLL
    for (int i = 1; i < talk.n(); ++i) {
      const int to = talk.after(i);
      const void* const source = c.source[to];
      talk.send(0, to, source == own ? kept : share.load(source, c.nbytes), share.count());
    }
    void* const own_dest = c.dest[talk.me()];
    if (own_dest != own) share.store(own_dest, c.nbytes, kept);
    RAILSHMEM_NO_UNROLL
    for (int i = talk.n() - 1; i > 0; --i) {
      const int from = talk.after(i);
      share.store(c.dest[from], c.nbytes, talk.receive<kUnits>(0, from, share.count()));
    }
  });
}
template <uint32_t kUnits, class Call>
RAILSHMEM_KERNEL inline void run_move(const Call& c) {
  Talk talk(c.members);
  move_packets<kUnits>(talk, c);
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
  using Mine = Share<kUnitsOfThread>;
  const bool speaks = threads::thread_in_row() == 0;
  in_exchanges<kUnitsOfThread>(talk, (most + kUnit - 1) / kUnit, [&](const Mine& share) {
    const int me = talk.me();
    const Units<kUnitsOfThread> kept = share.load(c.source[me], sends(me));
    RAILSHMEM_NO_UNROLL
    for (int i = 1; i < talk.n(); ++i) {
      const int to = talk.after(i);
      const uint32_t count = share.count_in(sends(to));
      if (count > 0 || speaks) talk.send(0, to, share.load(c.source[to], sends(to)), count);
    }
    if (c.dest[me] != c.source[me]) share.store(c.dest[me], sends(me), kept);
    RAILSHMEM_NO_UNROLL
    for (int i = talk.n() - 1; i > 0; --i) {
      const int from = talk.after(i);
      const uint32_t count = share.count_in(receives(from));
      if (count == 0 && !speaks) continue;
      share.store(c.dest[from], receives(from), talk.receive<kUnitsOfThread>(0, from, count));
    }
  });
}

/// Broadcast, and all-to-all with counts. `shared` is of the block.
RAILSHMEM_KERNEL inline void run_move_sizes(const MoveSizesCall& c, uint64_t* shared) {
  Talk talk(c.move.members);
  move_sizes(
      talk, c.move, agree_on_most(talk, c, shared), [&c](int k) { return c.send_nbytes[k]; },
      [&c](int k) { return c.receive_nbytes[k]; });
  talk.close(c.move.dest[talk.me()]);
}

/// How a kernel's operands meet: any type and operation, known when it runs.
struct AnyMeeting {
  ReduceOp op;
  TypeKind kind;
  Scale scale;

  /// Units that are kept until all are there.
  class Sofar {
   public:
    RAILSHMEM_KERNEL explicit Sofar(const AnyMeeting& meet) : meet_(meet) {}
    RAILSHMEM_KERNEL void add(int number, Unit unit) { units_[number] = unit; }
    RAILSHMEM_KERNEL Unit all() const { return meet_.of(units_); }

   private:
    const AnyMeeting& meet_;
    Unit units_[kMostMembers];
  };

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

  /// The sum of the units up to here.
  class Sofar {
   public:
    RAILSHMEM_KERNEL explicit Sofar(const SumMeeting& meet) : scale_(meet.scale) {}
    RAILSHMEM_KERNEL void add(int number, Unit unit) {
      const auto values = std::bit_cast<Pack<T>>(unit);
      number == 0 ? met_.begin(values, scale_) : met_.add(values, scale_);
    }
    RAILSHMEM_KERNEL Unit all() const { return std::bit_cast<Unit>(met_.end(scale_)); }

   private:
    const Scale& scale_;
    Meeting<T, device::Sum, Pack<T>> met_{};
  };
  RAILSHMEM_KERNEL Unit of_two(Unit first, Unit second) const {
    Meeting<T, device::Sum, Pack<T>> met;
    met.begin(std::bit_cast<Pack<T>>(first), scale);
    met.add(std::bit_cast<Pack<T>>(second), scale);
    return std::bit_cast<Unit>(met.end(scale));
  }
};

/// The combination of unit i of all members, in the order of ranks; `own` is this member's.
template <class Meet>
RAILSHMEM_KERNEL inline Unit combine_unit(Talk& talk, const Meet& meet, uint32_t i, Unit own) {
  typename Meet::Sofar sofar(meet);
  RAILSHMEM_NO_UNROLL
  for (int first = 0; first < talk.n(); first += Talk::kGroup) {
    const int left = talk.n() - first, count = left < Talk::kGroup ? left : Talk::kGroup;
    Unit group[Talk::kGroup];
    talk.receive_group(first, count, i, own, group);
    RAILSHMEM_UNROLL
    for (int k = 0; k < Talk::kGroup; ++k) {
      if (k < count) sofar.add(first + k, group[k]);
    }
  }
  return sofar.all();
}
template <uint32_t kUnits, class Meet>
RAILSHMEM_KERNEL inline Units<kUnits> combine_units(Talk& talk, const Meet& meet, const Units<kUnits>& own,
                                                    uint32_t count) {
  Units<kUnits> results{};
  if constexpr (requires { meet.of_two(own.at[0], own.at[0]); }) {
    if (talk.n() == 2) {
      const Units<kUnits> other = talk.receive<kUnits>(0, 1 - talk.me(), count);
      RAILSHMEM_UNROLL
      for (uint32_t i = 0; i < kUnits; ++i)
        results.at[i] = talk.me() == 0 ? meet.of_two(own.at[i], other.at[i]) : meet.of_two(other.at[i], own.at[i]);
      return results;
    }
  }
  if constexpr (kUnits == 1) {
    results.at[0] = combine_unit(talk, meet, 0, own.at[0]);
  } else {
    const Units<kUnits> mine = own;  // indexed as it runs, so in memory; `own` stays in registers
    RAILSHMEM_NO_UNROLL
    for (uint32_t i = 0; i < count; ++i) results.at[i] = combine_unit(talk, meet, i, mine.at[i]);
  }
  return results;
}

/// Reduce-scatter and all-reduce. `parts` is c.two_steps, as a type where it is known when the kernel is compiled.
template <uint32_t kUnits, class Call, class Meet, class Parts>
RAILSHMEM_KERNEL inline void combine_packets(Talk& talk, const Call& c, const Meet& meet, Parts parts) {
  const int me = talk.me();
  // Bytes of part k.
  const auto nbytes = [&](int part) {
    if constexpr (std::is_same_v<Parts, std::false_type>) return c.nbytes;
    if (!parts) return c.nbytes;
    const uint64_t in_vector = left_of(c.whole, static_cast<uint64_t>(part) * c.nbytes);
    return c.nbytes < in_vector ? c.nbytes : in_vector;
  };
  in_exchanges<kUnits>(talk, (c.nbytes + kUnit - 1) / kUnit, [&](const Share<kUnits>& share) {
    if (share.count() == 0) return;
    const void* const own = c.source[me];
    const Units<kUnits> kept = share.load(own, nbytes(me));
    RAILSHMEM_NO_UNROLL
    for (int i = 1; i < talk.n(); ++i) {
      const int to = talk.after(i);
      const void* const source = c.source[to];
      talk.send(0, to, source == own ? kept : share.load(source, nbytes(to)), share.count());
    }
    const Units<kUnits> results = combine_units(talk, meet, kept, share.count());
    share.store(bytes_at(c.dest, parts ? static_cast<uint64_t>(me) * c.nbytes : 0), nbytes(me), results);
    if constexpr (!std::is_same_v<Parts, std::false_type>) {
      if (!parts) return;
      RAILSHMEM_NO_UNROLL
      for (int i = 1; i < talk.n(); ++i) talk.send(1, talk.after(i), results, share.count());
      RAILSHMEM_NO_UNROLL
      for (int i = talk.n() - 1; i > 0; --i) {
        const int from = talk.after(i);
        share.store(bytes_at(c.dest, static_cast<uint64_t>(from) * c.nbytes), nbytes(from),
                    talk.receive<kUnits>(1, from, share.count()));
      }
    }
  });
}
template <class Call>
RAILSHMEM_KERNEL inline AnyMeeting meeting_of(const Call& c) {
  return {c.op, c.kind, {c.scaling, c.factor, c.members.n}};
}
template <uint32_t kUnits, class Call>
RAILSHMEM_KERNEL inline void run_combine(const Call& c) {
  Talk talk(c.members);
  combine_packets<kUnits>(talk, c, meeting_of(c), c.two_steps != 0);
  talk.close(c.dest);
}
/// Of calls whose elements are T and whose operation is a sum; kParts: in two steps.
template <uint32_t kUnits, class T, bool kParts>
RAILSHMEM_KERNEL inline void run_sum(const EvenCombineCall& c) {
  Talk talk(c.members);
  combine_packets<kUnits>(talk, c, SumMeeting<T>{{c.scaling, c.factor, c.members.n}}, std::bool_constant<kParts>());
  talk.close(c.dest);
}

}  // namespace railshmem::cuda::kernels
