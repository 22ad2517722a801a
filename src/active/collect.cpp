// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "src/active/arrivals.h"
#include "src/active/collectives.h"
#include "src/collective/collectives.h"

namespace railshmem {
namespace {

constexpr int kFewMembers = 4;        // up to here a message to each member costs less than rounds that wait
constexpr size_t kSmallBlock = 2048;  // for longer blocks bytes decide the time, not messages

/// Every member sends its block to every other, and waits for all.
void send_to_all(const ActiveSet& set, void* dest, const void* source, size_t nbytes) noexcept {
  for (int i = 1; i < set.size(); ++i) push(set, set.ahead(i), dest, source, nbytes, kArrived);
  move_own(set, dest, source, nbytes);
  take(set, -1, kArrived, static_cast<uint64_t>(set.size() - 1));
  settle(set);
}

/// Blocks first, first + 1, ... of a circle of size blocks, as one or two runs of memory.
struct Arc {
  int first, count, size;
  int before_end() const noexcept { return std::min(count, size - first); }
  int runs() const noexcept { return count > before_end() ? 2 : 1; }
};

/// Bruck's rounds: with the blocks of ranks me, me + 1, ..., me + 2^r - 1 in its dest a member gives them to the one
/// 2^r ranks before and doubles them from the one 2^r ranks after.
void double_blocks(const ActiveSet& set, void* dest, const void* source, size_t nbytes) noexcept {
  const int size = set.size();
  move_own(set, at(dest, static_cast<size_t>(set.rank) * nbytes), source, nbytes);
  int round = 0;
  for (int have = 1; have < size; have = std::min(size, 2 * have), ++round) {
    const int index = sync_index(SyncWord::round, round);
    const int count = std::min(have, size - have);
    const Arc mine{set.rank, count, size};
    const auto run = [&](int first, int blocks) {
      std::byte* const block = at(dest, static_cast<size_t>(first) * nbytes);
      push(set, set.behind(have), block, block, static_cast<size_t>(blocks) * nbytes, index);
    };
    run(mine.first, mine.before_end());
    if (mine.runs() == 2) run(0, count - mine.before_end());
    const Arc theirs{set.ahead(have), count, size};
    take(set, theirs.first, index, static_cast<uint64_t>(theirs.runs()));
  }
  settle(set);
}

/// Sum of the numbers of all lower ranks, in log2(size) rounds: in round r a member hands the sum over the 2^r ranks up
/// to its own to the one 2^r ranks further.
uint64_t sum_of_lower_ranks(const ActiveSet& set, uint64_t mine) noexcept {
  uint64_t sum = mine;
  int round = 0;
  for (int64_t distance = 1; distance < set.size(); distance *= 2, ++round) {
    const int index = sync_index(SyncWord::round, round);
    const int step = static_cast<int>(distance);
    // One more than the sum: a zero could not be told from nothing.
    if (set.rank + distance < set.size()) notify(set, set.rank + step, index, sum + 1);
    if (set.rank >= distance) sum += take_number(set, set.rank - step, index) - 1;
  }
  return sum - mine;
}

}  // namespace

void active_fcollect(const ActiveSet& set, void* dest, const void* source, size_t nbytes) noexcept {
  if (nbytes == 0) return;
  if (set.team) return fcollect(*set.team, set.function, dest, source, nbytes);
  if (nbytes <= kSmallBlock && set.size() > kFewMembers) return double_blocks(set, dest, source, nbytes);
  send_to_all(set, at(dest, static_cast<size_t>(set.rank) * nbytes), source, nbytes);
}

void active_collect(const ActiveSet& set, void* dest, const void* source, size_t nbytes) noexcept {
  if (set.team) return collect(*set.team, set.function, dest, source, nbytes);
  const uint64_t offset = sum_of_lower_ranks(set, nbytes);
  send_to_all(set, at(dest, offset), source, nbytes);
}

}  // namespace railshmem
