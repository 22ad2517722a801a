// SPDX-License-Identifier: BSD-3-Clause
#include "src/active/arrivals.h"
#include "src/active/collectives.h"
#include "src/collective/collectives.h"

namespace railshmem {

/// Dissemination. In round r a member tells the one 2^r ranks further and waits for the one 2^r ranks before: each word
/// has one sender, who cannot be more than one synchronisation ahead.
void active_sync(const ActiveSet& set) noexcept {
  if (set.team) return sync(*set.team, set.function);
  if (set.size() == 1) return __atomic_thread_fence(__ATOMIC_SEQ_CST);
  int round = 0;
  for (int64_t distance = 1; distance < set.size(); distance *= 2, ++round) {
    const int index = sync_index(SyncWord::round, round);
    notify(set, set.ahead(static_cast<int>(distance)), index);
    take(set, set.behind(static_cast<int>(distance)), index);
  }
}

}  // namespace railshmem
