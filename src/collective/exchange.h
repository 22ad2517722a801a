// SPDX-License-Identifier: BSD-3-Clause
// Full exchange: every member hands its operand to every other and waits for theirs; one flag latency.
//
// Every member waits for all others, so members are at most one exchange apart. Two sets of lines and slots, used in
// turn, suffice (TeamAreaLayout::exchange). Each member counts every exchange in its team.exchanges.
#pragma once

#include <cstring>

#include "src/collective/flags.h"
#include "src/collective/reduction.h"

namespace railshmem {

/// Operands of at most this size go through an exchange.
inline bool is_short(const Reduction& job) noexcept {
  return job.nbytes() <= TeamAreaLayout::kSlotBytes;
}

/// Reduces short operands in the memory of GPUs by way of the host's: no kernel, so no free multiprocessor, is needed.
/// Runs `algorithm(job)` on a copy of `source_nbytes` of source, at most TeamAreaLayout::kSlotBytes, in this PE's own
/// memory, which also takes the result. For algorithms that reach no operand of another member but by an exchange.
template <class Algorithm>
void reduce_by_host(Team& team, const Reduction& job, size_t source_nbytes, Algorithm&& algorithm) noexcept {
  alignas(64) std::byte operand[TeamAreaLayout::kSlotBytes];
  move_block(team.state.device, operand, job.source, source_nbytes);
  Reduction host = job;
  host.source = host.dest = operand;
  algorithm(host);
  move_block(team.state.device, job.dest, operand, job.nbytes());
}

inline constexpr size_t kLineBytes = sizeof(ExchangeLine::payload);
/// Where an operand is in its line: aligned to its elements, of which three of 16 bytes fit as well.
inline size_t payload_at(size_t element) noexcept {
  return element > offsetof(ExchangeLine, payload) ? 16 : offsetof(ExchangeLine, payload);
}

/// Between members on this node. Operands of up to kLineBytes travel in the lines; longer ones, up to
/// TeamAreaLayout::kSlotBytes, are left in the own slot, where the others read them.
class NodeExchange {
 public:
  NodeExchange(Team& team, const Reduction& job) noexcept
      : team_(team),
        function_(job.function),
        number_(team.exchanges),
        payload_(payload_at(job.element)),
        in_line_(job.nbytes() <= kLineBytes) {
    const std::byte* const operand = job.source;
    const size_t nbytes = job.nbytes();
    const size_t line = team.area.exchange(number_, team.rank);
    if (!in_line_) std::memcpy(team.mine(team.area.slot(number_)), operand, nbytes);
    const int size = team.nodes.size_here();
    for (int i = 0; i < size; ++i) {
      if (in_line_) copy_block(team.here(i, line) + payload_, operand, nbytes);
      raise_here(team, i, line, number_);
    }
  }

  /// The operand of a member on this node, once it is there; valid until this PE begins the exchange after the next.
  const std::byte* operand(int index) noexcept {
    const int from = team_.nodes.members[static_cast<size_t>(index)];
    const size_t line = team_.area.exchange(number_, from);
    await(team_, function_, from, line, number_);
    return in_line_ ? team_.mine(line) + payload_ : team_.here(index, team_.area.slot(number_));
  }

 private:
  Team& team_;
  const char* const function_;
  const uint64_t number_;
  const size_t payload_;
  const bool in_line_;
};

/// Messages of one exchange between members that may be on different nodes. `index` tells the operands one member
/// receives apart, and is below kIncomingBytes / nbytes.
class NetExchange {
 public:
  NetExchange(Team& team, const Reduction& job) noexcept
      : team_(team),
        function_(job.function),
        number_(team.exchanges),
        payload_(payload_at(job.element)),
        nbytes_(job.nbytes()) {}

  static constexpr size_t capacity(size_t indices) noexcept { return TeamAreaLayout::kIncomingBytes / indices; }

  void send_to(int rank, const std::byte* operand, int index) noexcept {
    push_copied(team_, function_, rank, team_.mine(data_at(team_.rank, index)), operand, nbytes_,
                team_.area.exchange(number_, team_.rank), number_);
  }
  const std::byte* receive_from(int rank, int index) noexcept {
    await(team_, function_, rank, team_.area.exchange(number_, rank), number_);
    return team_.mine(data_at(rank, index));
  }

 private:
  size_t data_at(int sender, int index) const noexcept {
    if (nbytes_ <= kLineBytes) return team_.area.exchange(number_, sender) + payload_;
    return team_.area.incoming(number_, static_cast<size_t>(index), nbytes_);
  }

  Team& team_;
  const char* const function_;
  const uint64_t number_;
  const size_t payload_;
  const size_t nbytes_;
};

}  // namespace railshmem
