// SPDX-License-Identifier: BSD-3-Clause
// The consumer's half of payload slots (include/shmem/detail/payload.h): where their data is, and when producers get
// them back. One thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "include/shmem/detail/channel.h"
#include "src/channel/memory.h"
#include "src/channel/watermark.h"

namespace railshmem {

class Payloads {
 public:
  /// `memory.slots` is not null. `freed` has a count for each size. Both outlive this.
  Payloads(const PayloadMemory& memory, uint64_t* freed);

  /// The data that a command names: `nbytes` bytes from `shift` on, also in slots that follow. Null where there is no
  /// such slot, or no such room.
  std::byte* data(uint64_t name, uint64_t shift, uint64_t nbytes) const noexcept;
  /// Where the data of a get goes: `nbytes` bytes from `shift` on in get slot `number`. Null where there is no such
  /// slot, or no such room.
  std::byte* get_place(uint64_t number, uint64_t shift, uint64_t nbytes) const noexcept;
  /// A word for the slots of a command that has data(); never 0.
  static uint32_t hold_of(uint64_t name, uint64_t nbytes) noexcept;
  /// Nobody needs the data of these slots any more. Once for each time that a producer took the slots, in any order.
  void free(uint32_t hold) noexcept;
  /// Tells producers of the slots that they may take again. Slots are taken in a circle, so one that is still in use
  /// holds back those taken after it.
  void publish() noexcept;
  /// Shows the slots to producers that have the consumer's addresses.
  void add_to(ChannelView& view) const noexcept;

 private:
  struct Pool {
    Pool(PayloadSize of_size, std::byte* first, uint32_t log2)
        : size(of_size), slots(first), log2_slots(log2), freed(window(log2)) {}
    static size_t window(uint32_t log2) noexcept { return size_t{1} << (log2 < 6 ? 6 : log2); }

    PayloadSize size;
    std::byte* slots;
    uint32_t log2_slots;
    Watermark freed;
    uint64_t published = 0;
  };
  static size_t pool_of(uint64_t name) noexcept { return name < kSmallPayloads ? 0 : 1; }
  static uint64_t slots_of(PayloadSize size, uint64_t nbytes) noexcept {
    return (nbytes + payload_nbytes(size) - 1) / payload_nbytes(size);
  }
  static uint64_t number_of(uint64_t name) noexcept { return name < kSmallPayloads ? name : name - kSmallPayloads; }

  // A hold: 1 + the name of the first slot, then the number of slots that follow.
  static constexpr uint32_t kHoldBits = 16;
  static_assert(1 + kSmallPayloads + kMostLargePayloads < 1u << kHoldBits, "a name and 1 fit");

  std::array<Pool, kPayloadSizes> pools_;
  std::byte* gets_;
  PayloadLine* producer_;
  uint64_t* freed_;
};

}  // namespace railshmem
