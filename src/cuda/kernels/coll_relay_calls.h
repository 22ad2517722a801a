// SPDX-License-Identifier: BSD-3-Clause
// Collectives of a node whose data is relayed in slices: see coll_relay.h. A block sends slice i + 1 before it takes
// slice i, so that a slice crosses the link while the one before is used. For CUDA, and for threads that stand for
// kernels.
#pragma once

#include "src/cuda/kernels/coll_packets.h"
#include "src/cuda/kernels/coll_relay.h"

namespace railshmem::cuda::kernels {

/// Copies by all threads of the block; there is no address where there are no bytes.
template <class To, class From>
RAILSHMEM_KERNEL inline void copy_slice(uint64_t nbytes, To&& to, From&& from) {
  if (nbytes != 0) copy_together<kCopyUnroll>(threads::thread_in_row(), threads::row_size(), to(), from(), nbytes);
}

/// Sends a slice to all other members: `nbytes(k)` bytes from `source(k)` on to member k. Returns whether all is well.
template <class Source, class Nbytes>
RAILSHMEM_KERNEL inline bool send_slices(const Talk& talk, Relay& relay, Source&& source, Nbytes&& nbytes) {
  if (!relay.await_room()) return false;
  RAILSHMEM_NO_UNROLL
  for (int i = 1; i < talk.n(); ++i) {
    const int to = talk.after(i);
    copy_slice(
        nbytes(to), [&] { return relay.room(to); }, [&] { return source(to); });
  }
  relay.send();
  return true;
}

/// Takes a slice of each other member to dest(k).
template <class Dest, class Nbytes>
RAILSHMEM_KERNEL inline bool take_slices(const Talk& talk, Relay& relay, Dest&& dest, Nbytes&& nbytes) {
  if (!relay.await_slices()) return false;
  RAILSHMEM_NO_UNROLL
  for (int i = talk.n() - 1; i > 0; --i) {
    const int from = talk.after(i);
    copy_slice(
        nbytes(from), [&] { return dest(from); }, [&] { return relay.slice(from); });
  }
  relay.take();
  return true;
}

/// Blocks of sends(k) and receives(k) bytes, `most` at most. In place too: a slice of all sources is sent before a
/// slice at their place comes to dest. `failed` is of the block; not 0 behind the call where some member did not come.
/// Out of line, with a Talk of its own: kernels that mostly do something else keep their registers.
template <class Sends, class Receives>
RAILSHMEM_KERNEL RAILSHMEM_OUT_OF_LINE inline void relay_move(const MoveCall& c, uint64_t most, uint32_t* failed,
                                                              Sends sends, Receives receives) {
  Talk talk(c.members);
  Relay relay(talk, failed);
  const Slices slices(talk, most);
  const int me = talk.me();
  bool well = true;
  RAILSHMEM_NO_UNROLL
  for (uint64_t i = 0; i <= slices.count() && well; ++i) {
    if (i < slices.count()) {
      const uint64_t at = slices.at(i);
      const auto nbytes = [&](int k) { return slices.in(left_of(sends(k), at)); };
      well = send_slices(
          talk, relay, [&](int k) { return bytes_at(c.source[k], at); }, nbytes);
      if (well && c.dest[me] != c.source[me])
        copy_slice(
            nbytes(me), [&] { return bytes_at(c.dest[me], at); }, [&] { return bytes_at(c.source[me], at); });
    }
    if (i > 0 && well) {
      const uint64_t at = slices.at(i - 1);
      well = take_slices(
          talk, relay, [&](int k) { return bytes_at(c.dest[k], at); },
          [&](int k) { return slices.in(left_of(receives(k), at)); });
    }
  }
  relay.close();
  talk.report(c.dest[me]);
}

/// Broadcast, all-to-all with counts, and moves that go no other way. `shared` and `failed` are of the block.
RAILSHMEM_KERNEL inline void run_move_sizes(const MoveSizesCall& c, uint64_t* shared, uint32_t* failed) {
  Talk talk(c.move.members);
  const uint64_t most = agree_on_most(talk, c, shared);
  const auto sends = [&c](int k) { return c.send_nbytes[k]; };
  const auto receives = [&c](int k) { return c.receive_nbytes[k]; };
  if (most >= c.relay_from) {
    relay_move(c.move, most, failed, sends, receives);
  } else {
    move_sizes(talk, c.move, most, sends, receives);
  }
  talk.close(c.move.dest[talk.me()]);
}

/// reduce(), which is long, once in a unit.
RAILSHMEM_KERNEL RAILSHMEM_OUT_OF_LINE inline void reduce_share(const DeviceReduction& part, uint64_t rank,
                                                                uint64_t size) {
  reduce(part, rank, size);
}

/// A reduce-scatter, or an all-reduce by parts, slice by slice.
class RelayedCombination {
 public:
  static_assert(ScratchLayout::kSlots >= 4, "see run()");

  RAILSHMEM_KERNEL RelayedCombination(Talk& talk, const CombineCall& c, uint32_t* failed, DeviceReduction& part)
      : talk_(talk), c_(c), relay_(talk, failed), slices_(talk, c.nbytes), part_(part) {}

  /// Slices of operands and slices of results take turns in the rings: operands 0 and 1, results 0, operands 2,
  /// results 1, ... A member that sends results i has operands i + 1 and results i - 1 behind operands i still in its
  /// ring at a member that is as far: with fewer than four slots each would wait for the other one's.
  RAILSHMEM_KERNEL void run() {
    const uint64_t count = slices_.count(), steps = count == 0 ? 0 : count + (to_all() ? 2 : 1);
    bool well = true;
    RAILSHMEM_NO_UNROLL
    for (uint64_t i = 0; i < steps && well; ++i) {
      if (i < count) well = send_operands(slices_.at(i));
      if (i >= 1 && i <= count && well) well = combine(slices_.at(i - 1));
      if (i >= 2 && to_all() && well) well = take_results(slices_.at(i - 2));
    }
    relay_.close();
  }

 private:
  RAILSHMEM_KERNEL bool to_all() const { return c_.two_steps != 0; }
  RAILSHMEM_KERNEL uint64_t place_of(int part) const { return to_all() ? static_cast<uint64_t>(part) * c_.nbytes : 0; }
  /// Bytes of a slice in part k of the vector.
  RAILSHMEM_KERNEL uint64_t nbytes(int part, uint64_t at) const {
    const uint64_t in_part = left_of(c_.nbytes, at);
    const uint64_t in_vector = to_all() ? left_of(c_.whole, place_of(part) + at) : in_part;
    return slices_.in(in_part < in_vector ? in_part : in_vector);
  }
  RAILSHMEM_KERNEL bool send_operands(uint64_t at) {
    return send_slices(
        talk_, relay_, [&](int k) { return bytes_at(c_.source[k], at); }, [&](int k) { return nbytes(k, at); });
  }
  RAILSHMEM_KERNEL bool combine(uint64_t at) {
    const bool well = to_all() ? relay_.await_both() : relay_.await_slices();
    if (!well) return false;
    const int me = talk_.me();
    if (threads::thread_in_row() == 0) {
      part_.op = c_.op;
      part_.kind = c_.kind;
      part_.scaling = c_.scaling;
      part_.factor = c_.factor;
      part_.noperands = talk_.n();
      part_.nresults = to_all() ? talk_.n() : 1;
      part_.nelems = nbytes(me, at) / bytes_of_element(c_.kind);
      part_.results[0] = bytes_at(c_.dest, place_of(me) + at);
      for (int k = 0, next = 1; k < talk_.n(); ++k) {
        part_.operands[k] = k == me ? bytes_at(c_.source[k], at) : relay_.slice(k);
        if (to_all() && k != me) part_.results[next++] = relay_.room(k);
      }
    }
    threads::sync_block();
    reduce_share(part_, threads::thread_in_row(), threads::row_size());
    if (to_all()) relay_.send();
    relay_.take();
    return true;
  }
  RAILSHMEM_KERNEL bool take_results(uint64_t at) {
    return take_slices(
        talk_, relay_, [&](int k) { return bytes_at(c_.dest, place_of(k) + at); },
        [&](int k) { return nbytes(k, at); });
  }

  Talk& talk_;
  const CombineCall& c_;
  Relay relay_;
  const Slices slices_;
  DeviceReduction& part_;
};

/// `failed` and `part` are of the block. See relay_move().
RAILSHMEM_KERNEL RAILSHMEM_OUT_OF_LINE inline void relay_combine(const CombineCall& c, uint32_t* failed,
                                                                 DeviceReduction& part) {
  Talk talk(c.members);
  RelayedCombination(talk, c, failed, part).run();
  talk.report(c.dest);
}

}  // namespace railshmem::cuda::kernels
