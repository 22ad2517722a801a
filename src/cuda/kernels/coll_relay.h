// SPDX-License-Identifier: BSD-3-Clause
// Slices of data on their way through the scratch memory of their receivers, for members who do not reach each other's
// buffers: the link carries data alone, where packets are half numbers. For CUDA, and for threads that stand for
// kernels.
#pragma once

#include "src/cuda/kernels/coll_talk.h"

namespace railshmem::cuda::kernels {

/// A block's rings from and to the blocks of its number at all other members. A ring has ScratchLayout::kSlots slots.
/// The sender waits for a free slot, its threads store a slice there, they meet, and one thread stores the number of
/// slices sent behind a fence; the receiver's threads load, they meet, and one thread stores the number of slices
/// taken. Both numbers only grow. A call begins with all rings empty and leaves them so, and its first slice has the
/// number behind the last call's, which lies in the memory of this GPU. So a member may be any number of calls ahead as
/// long as there are slots, a replayed graph goes on, and nothing is ever reset.
///
/// All threads of the block make each call, and all members send and take equal numbers of slices in one order, empty
/// ones too. No member is stuck: what it waits for, another one does earlier in that order.
class Relay {
 public:
  /// `failed` is of the block.
  RAILSHMEM_KERNEL Relay(Talk& talk, uint32_t* failed)
      : talk_(talk), failed_(failed), sent_(portable::load_relaxed(relayed())), taken_(sent_) {
    if (threads::thread_in_row() == 0) *failed_ = 0;
    threads::sync_block();
  }

  // Waits for all other members. False: one of them did not come; then the block's part ends. The threads meet between
  // two waits, in send() or take().

  /// For a free slot.
  RAILSHMEM_KERNEL bool await_room() { return await(for_room(), 0); }
  /// For the next slice.
  RAILSHMEM_KERNEL bool await_slices() { return await(0, taken_ + 1); }
  RAILSHMEM_KERNEL bool await_both() { return await(for_room(), taken_ + 1); }

  /// The slot at a member for the slice that the block sends next.
  RAILSHMEM_KERNEL unsigned char* room(int to) const {
    return talk_.theirs<unsigned char>(to, talk_.layout().slot(sent_, talk_.block(), talk_.me(), to));
  }
  /// The slice of a member that the block takes next.
  RAILSHMEM_KERNEL const unsigned char* slice(int from) const {
    return talk_.mine<unsigned char>(talk_.layout().slot(taken_, talk_.block(), from, talk_.me()));
  }

  /// The slices for all other members are in their slots.
  RAILSHMEM_KERNEL void send() {
    threads::sync_block();
    tell(talk_.layout().sent(talk_.block(), talk_.me()), ++sent_, Fence::release);
  }
  /// The slices of all other members are used. No fence: the block's loads have ended when it meets, because what was
  /// loaded was stored.
  RAILSHMEM_KERNEL void take() {
    threads::sync_block();
    tell(talk_.layout().taken(talk_.block(), talk_.me()), ++taken_, Fence::none);
  }
  /// Ends the block's part, well or not.
  RAILSHMEM_KERNEL void close() {
    if (threads::thread_in_row() == 0) portable::store_relaxed(relayed(), sent_);
  }

 private:
  enum class Fence : uint8_t { none, release };

  RAILSHMEM_KERNEL uint64_t* relayed() const { return talk_.mine<uint64_t>(talk_.layout().relayed(talk_.block())); }
  /// How many slices must be taken before the next one has a slot.
  RAILSHMEM_KERNEL uint64_t for_room() const {
    return sent_ < ScratchLayout::kSlots ? 0 : sent_ + 1 - ScratchLayout::kSlots;
  }
  /// Thread k waits for member k. The acquire in each wait, and the meeting, make what the member stored visible to all
  /// threads of the block.
  RAILSHMEM_KERNEL bool await(uint64_t taken, uint64_t sent) {
    const ScratchLayout& layout = talk_.layout();
    RAILSHMEM_NO_UNROLL
    for (uint32_t i = threads::thread_in_row(); i < static_cast<uint32_t>(talk_.n()); i += threads::row_size()) {
      const auto k = static_cast<int>(i);
      if (k == talk_.me()) continue;
      if (taken != 0) talk_.await_count(talk_.mine<uint64_t>(layout.taken(talk_.block(), k)), taken, k);
      if (sent != 0) talk_.await_count(talk_.mine<uint64_t>(layout.sent(talk_.block(), k)), sent, k);
      if (!talk_.well()) *failed_ = 1;
    }
    threads::sync_block();
    return *failed_ == 0;
  }
  RAILSHMEM_KERNEL void tell(uint32_t counter, uint64_t count, Fence fence) const {
    const uint32_t rank = threads::thread_in_row();
    RAILSHMEM_NO_UNROLL
    for (uint32_t k = rank; k < static_cast<uint32_t>(talk_.n()); k += threads::row_size()) {
      if (k == rank && fence == Fence::release) portable::release_fence();  // what the block stored comes before
      if (static_cast<int>(k) == talk_.me()) continue;
      portable::store_fenced(talk_.theirs<uint64_t>(static_cast<int>(k), counter), count);
    }
  }

  Talk& talk_;
  uint32_t* const failed_;
  uint64_t sent_, taken_;
};

/// How the vectors of a call are cut: a block takes every blocks-th slice. All members cut alike.
class Slices {
 public:
  /// `nbytes` of the largest vector of all members.
  RAILSHMEM_KERNEL Slices(const Talk& talk, uint64_t nbytes) : block_(talk.block()) {
    const uint32_t most = talk.layout().relay_blocks(), all = threads::blocks_in_row();
    blocks_ = all < most ? all : most;
    const uint64_t share = (nbytes + blocks_ - 1) / blocks_;
    const uint64_t wanted = (share / kOfBlock + kGrain - 1) / kGrain * kGrain;
    const uint64_t largest = talk.layout().slot_nbytes();
    slice_ = wanted < kSmallest ? kSmallest : wanted > largest ? largest : wanted;
    const uint64_t slices = (nbytes + slice_ - 1) / slice_;
    count_ = block_ < blocks_ && block_ < slices ? (slices - block_ - 1) / blocks_ + 1 : 0;
  }
  /// Slices of the calling block.
  RAILSHMEM_KERNEL uint64_t count() const { return count_; }
  /// Where the block's slice i begins in a vector.
  RAILSHMEM_KERNEL uint64_t at(uint64_t i) const { return (block_ + i * blocks_) * slice_; }
  /// How much of a slice there is in a vector that has `left` bytes from its begin on.
  RAILSHMEM_KERNEL uint64_t in(uint64_t left) const { return left < slice_ ? left : slice_; }

 private:
  static constexpr uint64_t kOfBlock = 4;                      // one on the link, while another one is loaded
  static constexpr uint64_t kGrain = 1024;                     // slices of whole elements, and of whole lines
  static constexpr uint64_t kSmallest = kCollThreads * kUnit;  // something for each thread to do

  const uint32_t block_;
  uint32_t blocks_;
  uint64_t slice_, count_;
};

}  // namespace railshmem::cuda::kernels
