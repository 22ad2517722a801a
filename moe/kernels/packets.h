// SPDX-License-Identifier: BSD-3-Clause
// Tokens and sums inside a node travel as packets: 12 bytes and the lower half of the call's number arrive as one, so
// nothing is ordered by a fence, and the receiver needs no other word.
#pragma once

#include "moe/kernels/part.h"
#include "shmem/device/packets.h"

namespace railshmem::moe::kernels {

RAILSHMEM_KERNEL inline void store_packet(Packet* to, uint64_t data, uint32_t rest, uint64_t number) {
  portable::store_pair(&to->data, data, Numbered::of(number, rest));
}

/// Packets that one thread waits for together.
template <uint32_t kCount>
struct Taken {
  uint64_t data[kCount], word[kCount];  ///< of a packet: 8 bytes, and its number above 4 bytes

  /// Looks at packets that are `step` apart. Returns whether all are of this number.
  RAILSHMEM_KERNEL bool look(const Packet* first, uint32_t step, uint64_t number) {
    bool there = true;
    RAILSHMEM_UNROLL
    for (uint32_t i = 0; i < kCount; ++i) portable::load_pair(&first[i * step].data, &data[i], &word[i]);
    RAILSHMEM_UNROLL
    for (uint32_t i = 0; i < kCount; ++i) there &= Numbered::is_of(number, word[i]);
    return there;
  }
};

/// Waits for packets of member `from` and takes them; anything where the member is lost, or after a failure.
template <uint32_t kCount, class Place>
RAILSHMEM_KERNEL inline Taken<kCount> take_packets(Place& part, const Packet* first, uint32_t step, uint64_t number,
                                                   int32_t from, Shared& shared) {
  Taken<kCount> taken;
  RAILSHMEM_NO_UNROLL
  for (int turn = 0; turn < device::kShortTurns; ++turn)
    if (taken.look(first, step, number)) return taken;
  RAILSHMEM_NO_UNROLL
  for (uint32_t i = 0; i < kCount; ++i) part.await_half(&first[i * step].number, number, from, shared);
  taken.look(first, step, number);
  return taken;
}

/// Three units of a row: of thread i, units i, i + T and i + 2 T, where T threads share the row. Packets 0 to 2 have
/// the first 12 bytes of a unit each, packet 3 has what is left of all.
struct Third {
  static constexpr uint32_t kUnits = 3, kPackets = 4;
  Unit at[kUnits];

  RAILSHMEM_KERNEL void send(Packet* to, uint32_t step, uint64_t number) const {
    RAILSHMEM_UNROLL
    for (uint32_t j = 0; j < kUnits; ++j)
      store_packet(to + j * step, at[j].lo, static_cast<uint32_t>(at[j].hi), number);
    store_packet(to + kUnits * step, at[1].hi >> 32 << 32 | at[0].hi >> 32, static_cast<uint32_t>(at[2].hi >> 32),
                 number);
  }
  RAILSHMEM_KERNEL static Third of(const Taken<kPackets>& taken) {
    const uint64_t last[kUnits] = {taken.data[3], taken.data[3] >> 32, taken.word[3]};
    Third third;
    RAILSHMEM_UNROLL
    for (uint32_t j = 0; j < kUnits; ++j) third.at[j] = {taken.data[j], last[j] << 32 | Numbered::data(taken.word[j])};
    return third;
  }
};

/// Eight sums in three packets, which lie `step` apart.
struct SumPackets {
  static constexpr uint32_t kCount = 3, kSums = 8;

  template <class Sums>
  RAILSHMEM_KERNEL static void send(Packet* to, uint32_t step, Sums& sums, uint64_t number) {
    RAILSHMEM_UNROLL
    for (uint32_t i = 0; i < kCount; ++i)
      store_packet(to + i * step, both(sums.at(3 * i), sums.at(3 * i + 1)),
                   3 * i + 2 < kSums ? bits_of(sums.at(3 * i + 2)) : 0, number);
  }
  template <class Sums>
  RAILSHMEM_KERNEL static Sums of(const Taken<kCount>& taken) {
    Sums sums;
    RAILSHMEM_UNROLL
    for (uint32_t i = 0; i < kCount; ++i) {
      sums.at(3 * i) = float_of(static_cast<uint32_t>(taken.data[i]));
      sums.at(3 * i + 1) = float_of(static_cast<uint32_t>(taken.data[i] >> 32));
      if (3 * i + 2 < kSums) sums.at(3 * i + 2) = float_of(Numbered::data(taken.word[i]));
    }
    return sums;
  }

 private:
  RAILSHMEM_KERNEL static uint64_t both(float first, float second) {
    return uint64_t{bits_of(second)} << 32 | bits_of(first);
  }
};

/// Memory that is a multiple of 8 bytes.
struct Places {
  uint64_t* from;
  uint64_t nbytes;
};

/// Empties places of packets. The whole block, before it tells the counts. It is given nothing of which it would need
/// the address: a Part of which there is one lies in memory, and each look at it costs time.
RAILSHMEM_KERNEL RAILSHMEM_OUT_OF_LINE inline void empty(Places some, Places others) {
  const auto clear = [](Places places) {
    RAILSHMEM_NO_UNROLL
    for (uint64_t i = threads::thread_in_row(); i < places.nbytes / 8; i += threads::row_size()) places.from[i] = 0;
  };
  clear(some);
  clear(others);
  threads::sync_block();
  portable::release_fence();
}
/// Numbers in packets come again after 2^32 calls. So now and then the places of the next dispatch are emptied, and
/// those of sums and late weights. Nobody sends there before it has this member's counts of this dispatch.
template <class Place>
RAILSHMEM_KERNEL inline void renew_packets(const Place& part, uint64_t epoch) {
  if (epoch % kRenewal >= 2) return;
  const Layout& layout = part.layout();
  empty({part.template mine<uint64_t>(layout.packets(epoch + 1, 0, 0)), layout.set_nbytes()},
        {part.template mine<uint64_t>(layout.numbered()), layout.numbered_nbytes()});
}

}  // namespace railshmem::moe::kernels
