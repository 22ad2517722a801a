// SPDX-License-Identifier: BSD-3-Clause
// How a block of a collective's kernel talks with the blocks of its number in the other members' kernels. For CUDA, and
// for threads that stand for kernels.
#pragma once

#include "shmem/device/calls/define.h"
#include "shmem/device/packets.h"
#include "src/cuda/kernels/coll_call.h"

namespace railshmem::cuda::kernels {

using Unit = copying::Bytes16;

/// What a thread handles in an exchange.
template <uint32_t kUnits>
struct Units {
  static_assert(kUnits >= 1 && kUnits <= kUnitsOfThread);
  Unit at[kUnits];
};

/// The bytes of units as packets carry them: packet i has the first 12 of unit i, the last packet has the others. The
/// last word of each packet is the exchange's number.
class PackedUnits {
 public:
  static constexpr uint32_t kLast = kUnitsOfThread;

  /// A packet's words without the number.
  RAILSHMEM_KERNEL static Packet first(const Unit& unit) { return {unit.lo, static_cast<uint32_t>(unit.hi)}; }
  template <uint32_t kUnits>
  RAILSHMEM_KERNEL static Packet last(const Units<kUnits>& units) {
    Packet packet{units.at[0].hi >> 32, 0};
    if constexpr (kUnits > 1) packet.data |= units.at[1].hi >> 32 << 32;
    if constexpr (kUnits > 2) packet.number = units.at[2].hi >> 32;
    return packet;
  }
  /// Unit i out of its two packets.
  RAILSHMEM_KERNEL static Unit unit(uint32_t i, const Packet& first, const Packet& last) {
    const uint64_t word = i == 2 ? last.number : i == 1 ? last.data >> 32 : last.data;
    return {first.data, static_cast<uint32_t>(first.number) | word << 32};
  }
  static_assert(kUnitsOfThread == 3);
};

/// Tells the host of a graph that was launched when its team had gone. The caller then waits in vain, so that the host
/// ends the process before the stream goes on.
RAILSHMEM_KERNEL RAILSHMEM_OUT_OF_LINE inline void tell_closed() {
  device::finish(device::this_world(), DeviceCall::coll_on_stream, ChannelStatus::closed, -1, nullptr);
}

/// The number in a packet of a unit.
RAILSHMEM_KERNEL inline uint32_t number_in(uint64_t word) {
  return static_cast<uint32_t>(word >> 32);
}

/// Waits for a packet that is not there yet. Short exchanges do not come here, so what it looks at costs them nothing.
RAILSHMEM_KERNEL RAILSHMEM_OUT_OF_LINE inline ChannelStatus await_late(const Packet* packet, uint32_t number) {
  const WorldView& world = device::this_world();
  device::Waiter waiter(device::error_of(world), device::Deadline{world.timeout_ns});
  for (;;) {
    uint64_t data = 0, word = 0;
    portable::load_pair(&packet->data, &data, &word);
    if (number_in(word) == number) return ChannelStatus::ok;
    const ChannelStatus status = waiter.turn();
    if (status != ChannelStatus::ok) return status;
  }
}

/// Exchanges of a block are numbered, and the number is in this member's memory: a replayed graph goes on where its
/// last run ended. An exchange uses one of two sets of places in turn. A block that is in exchange k + 2 has heard from
/// every other member in exchange k + 1, and a member sends in k + 1 only when its whole block is done with k. So
/// nobody overwrites what is still to be read, and nothing is ever reset. This asks two things of every exchange: each
/// member sends each other one at least one packet in every block that takes part, and a block's threads meet between
/// two exchanges of one kernel.
class Talk {
 public:
  RAILSHMEM_KERNEL explicit Talk(const CollMembers& members) : Talk(members, threads::block_in_row()) {}
  /// The calling block talks for block `block`, which has ended.
  RAILSHMEM_KERNEL Talk(const CollMembers& members, uint32_t block)
      : members_(members),
        layout_(members.n),
        block_(block),
        number_(portable::load_relaxed(mine<uint64_t>(layout_.number(block_)))) {}

  RAILSHMEM_KERNEL int n() const { return members_.n; }
  RAILSHMEM_KERNEL int me() const { return members_.me; }
  /// The member `steps` behind this one: not all send to one member first.
  RAILSHMEM_KERNEL int after(int steps) const {
    const int sum = members_.me + steps;
    return sum < members_.n ? sum : sum - members_.n;
  }
  /// Blocks [0, this) of the grid have places for packets.
  RAILSHMEM_KERNEL uint32_t blocks_with_packets() const {
    const uint32_t most = members_.packet_blocks, all = threads::blocks_in_row();
    return all < most ? all : most;
  }
  /// All threads of the block.
  RAILSHMEM_KERNEL void next() {
    ++number_;
    if (number_ % ScratchLayout::kRenewal != 0) return;
    const Renewal renewal = renew(members_, block_, number_, well());
    number_ = renewal.number;
    if (renewal.late < 0) return;
    status_ = renewal.status;
    late_ = renewal.late;
  }
  RAILSHMEM_KERNEL uint64_t number() const { return number_; }
  RAILSHMEM_KERNEL bool well() const { return status_ == ChannelStatus::ok; }

  /// Sends the first `count` units of this thread to a member, and at least one packet.
  template <uint32_t kUnits>
  RAILSHMEM_KERNEL void send(uint32_t area, int to, const Units<kUnits>& units, uint32_t count) const {
    Packet* const at =
        theirs<Packet>(to, layout_.packets(area, number_, block_, members_.me)) + threads::thread_in_row();
    RAILSHMEM_UNROLL
    for (uint32_t i = 0; i < kUnits; ++i) {
      if (i < count) store(at + i * kCollThreads, PackedUnits::first(units.at[i]));
    }
    store(at + PackedUnits::kLast * kCollThreads, PackedUnits::last(units));
  }

  /// Returns the units that this thread's partner sent; anything after a failure.
  template <uint32_t kUnits>
  RAILSHMEM_KERNEL Units<kUnits> receive(uint32_t area, int from, uint32_t count) {
    const Packet* const at = inbox(area, from);
    Units<kUnits> units{};
    RAILSHMEM_NO_UNROLL
    for (int turn = 0; turn < device::kShortTurns; ++turn) {
      if (look(at, count, units) || !well()) return units;
    }
    RAILSHMEM_NO_UNROLL
    for (uint32_t i = 0; i < ScratchLayout::kPacketsOfThread; ++i) {
      if (i < count || i == PackedUnits::kLast) await_packet(at + i * kCollThreads, from);
    }
    look(at, count, units);
    return units;
  }

  /// Unit i of the members [first, first + count): `own` for this member. All loads are on their way at once.
  static constexpr int kGroup = 4;
  RAILSHMEM_KERNEL void receive_group(int first, int count, uint32_t i, Unit own, Unit (&units)[kGroup]) {
    uint32_t there = 0;
    RAILSHMEM_UNROLL
    for (int k = 0; k < kGroup; ++k) {
      units[k] = own;
      if (k >= count || first + k == members_.me) there |= 1u << k;
    }
    RAILSHMEM_NO_UNROLL
    for (int turn = 0; turn < device::kShortTurns; ++turn) {
      RAILSHMEM_UNROLL
      for (int k = 0; k < kGroup; ++k) {
        if ((there >> k & 1) == 0 && look_at_one(inbox(0, first + k), i, &units[k])) there |= 1u << k;
      }
      if (there == (1u << kGroup) - 1 || !well()) return;
    }
    RAILSHMEM_UNROLL
    for (int k = 0; k < kGroup; ++k) {
      if ((there >> k & 1) != 0) continue;
      const Packet* const at = inbox(0, first + k);
      await_packet(at + i * kCollThreads, first + k);
      await_packet(at + PackedUnits::kLast * kCollThreads, first + k);
      look_at_one(at, i, &units[k]);
    }
  }

  /// Tells a member two words, by one thread, and waits for a member's words.
  RAILSHMEM_KERNEL void tell(int to, uint64_t first, uint64_t second) const {
    Packet* const at = theirs<Packet>(to, layout_.tokens(number_, block_, members_.me));
    portable::store_pair(&at[0].data, first, number_);
    portable::store_pair(&at[1].data, second, number_);
  }
  RAILSHMEM_KERNEL void hear(int from, uint64_t* first, uint64_t* second) {
    const Packet* const at = mine<Packet>(layout_.tokens(number_, block_, from));
    await_word(at, from, first);
    await_word(at + 1, from, second);
  }

  /// Waits until a member's counter has reached `count`; what the member stored before is visible then.
  RAILSHMEM_KERNEL void await_count(const uint64_t* counter, uint64_t count, int of) {
    if (!well()) return;
    if (number_ >= ScratchLayout::kClosed) tell_closed();
    status_ = device::await_number(device::this_world(), counter, count);
    late_ = of;
  }

  /// Ends the block's part: all threads call it once, behind their last exchange.
  RAILSHMEM_KERNEL void close(const void* dest) {
    threads::sync_block();
    if (threads::thread_in_row() == 0) portable::store_relaxed(mine<uint64_t>(layout_.number(block_)), number_);
    report(dest);
  }
  /// Ends the job, by its host, where some member did not come.
  RAILSHMEM_KERNEL void report(const void* dest) const {
    if (well()) return;
    const int pe = static_cast<int>(*mine<int32_t>(layout_.pe(late_)));
    device::finish(device::this_world(), DeviceCall::coll_on_stream, status_, pe, dest);
  }

  RAILSHMEM_KERNEL const CollMembers& members() const { return members_; }
  RAILSHMEM_KERNEL const ScratchLayout& layout() const { return layout_; }
  RAILSHMEM_KERNEL uint32_t block() const { return block_; }
  /// What is at an offset of this member's scratch memory, or of another member's.
  template <class T>
  RAILSHMEM_KERNEL T* mine(uint32_t offset) const {
    return theirs<T>(members_.me, offset);
  }
  template <class T>
  RAILSHMEM_KERNEL T* theirs(int member, uint32_t offset) const {
    return reinterpret_cast<T*>(members_.scratch + static_cast<uint32_t>(member) * members_.stride + offset);
  }

 private:
  /// The number of the exchange behind a renewal. `late`: who did not come, or -1.
  struct Renewal {
    uint64_t number;
    ChannelStatus status;
    int late;
  };
  RAILSHMEM_KERNEL static Renewal renew(const CollMembers& members, uint32_t block, uint64_t number, bool well);

  RAILSHMEM_KERNEL const Packet* inbox(uint32_t area, int from) const {
    return mine<Packet>(layout_.packets(area, number_, block_, from)) + threads::thread_in_row();
  }
  RAILSHMEM_KERNEL uint32_t number_in_packets() const { return static_cast<uint32_t>(number_); }
  RAILSHMEM_KERNEL void store(Packet* to, const Packet& words) const {
    portable::store_pair(&to->data, words.data, words.number | static_cast<uint64_t>(number_in_packets()) << 32);
  }
  /// Loads a packet. Returns whether it is of this exchange.
  RAILSHMEM_KERNEL bool load(const Packet* from, Packet& words) const {
    portable::load_pair(&from->data, &words.data, &words.number);
    return number_in(words.number) == number_in_packets();
  }
  /// Whether the first `count` units are there.
  template <uint32_t kUnits>
  RAILSHMEM_KERNEL bool look(const Packet* at, uint32_t count, Units<kUnits>& units) const {
    Packet packets[kUnits] = {}, last{};
    bool there = load(at + PackedUnits::kLast * kCollThreads, last);
    RAILSHMEM_UNROLL
    for (uint32_t i = 0; i < kUnits; ++i) {
      if (i < count) there &= load(at + i * kCollThreads, packets[i]);
    }
    if (!there) return false;
    RAILSHMEM_UNROLL
    for (uint32_t i = 0; i < kUnits; ++i) {
      if (i < count) units.at[i] = PackedUnits::unit(i, packets[i], last);
    }
    return true;
  }
  RAILSHMEM_KERNEL bool look_at_one(const Packet* at, uint32_t i, Unit* unit) const {
    Packet first{}, last{};
    const bool there = load(at + i * kCollThreads, first) & load(at + PackedUnits::kLast * kCollThreads, last);
    if (there) *unit = PackedUnits::unit(i, first, last);
    return there;
  }
  RAILSHMEM_KERNEL void await_packet(const Packet* at, int from) {
    Packet words;
    if (load(at, words) || !well()) return;
    status_ = await_late(at, number_in_packets());
    late_ = from;
  }
  /// One of the two packets that tell() stores. They have whole numbers.
  RAILSHMEM_KERNEL void await_word(const Packet* at, int from, uint64_t* data) {
    uint64_t found = 0;
    portable::load_pair(&at->data, data, &found);
    if (found == number_ || !well()) return;
    status_ = device::await_packet(device::this_world(), at, number_);
    late_ = from;
    portable::load_pair(&at->data, data, &found);
  }

  const CollMembers& members_;
  const ScratchLayout layout_;
  const uint32_t block_;
  uint64_t number_;
  int late_ = 0;  ///< whom this thread waited for when the exchange failed
  ChannelStatus status_ = ChannelStatus::ok;
};

/// An exchange of its own, in which the members empty the places of this block's packets. What they sent in the last
/// one has been received, and nobody sends until all have emptied theirs. Where the team has gone, the block's number
/// stays.
RAILSHMEM_KERNEL RAILSHMEM_OUT_OF_LINE inline Talk::Renewal Talk::renew(const CollMembers& members, uint32_t block,
                                                                        uint64_t number, bool well) {
  Talk talk(members, block);
  talk.number_ = number;
  if (number >= ScratchLayout::kClosed) {
    if (!well) return {number - 1, ChannelStatus::closed, -1};
    tell_closed();
    const auto* const never = talk.mine<uint64_t>(talk.layout().never());
    return {number - 1, device::await_number(device::this_world(), never, ~uint64_t{0}), members.me};
  }
  threads::sync_block();
  const uint32_t rank = threads::thread_in_row(), size = threads::row_size();
  for (uint32_t set = 0; set < 4 && block < members.packet_blocks; ++set) {
    for (int from = 0; from < talk.n(); ++from) {
      auto* const at = talk.mine<Unit>(talk.layout().packets(set / 2, set % 2, block, from));
      for (uint32_t i = rank; i < ScratchLayout::kPacketsOfThread * kCollThreads; i += size)
        copying::store(at + i, Unit{0, 0});
    }
  }
  threads::sync_block();
  if (rank == 0) {
    portable::release_fence();
    for (int i = 1; i < talk.n(); ++i) talk.tell(talk.after(i), 0, 0);
    for (int i = 1; i < talk.n(); ++i) {
      uint64_t unused = 0;
      talk.hear(talk.after(i), &unused, &unused);
    }
    portable::acquire_fence();
  }
  threads::sync_block();
  return {number + 1, talk.status_, talk.well() ? -1 : talk.late_};
}

/// The unit of an array that has `left` bytes from `from` on; zeros behind its end.
RAILSHMEM_KERNEL RAILSHMEM_OUT_OF_LINE inline Unit load_ragged(const unsigned char* from, uint64_t left) {
  if (left == 0) return {0, 0};
  const uint64_t lo = load_value(from, left < 8 ? left : 8);
  if (left <= 8) return {lo, 0};
  return {lo, load_value(from + 8, left < 16 ? left - 8 : 8)};
}
RAILSHMEM_KERNEL inline Unit load_unit(const unsigned char* from, uint64_t left) {
  if (left >= kUnit && reinterpret_cast<uintptr_t>(from) % kUnit == 0)
    return copying::load(reinterpret_cast<const Unit*>(from));
  return load_ragged(from, left);
}
RAILSHMEM_KERNEL RAILSHMEM_OUT_OF_LINE inline void store_ragged(unsigned char* to, Unit unit, uint64_t left) {
  if (left == 0) return;
  store_value(to, unit.lo, left < 8 ? left : 8);
  if (left > 8) store_value(to + 8, unit.hi, left < 16 ? left - 8 : 8);
}
RAILSHMEM_KERNEL inline void store_unit(unsigned char* to, Unit unit, uint64_t left) {
  if (left >= kUnit && reinterpret_cast<uintptr_t>(to) % kUnit == 0)
    return copying::store(reinterpret_cast<Unit*>(to), unit);
  store_ragged(to, unit, left);
}

/// Bytes from `at` to the end of an array.
RAILSHMEM_HD inline uint64_t left_of(uint64_t nbytes, uint64_t at) {
  return at < nbytes ? nbytes - at : 0;
}

}  // namespace railshmem::cuda::kernels
