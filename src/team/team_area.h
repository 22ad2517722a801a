// SPDX-License-Identifier: BSD-3-Clause
// Symmetric memory of one team: the flags and buffers that its collectives use, at one offset on all PEs.
#pragma once

#include <cstddef>
#include <cstdint>

#include "src/base/align.h"

namespace railshmem {

/// One flag in each cache line: waiters for two flags of one line would disturb each other.
struct alignas(64) FlagLine {
  uint64_t value;
};

/// A flag with what it announces: small operands travel in the line of their flag.
struct alignas(64) ExchangeLine {
  uint64_t number;
  std::byte payload[56];
};

/// What tells a member that chunks have come from another one: chunk n sets word n modulo kWindow to n.
struct alignas(64) ChunkSignals {
  static constexpr uint64_t kWindow = 8;  ///< chunks that may be on their way at once

  uint64_t number[kWindow];
};

/// Chunks go from member to member over links of these kinds, each with numbers of its own: operands to be reduced, and
/// data that is final.
enum class LinkKind : uint8_t { operands, results };
inline constexpr int kLinkKinds = 2;

inline constexpr int kSyncRounds = 24;  // dissemination among up to 2^24 members

/// Flags only grow (they hold the number of the synchronisation), so late and repeated updates do no harm.
struct SyncFlags {
  FlagLine round[kSyncRounds];         ///< dissemination among the members on a node, written by node peers
  FlagLine leader_round[kSyncRounds];  ///< dissemination among node leaders, written through the network
  FlagLine entered;                    ///< steps that this member has entered; only messages about waiting use it
  FlagLine gathered;                   ///< leader only: arrivals of members on the node, summed over all gathers
  FlagLine answered;                   ///< leader only: number of the last gather whose work is done
};

/// Where things lie in a team's area, in bytes from its start. The layout depends only on the number of PEs of the
/// world, so all PEs have one layout. An area is all zero when its team is made, except for `answered`, which may hold
/// a number of the team before. Every array below is indexed by the rank of the member that writes.
class TeamAreaLayout {
 public:
  static constexpr size_t kScratchBytes = size_t{128} << 10;
  static constexpr size_t kSlotBytes = size_t{16} << 10;
  static constexpr size_t kIncomingBytes = size_t{16} << 10;
  static constexpr size_t kRecordBytes = 512;

  explicit TeamAreaLayout(int npes) noexcept : npes_(static_cast<size_t>(npes)) {}

  /// Lines of full exchanges, in which every member waits for all others. There are two sets, used in turn: the fastest
  /// member can be one exchange ahead of the slowest, but not two.
  size_t exchange(uint64_t number, int rank) const noexcept {
    return kLines + (number % 2 * npes_ + static_cast<size_t>(rank)) * sizeof(ExchangeLine);
  }
  /// Operands of full exchanges that are too long for a line. There are two sets of them too, used in turn. `slot`
  /// holds what its owner offers, `incoming` what other members send over a network; index < kIncomingBytes / nbytes.
  size_t slot(uint64_t number) const noexcept { return slots() + number % 2 * (kSlotBytes + kIncomingBytes); }
  size_t incoming(uint64_t number, size_t index, size_t nbytes) const noexcept {
    return slot(number) + kSlotBytes + index * nbytes;
  }
  /// "My data has arrived at you": FlagLine.
  size_t arrival(int rank) const noexcept { return line(2, rank); }
  /// "I have taken what I needed from you": FlagLine.
  size_t done(int rank) const noexcept { return line(3, rank); }
  /// "I have passed that member's data on to you": FlagLine, indexed by the member that the data comes from. It is not
  /// that member's arrival line, because a flag has one writer: the member's own next flag could come before.
  size_t passed(int rank) const noexcept { return line(4, rank); }
  /// Which chunks have come from that member: ChunkSignals.
  size_t chunk_signals(LinkKind kind, int rank) const noexcept { return line(5 + static_cast<size_t>(kind), rank); }
  /// The highest chunk number for which that member has room: FlagLine.
  size_t chunk_grant(LinkKind kind, int rank) const noexcept {
    return line(5 + kLinkKinds + static_cast<size_t>(kind), rank);
  }
  /// Scratch memory, for a collective that knows that no other collective uses the scratch memory any more.
  size_t scratch() const noexcept { return align_up(line(5 + 2 * kLinkKinds, 0), size_t{4096}); }
  /// SHMEM_CHECK: what this member calls.
  size_t record() const noexcept { return slots() + 2 * (kSlotBytes + kIncomingBytes); }
  /// SHMEM_CHECK: FlagLine with the number of the newest call that the next member has put into its record.
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
