// SPDX-License-Identifier: BSD-3-Clause
#include "src/active/arrivals.h"
#include "src/active/collectives.h"
#include "src/active/tree.h"
#include "src/collective/collectives.h"

namespace railshmem {

/// Down a binomial tree: who has the data passes it on from its own dest, to the largest subtree first.
void active_broadcast(const ActiveSet& set, void* dest, const void* source, size_t nbytes, int root) noexcept {
  check_active_root(set, root);
  if (nbytes == 0) return;
  if (set.team) return broadcast(*set.team, set.function, dest, source, nbytes, root, RootDest::untouched);
  const BinomialTree tree(set, root);
  const int index = sync_index(SyncWord::fell);
  if (!tree.is_root()) {
    take(set, tree.parent(), index);
    source = dest;
  }
  for (int k = tree.child_slots() - 1; k >= 0; --k)
    if (const int child = tree.child(k); child >= 0) push(set, child, dest, source, nbytes, index);
  settle(set);
}

}  // namespace railshmem
