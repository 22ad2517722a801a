// SPDX-License-Identifier: BSD-3-Clause
// Collectives of active sets (OpenSHMEM 1.6 section 9.10, deprecated): a set of PEs named by each call, with all state
// in a symmetric array of the program's, pSync.
//
// Every member is known by its rank in the set. Words of pSync count arrivals: a sender adds; the receiver waits and
// subtracts the number that it waited for. So the array is back at SHMEM_SYNC_VALUE when the call is over everywhere.
// Counts that a fast member sends for the next call on the array stay there until a slow member makes that call.
#pragma once

#include <cstdint>

#include "src/rma/pe_state.h"
#include "src/topology/pe_set.h"

namespace railshmem {

struct Team;

inline constexpr int kSyncWords = 64;  ///< of a pSync array: SHMEM_SYNC_SIZE

/// An active set as the program gives it.
struct ActiveTriplet {
  int start;       ///< PE of the world
  int log_stride;  ///< the members are 2^log_stride apart
  int size;
};

/// One call of a collective of an active set, as its members see it.
struct ActiveSet {
  PeState& state;
  Context& context;  ///< of the call's own operations, so that no user's quiet waits for them
  const char* function;
  PeSet pes;
  int rank;  ///< of this PE
  uint64_t* psync;
  Team* team;  ///< not null: the set is all PEs, and collectives of this team of the library serve it

  int size() const noexcept { return pes.size; }
  /// Ranks after and before this one in a circle.
  int ahead(int distance) const noexcept { return static_cast<int>((int64_t{rank} + distance) % pes.size); }
  int behind(int distance) const noexcept { return static_cast<int>((int64_t{rank} - distance + pes.size) % pes.size); }
};

/// Words of pSync by what they count. Every (word, round) has one sender, or counts arrivals from all.
enum class SyncWord : int { round = 0, arrived = 31, fell = 32 };

/// Where a word is in the array: words of successive rounds lie in cache lines of their own.
constexpr int sync_index(SyncWord word, int round = 0) noexcept {
  const int number = static_cast<int>(word) + round;
  return number % 8 * 8 + number / 8;
}

/// The word that counts arrivals of data.
inline constexpr int kArrived = sync_index(SyncWord::arrived);

/// Checks the program's arguments, pSync included, and makes `set` of them. Ends the job for impossible sets, naming
/// what is wrong. False: this PE is not in the set, and should not have called.
bool find_active_set(ActiveSet& set, const ActiveTriplet& triplet, long* psync) noexcept;

/// Ends the job unless `root` is a rank of the set.
void check_active_root(const ActiveSet& set, int root) noexcept;

/// Bytes of nelems elements; ends the job where a block for each member is more than an address space.
size_t active_bytes(const ActiveSet& set, size_t nelems, size_t element) noexcept;

}  // namespace railshmem
