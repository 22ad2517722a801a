// SPDX-License-Identifier: BSD-3-Clause
// Memory of the collectives that kernels call: one area for each team, at one offset in the heaps of all PEs.
#ifndef SHMEM_DETAIL_DEVICE_CONTROL_H
#define SHMEM_DETAIL_DEVICE_CONTROL_H

#include <stdint.h>

#include <type_traits>

#include "shmem/detail/portable.h"

namespace railshmem {

/// What a PE counts for itself. An area is zero when its team is made. Afterwards only the members' kernels change the
/// area, so a replayed CUDA graph goes on where its last run ended.
struct alignas(64) TeamCounters {
  uint64_t syncs;      ///< synchronisations of this team so far
  uint64_t exchanges;  ///< exchanges of packets so far
  uint64_t heard;      ///< the last exchange in which this PE heard from every other one
};

/// 8 bytes and the number of the exchange they belong to, stored and loaded whole. Therefore no flag and no fence
/// follows.
struct alignas(16) Packet {
  uint64_t data, number;
};

/// Where things lie in the control memory, in bytes from its start. A pure function of the numbers of PEs and teams.
class DeviceControlLayout {
 public:
  /// Packets that one member sends another in one exchange, in each of two sets. An exchange of more bytes is done with
  /// plain stores and a synchronisation, which is faster there.
  static constexpr uint64_t kPackets = 256;
  static constexpr uint64_t kPacketBytes = kPackets * sizeof(uint64_t);
  /// In jobs of at most this many PEs, a team's members write to each other in one step. Only such jobs use packets.
  static constexpr int kFewPes = 32;
  static constexpr int kRounds = 32;  ///< of a dissemination among any number of PEs

  RAILSHMEM_HD DeviceControlLayout(int npes, int nteams)
      : npes_(static_cast<uint64_t>(npes)), nteams_(static_cast<uint64_t>(nteams)) {}

  RAILSHMEM_HD uint64_t counters(uint32_t slot) const { return slot * area_nbytes(); }
  /// "I have arrived": a word for the rank that arrived, or for the round.
  RAILSHMEM_HD uint64_t arrival(uint32_t slot, int index) const {
    return counters(slot) + sizeof(TeamCounters) + static_cast<uint64_t>(index) * sizeof(uint64_t);
  }
  /// "I have read your packets": a word for the rank that read them.
  RAILSHMEM_HD uint64_t taken(uint32_t slot, int rank) const {
    return arrival(slot, 0) + (words() + static_cast<uint64_t>(rank)) * sizeof(uint64_t);
  }
  /// Packets of exchange `number` from `rank`.
  RAILSHMEM_HD uint64_t packets(uint32_t slot, uint64_t number, int rank) const {
    return counters(slot) + head_nbytes() +
           (number % 2 * npes_ + static_cast<uint64_t>(rank)) * kPackets * sizeof(Packet);
  }
  /// The memory of the packets as room for plain bytes, for members that packets do not reach: kPacketBytes from each
  /// rank.
  RAILSHMEM_HD uint64_t room(uint32_t slot, uint64_t number, int rank) const {
    return counters(slot) + head_nbytes() + few_nbytes() +
           (number % 2 * npes_ + static_cast<uint64_t>(rank)) * kPacketBytes;
  }
  RAILSHMEM_HD uint64_t nbytes() const { return nteams_ * area_nbytes(); }

 private:
  RAILSHMEM_HD uint64_t words() const {
    return npes_ > static_cast<uint64_t>(kRounds) ? npes_ : static_cast<uint64_t>(kRounds);
  }
  RAILSHMEM_HD uint64_t head_nbytes() const {
    return (sizeof(TeamCounters) + 2 * words() * sizeof(uint64_t) + 255) / 256 * 256;
  }
  RAILSHMEM_HD uint64_t few_nbytes() const {
    return npes_ <= static_cast<uint64_t>(kFewPes) ? 2 * npes_ * kPackets * sizeof(Packet) : 0;
  }
  RAILSHMEM_HD uint64_t area_nbytes() const { return head_nbytes() + few_nbytes() + 2 * npes_ * kPacketBytes; }

  uint64_t npes_, nteams_;
};
static_assert(sizeof(TeamCounters) == 64 && sizeof(Packet) == 16, "control memory is shared by all PEs");

}  // namespace railshmem

#endif
