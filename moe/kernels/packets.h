// SPDX-License-Identifier: BSD-3-Clause
// Tokens and sums inside a node travel as packets: 14 bytes and the lowest bits of the call's number arrive as one, so
// nothing is ordered by a fence, and the receiver needs no other word.
#pragma once

#include "moe/kernels/part.h"
#include "moe/kernels/places.h"
#include "shmem/device/packets.h"

namespace railshmem::moe::kernels {

RAILSHMEM_KERNEL inline void store_packet(Packet* to, uint64_t data, uint64_t rest, uint64_t number) {
  portable::store_pair(&to->data, data, Numbered::of(number, rest));
}

/// Packets that one thread waits for together.
template <uint32_t kCount>
struct Taken {
  uint64_t data[kCount], word[kCount];  ///< of a packet: 8 bytes, and its number above 6 bytes

  /// at(i): where the i-th one is.
  template <class At>
  RAILSHMEM_KERNEL void load(const At& at) {
    RAILSHMEM_UNROLL
    for (uint32_t i = 0; i < kCount; ++i) portable::load_pair(&at(i)->data, &data[i], &word[i]);
  }
  /// Whether all are of this number.
  RAILSHMEM_KERNEL bool are_of(uint64_t number) const {
    bool there = true;
    RAILSHMEM_UNROLL
    for (uint32_t i = 0; i < kCount; ++i) there &= Numbered::is_of(number, word[i]);
    return there;
  }
};

/// Waits for packets of member `from` and takes them; anything where the member is lost, or after a failure.
template <uint32_t kCount, class Place, class At>
RAILSHMEM_KERNEL inline Taken<kCount> take_packets(Place& part, const At& at, uint64_t number, int32_t from,
                                                   Shared& shared) {
  Taken<kCount> taken;
  RAILSHMEM_NO_UNROLL
  for (int turn = 0; turn < device::kShortTurns; ++turn) {
    taken.load(at);
    if (taken.are_of(number)) return taken;
  }
  RAILSHMEM_NO_UNROLL
  for (uint32_t i = 0; i < kCount; ++i) part.await_numbered(&at(i)->number, number, from, shared);
  taken.load(at);
  return taken;
}

/// Two units of a row or of sums, which has `pairs` of them. A packet in each of two planes has the first 14 bytes of a
/// unit, and one of a third plane what is left of two pairs.
struct Pair {
  static constexpr uint32_t kUnits = 2, kPackets = 3;
  Unit at[kUnits];

  /// As pair i, to where the row's packets begin; nothing where i is not less than `end`. All lanes of a warp call, the
  /// first one with an even number and each next one with the next. The first lanes send what is left of two.
  RAILSHMEM_KERNEL void send(Packet* to, uint32_t pairs, uint32_t i, uint32_t end, uint64_t number) const {
    const uint32_t lane = threads::lane(), first = i - lane;
    const auto left = static_cast<uint32_t>(at[1].hi >> 48 << 16 | at[0].hi >> 48);
    const uint64_t even = threads::from_lane_of_warp(left, 2 * lane);
    const uint64_t odd = threads::from_lane_of_warp(left, 2 * lane + 1);
    if (i < end) {
      store_packet(to + i, at[0].lo, at[0].hi, number);
      store_packet(to + Layout::plane_of(pairs) + i, at[1].lo, at[1].hi, number);
    }
    if (2 * lane < threads::warp_size() && first + 2 * lane < end)
      store_packet(to + 2 * Layout::plane_of(pairs) + first / 2 + lane, odd << 32 | even, 0, number);
  }
  /// Where packet k of pair i is.
  RAILSHMEM_KERNEL static const Packet* place(const Packet* packets, uint32_t pairs, uint32_t i, uint32_t k) {
    return packets + k * Layout::plane_of(pairs) + (k < kUnits ? i : i / 2);
  }
  /// Waits for pair i of what member `from` has sent.
  template <class Place>
  RAILSHMEM_KERNEL static Pair take(Place& part, const Packet* packets, uint32_t pairs, uint32_t i, uint64_t number,
                                    int32_t from, Shared& shared) {
    return of(take_packets<kPackets>(
                  part, [&](uint32_t k) { return place(packets, pairs, i, k); }, number, from, shared),
              i);
  }
  /// Pair i.
  RAILSHMEM_KERNEL static Pair of(const Taken<kPackets>& taken, uint32_t i) {
    const auto left = static_cast<uint32_t>((i & 1) == 0 ? taken.data[2] : taken.data[2] >> 32);
    return {{{taken.data[0], uint64_t{left} << 48 | Numbered::data(taken.word[0])},
             {taken.data[1], uint64_t{left >> 16} << 48 | Numbered::data(taken.word[1])}}};
  }
};

/// Fills places of packets. The whole block, before it tells the counts. It is given nothing of which it would need the
/// address: the only Part is in memory, and each look at it costs time.
RAILSHMEM_KERNEL RAILSHMEM_OUT_OF_LINE inline void fill(Places some, Places others) {
  some.fill();
  others.fill();
  threads::sync_block();
  portable::release_fence();
}
/// Numbers in packets come again. So every kRenewal dispatches the places of packets, of sums and of late weights get
/// the number of the dispatch before, which does not come again so soon: by each of some dispatches a part of the next
/// one's set, since all at once would take long. Nobody sends there before it has this member's counts of this
/// dispatch.
template <class Place>
RAILSHMEM_KERNEL inline void renew_packets(const Place& part, uint64_t epoch) {
  constexpr uint64_t kBegin = kRenewal - 2 * kRenewalParts;  // a handle's first dispatches are spared
  if (epoch % kRenewal < kBegin) return;
  const Layout& layout = part.layout();
  const auto places = [&](uint64_t from, uint64_t nbytes, uint64_t number) {
    const uint64_t each = (nbytes + 8 * kRenewalParts - 1) / (8 * kRenewalParts) * 8;
    const uint64_t begin = (epoch % kRenewal - kBegin) / 2 * each, rest = begin < nbytes ? nbytes - begin : 0;
    return Places{part.template mine<uint64_t>(from + begin), rest < each ? rest : each, number};
  };
  const uint64_t of_sums = part.shape().late_weights != 0 ? (epoch - 1) << 1 | 1 : epoch - 1;
  fill(places(layout.packets(epoch + 1, 0, 0), layout.set_nbytes(), epoch - 1),
       places(layout.numbered(), layout.numbered_nbytes(), of_sums));
}

}  // namespace railshmem::moe::kernels
