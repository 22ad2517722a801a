// SPDX-License-Identifier: BSD-3-Clause
// Small exchanges among mapped members: each packet carries its own flag, so one trip over NVLink is all it takes.
#ifndef SHMEM_DEVICE_PACKETS_H
#define SHMEM_DEVICE_PACKETS_H

#include <stdint.h>

#include "shmem/detail/copy.h"
#include "shmem/device/sync.h"

namespace railshmem {
namespace device {

/// Waits until the packet of an exchange is there.
RAILSHMEM_HD RAILSHMEM_OUT_OF_LINE inline ChannelStatus await_packet(const WorldView& world, const Packet* packet,
                                                                     uint64_t number) {
  Waiter waiter(error_of(world), Deadline{world.timeout_ns});
  for (;;) {
    uint64_t data = 0, found = 0;
    portable::load_pair(&packet->data, &data, &found);
    if (found == number) return ChannelStatus::ok;
    const ChannelStatus status = waiter.turn();
    if (status != ChannelStatus::ok) return status;
  }
}

/// Deals blocks of `words` words to the threads of a scope in turn. Two divisions in all, not two a word.
struct Deal {
  uint32_t step, word;  ///< the block, and the word in it

  RAILSHMEM_HD Deal(uint32_t rank, uint32_t size, uint32_t words)
      : step(rank / words), word(rank % words), words_(words), steps_(size / words), rest_(size - steps_ * words) {}
  RAILSHMEM_HD void next() {
    step += steps_;
    word += rest_;
    if (word >= words_) {
      word -= words_;
      ++step;
    }
  }

 private:
  uint32_t words_, steps_, rest_;
};

/// Packets that one thread has in flight at once: a load takes the time of a hundred instructions.
struct Batch {
  static constexpr uint32_t kMost = 4;
  uint64_t word[kMost];
  uint64_t number[kMost];

  /// How many packets a batch holds from the k-th of `words` on.
  RAILSHMEM_HD static uint32_t at(uint32_t k, uint32_t words) { return words - k < kMost ? words - k : kMost; }
  /// Takes whole words only.
  RAILSHMEM_HD void load(const void* block, uint32_t k, uint32_t count) {
    const auto* const from = static_cast<const copying::Bytes8*>(block) + k;
    RAILSHMEM_UNROLL
    for (uint32_t i = 0; i < kMost; ++i) word[i] = from[i < count ? i : 0];
  }
  RAILSHMEM_HD void store(void* block, uint32_t k, uint32_t count) const {
    auto* const to = static_cast<copying::Bytes8*>(block) + k;
    RAILSHMEM_UNROLL
    for (uint32_t i = 0; i < kMost; ++i) {
      if (i < count) to[i] = word[i];
    }
  }
};

/// Whether blocks consist of whole words that can be loaded and stored as such.
RAILSHMEM_HD inline bool whole_words(const void* dest, const void* source, uint64_t nbytes) {
  return ((reinterpret_cast<uintptr_t>(dest) | reinterpret_cast<uintptr_t>(source) | nbytes) & 7) == 0;
}

/// From which members a PE had a packet in an exchange.
enum class Heard : uint8_t { not_all, all };

/// One exchange of a team. Every member runs each exchange, also a member that sends nothing, and ends it with close().
template <class Scope>
class Exchange {
 public:
  RAILSHMEM_HD Exchange(const WorldView& world, const Members& team) : world_(world), team_(team) {
    number_ = portable::load_relaxed(&team.counters()->exchanges) + 1;
    // A PE that heard from every member in the last exchange knows that they have read what it sent in the one before.
    free_ = portable::load_relaxed(&team.counters()->heard) + 1 == number_ || number_ <= 2;
    Scope::sync();  // all threads have read the counters
  }

  /// Waits until packets for another member have room there.
  RAILSHMEM_HD void await_room(int to) {
    if (free_ || to == checked_ || status_ != ChannelStatus::ok) return;
    checked_ = to;
    // The place holds the packet of two exchanges ago until the other member has read it, which mostly happened long
    // since.
    const auto* const taken = team_.mine<uint64_t>(team_.layout().taken(team_.slot(), to));
    if (portable::load_acquire(taken) < number_ - 2) status_ = await_number(world_, taken, number_ - 2);
  }

  /// Packet k for another member.
  RAILSHMEM_HD void send(int to, uint64_t k, uint64_t data) {
    await_room(to);
    if (status_ == ChannelStatus::ok) portable::store_pair(&room_of(to)[k].data, data, number_);
  }

  /// Packet k of another member; 0 after a failure.
  RAILSHMEM_HD uint64_t receive(int from, uint64_t k) {
    const auto* const packet = team_.mine<Packet>(team_.layout().packets(team_.slot(), number_, from)) + k;
    uint64_t data = 0, found = 0;
    RAILSHMEM_NO_UNROLL
    for (int turn = 0; turn < kShortTurns && status_ == ChannelStatus::ok; ++turn) {
      portable::load_pair(&packet->data, &data, &found);
      if (found == number_) return data;
    }
    if (status_ == ChannelStatus::ok) status_ = await_packet(world_, packet, number_);
    if (status_ != ChannelStatus::ok) return 0;
    portable::load_pair(&packet->data, &data, &found);
    return data;
  }

  /// Packets [k, k + count) for another member that has room for them.
  RAILSHMEM_HD void send(int to, uint32_t k, uint32_t count, const Batch& batch) {
    if (status_ != ChannelStatus::ok) return;
    Packet* const packets = room_of(to) + k;
    RAILSHMEM_UNROLL
    for (uint32_t i = 0; i < Batch::kMost; ++i) {
      if (i < count) portable::store_pair(&packets[i].data, batch.word[i], number_);
    }
  }

  /// Packets [k, k + count) of another member, all loads in flight at once.
  RAILSHMEM_HD void receive(int from, uint32_t k, uint32_t count, Batch& batch) {
    const auto* const packets = team_.mine<Packet>(team_.layout().packets(team_.slot(), number_, from)) + k;
    RAILSHMEM_NO_UNROLL
    for (int turn = 0; status_ == ChannelStatus::ok; ++turn) {
      uint32_t there = 0;
      RAILSHMEM_UNROLL
      for (uint32_t i = 0; i < Batch::kMost; ++i) {
        portable::load_pair(&packets[i < count ? i : 0].data, &batch.word[i], &batch.number[i]);
      }
      RAILSHMEM_UNROLL
      for (uint32_t i = 0; i < Batch::kMost; ++i) there += batch.number[i] == number_ ? 1 : 0;
      if (there == Batch::kMost) return;
      // Awaits the packets one after the other, then loads them once more together: values held here need not outlive a
      // call.
      for (uint32_t i = 0; turn >= kShortTurns && i < count && status_ == ChannelStatus::ok; ++i) {
        status_ = await_packet(world_, packets + i, number_);
      }
    }
  }

  /// Ends the exchange when all threads have received their packets; tells the others that this PE's places are free
  /// again.
  RAILSHMEM_HD ChannelStatus close(Heard heard) {
    if (Scope::leads()) {
      // Stored after a failure too: the team is of no use any more.
      portable::store_relaxed(&team_.counters()->exchanges, number_);
      if (heard == Heard::all) portable::store_relaxed(&team_.counters()->heard, number_);
    }
    Scope::sync();
    const auto n = static_cast<uint32_t>(team_.size()), me = static_cast<uint32_t>(team_.rank());
    RAILSHMEM_NO_UNROLL
    for (uint32_t i = Scope::rank(); i < n; i += Scope::size()) {
      if (i == me) continue;
      // No fence: the packets were compared and used, so their loads are done.
      portable::store_fenced(
          team_.theirs<uint64_t>(static_cast<int>(i), team_.layout().taken(team_.slot(), team_.rank())), number_);
    }
    return status_;
  }

 private:
  /// Where this PE's packets lie at another member.
  RAILSHMEM_HD Packet* room_of(int to) const {
    return team_.theirs<Packet>(to, team_.layout().packets(team_.slot(), number_, team_.rank()));
  }

  const WorldView& world_;
  const Members& team_;
  uint64_t number_;
  bool free_;
  int checked_ = -1;
  ChannelStatus status_ = ChannelStatus::ok;
};

/// Word k of a block of nbytes.
RAILSHMEM_HD inline uint64_t word_of(const void* block, uint64_t k, uint64_t nbytes) {
  const uint64_t left = nbytes - 8 * k;
  return load_value(static_cast<const unsigned char*>(block) + 8 * k, left < 8 ? left : 8);
}

RAILSHMEM_HD inline void set_word(void* block, uint64_t k, uint64_t nbytes, uint64_t word) {
  const uint64_t left = nbytes - 8 * k;
  store_value(static_cast<unsigned char*>(block) + 8 * k, word, left < 8 ? left : 8);
}

}  // namespace device
}  // namespace railshmem

#endif
