// SPDX-License-Identifier: BSD-3-Clause
// How a block of a collective's kernel talks with the blocks of its number in the other members' kernels. For CUDA, and
// for threads that stand for kernels.
#pragma once

#include "shmem/device/calls/define.h"
#include "shmem/device/packets.h"
#include "src/cuda/kernels/coll_call.h"

namespace railshmem::cuda::kernels {

using Unit = copying::Bytes16;

/// Tells the host of a graph that was launched when its team had gone. The caller then waits in vain, so that the host
/// ends the process before the stream goes on.
RAILSHMEM_KERNEL RAILSHMEM_OUT_OF_LINE inline void tell_closed() {
  device::finish(device::this_world(), DeviceCall::coll_on_stream, ChannelStatus::closed, -1, nullptr);
}

/// Waits for a packet that is not there yet. Short exchanges do not come here, so what it looks at costs them nothing.
RAILSHMEM_KERNEL RAILSHMEM_OUT_OF_LINE inline ChannelStatus await_late(const Packet* packet, uint64_t number) {
  if (number >= ScratchLayout::kClosed) tell_closed();
  return device::await_packet(device::this_world(), packet, number);
}

/// Exchanges of a block are numbered, and the number lies in this member's memory: a replayed graph goes on where its
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
  RAILSHMEM_KERNEL void next() { ++number_; }
  RAILSHMEM_KERNEL uint64_t number() const { return number_; }
  RAILSHMEM_KERNEL bool well() const { return status_ == ChannelStatus::ok; }

  /// Sends this thread's unit to a member.
  RAILSHMEM_KERNEL void send(uint32_t area, int to, Unit unit) const {
    Packet* const at =
        theirs<Packet>(to, layout_.packets(area, number_, block_, members_.me)) + threads::thread_in_row();
    portable::store_pair(&at->data, unit.lo, number_);
    portable::store_pair(&at[kCollThreads].data, unit.hi, number_);
  }

  /// Returns the unit that this thread's partner sent; anything after a failure.
  RAILSHMEM_KERNEL Unit receive(uint32_t area, int from) {
    const Packet* const at = inbox(area, from);
    Unit unit{0, 0};
    RAILSHMEM_NO_UNROLL
    for (int turn = 0; turn < device::kShortTurns; ++turn) {
      if (look(at, &unit) || !well()) return unit;
    }
    await_one(at, from, &unit.lo);
    await_one(at + kCollThreads, from, &unit.hi);
    return unit;
  }

  /// Units of the members [first, first + count): `own` for this member. All loads are on their way at once.
  static constexpr int kGroup = 4;
  RAILSHMEM_KERNEL void receive_group(int first, int count, Unit own, Unit (&units)[kGroup]) {
    uint32_t there = 0;
    RAILSHMEM_UNROLL
    for (int i = 0; i < kGroup; ++i) {
      units[i] = own;
      if (i >= count || first + i == members_.me || look(inbox(0, first + i), &units[i])) there |= 1u << i;
    }
    RAILSHMEM_UNROLL
    for (int i = 0; i < kGroup; ++i) {
      if ((there >> i & 1) == 0) units[i] = receive(0, first + i);
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
    await_one(at, from, first);
    await_one(at + 1, from, second);
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

  RAILSHMEM_KERNEL const ScratchLayout& layout() const { return layout_; }
  RAILSHMEM_KERNEL uint32_t block() const { return block_; }
  /// What lies at an offset of this member's scratch memory, or of another member's.
  template <class T>
  RAILSHMEM_KERNEL T* mine(uint32_t offset) const {
    return theirs<T>(members_.me, offset);
  }
  template <class T>
  RAILSHMEM_KERNEL T* theirs(int member, uint32_t offset) const {
    return reinterpret_cast<T*>(members_.scratch + static_cast<uint32_t>(member) * members_.stride + offset);
  }

 private:
  RAILSHMEM_KERNEL const Packet* inbox(uint32_t area, int from) const {
    return mine<Packet>(layout_.packets(area, number_, block_, from)) + threads::thread_in_row();
  }
  /// Whether the unit is there.
  RAILSHMEM_KERNEL bool look(const Packet* at, Unit* unit) const {
    uint64_t lo = 0, hi = 0, of_lo = 0, of_hi = 0;
    portable::load_pair(&at->data, &lo, &of_lo);
    portable::load_pair(&at[kCollThreads].data, &hi, &of_hi);
    if (of_lo != number_ || of_hi != number_) return false;
    *unit = {lo, hi};
    return true;
  }
  RAILSHMEM_KERNEL void await_one(const Packet* at, int from, uint64_t* data) {
    uint64_t found = 0;
    portable::load_pair(&at->data, data, &found);
    if (found == number_ || !well()) return;
    status_ = await_late(at, number_);
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
