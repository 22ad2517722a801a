// SPDX-License-Identifier: BSD-3-Clause
// Small exchanges among mapped members: each packet carries its own flag, so one trip over NVLink is all it takes.
#ifndef SHMEM_DEVICE_PACKETS_H
#define SHMEM_DEVICE_PACKETS_H

#include <stdint.h>

#include "shmem/detail/copy.h"
#include "shmem/device/sync.h"

namespace railshmem {
namespace device {

/// Until the packet of an exchange is there.
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

/// From whom a PE had a packet in an exchange.
enum class Heard : uint8_t { not_all, all };

/// One exchange of a team. Every member runs each one, also those that have nothing to say, and ends it with close().
template <class Scope>
class Exchange {
 public:
  RAILSHMEM_HD Exchange(const WorldView& world, const Members& team) : world_(world), team_(team) {
    number_ = portable::load_relaxed(&team.counters()->exchanges) + 1;
    // Who has heard from everybody in the last exchange knows that they have read what it sent them before that.
    free_ = portable::load_relaxed(&team.counters()->heard) + 1 == number_ || number_ <= 2;
    Scope::sync();  // all threads have read the counters
  }

  /// Packet k for another member.
  RAILSHMEM_HD void send(int to, uint64_t k, uint64_t data) {
    if (!free_ && to != checked_ && status_ == ChannelStatus::ok) {
      checked_ = to;
      // Its place holds the packet of two exchanges ago, until the other has read that; it mostly has, long since.
      const auto* const taken = team_.mine<uint64_t>(team_.layout().taken(team_.slot(), to));
      if (portable::load_acquire(taken) < number_ - 2) status_ = await_number(world_, taken, number_ - 2);
    }
    if (status_ != ChannelStatus::ok) return;
    auto* const packet = team_.theirs<Packet>(to, team_.layout().packets(team_.slot(), number_, team_.rank())) + k;
    portable::store_pair(&packet->data, data, number_);
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

  /// All threads have received what they wait for; tells the others that this PE's places are free again.
  RAILSHMEM_HD ChannelStatus close(Heard heard) {
    if (Scope::leads()) {
      // After a failure too: the team is of no use any more.
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
