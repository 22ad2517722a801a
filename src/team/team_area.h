// SPDX-License-Identifier: BSD-3-Clause
// Symmetric memory of one team: the flags and buffers its collectives use, at the same offset on every PE.
#pragma once

#include <cstddef>
#include <cstdint>

#include "src/base/align.h"

namespace railshmem {

/// One flag a cache line: two flags in one would make their waiters disturb each other.
struct alignas(64) FlagLine {
  uint64_t value;
};

/// A flag with what it announces: small operands travel in the line of their flag.
struct alignas(64) ExchangeLine {
  uint64_t number;
  std::byte payload[56];
};

inline constexpr int kSyncRounds = 24;  // dissemination among up to 2^24 members

/// Flags only grow (they hold the number of the synchronisation), so late and repeated updates do no harm.
struct SyncFlags {
  FlagLine round[kSyncRounds];         ///< dissemination among the members on a node, written by node peers
  FlagLine leader_round[kSyncRounds];  ///< dissemination among node leaders, written through the network
  FlagLine entered;   ///< steps that this member has entered: only for messages of those who wait for it
  FlagLine gathered;  ///< leader only: arrivals of members on the node, summed over all gathers
  FlagLine answered;  ///< leader only: number of the last gather whose work is done
};

/// Where things lie in a team's area, in bytes from its start. A pure function of the number of PEs of the world, so
/// it is the same on every PE. An area is all zero when its team is made, but for `answered`, which may hold a number
/// of the team before; every array below is indexed by the rank of the member that writes.
class TeamAreaLayout {
 public:
  static constexpr size_t kScratchBytes = size_t{128} << 10;
  static constexpr size_t kSlotBytes = size_t{16} << 10;
  static constexpr size_t kIncomingBytes = size_t{16} << 10;
  static constexpr size_t kRecordBytes = 512;

  explicit TeamAreaLayout(int npes) noexcept : npes_(static_cast<size_t>(npes)) {}

  /// Lines of full exchanges (everybody waits for everybody): two sets, used in turn, because the fastest member can
  /// be one exchange ahead of the slowest, but not two.
  size_t exchange(uint64_t number, int rank) const noexcept {
    return kLines + (number % 2 * npes_ + static_cast<size_t>(rank)) * sizeof(ExchangeLine);
  }
  /// Operands of full exchanges that are too long for a line; like the lines they take turns. `slot` is what its owner
  /// offers, `incoming` what the others send over a network, `index` being one of kIncomingBytes / nbytes.
  size_t slot(uint64_t number) const noexcept { return slots() + number % 2 * (kSlotBytes + kIncomingBytes); }
  size_t incoming(uint64_t number, size_t index, size_t nbytes) const noexcept {
    return slot(number) + kSlotBytes + index * nbytes;
  }
  /// "My data has arrived at you": FlagLine.
  size_t arrival(int rank) const noexcept { return line(2, rank); }
  /// "I have taken what I needed from you": FlagLine.
  size_t done(int rank) const noexcept { return line(3, rank); }
  /// "The data of that member has arrived at you, by way of me": FlagLine, indexed by the member that it comes from.
  /// Not the arrival line, because a flag has one writer: the owner's own next flag could come before.
  size_t passed(int rank) const noexcept { return line(4, rank); }
  /// Free use by a collective that knows its buffers to be free.
  size_t scratch() const noexcept { return align_up(line(5, 0), size_t{4096}); }
  /// SHMEM_CHECK: what this member calls, and the number of the newest call that the next member shows.
  size_t record() const noexcept { return slots() + 2 * (kSlotBytes + kIncomingBytes); }
  size_t record_flag() const noexcept { return record() + kRecordBytes; }
  size_t nbytes() const noexcept { return record_flag() + sizeof(FlagLine); }

 private:
  static constexpr size_t kLines = sizeof(SyncFlags);
  size_t line(size_t array, int rank) const noexcept {
    return kLines + (array * npes_ + static_cast<size_t>(rank)) * sizeof(FlagLine);
  }
  size_t slots() const noexcept { return scratch() + kScratchBytes; }
  size_t npes_;
};

}  // namespace railshmem
