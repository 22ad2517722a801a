// SPDX-License-Identifier: BSD-3-Clause
#include "src/rma/lock_turns.h"

#include "src/rma/waiter.h"

namespace railshmem {

/// With the bucket's mutex held, which orders all changes of the bit; atomic because peers change the other bits.
bool LockTurns::claim(uint32_t* node) noexcept {
  return (__atomic_fetch_or(node, claimed_, __ATOMIC_RELAXED) & claimed_) == 0;
}

void LockTurns::enter(const char* function, uint32_t* node) noexcept {
  Bucket& bucket = bucket_of(node);
  Waiting me{node, nullptr, false};
  {
    const std::lock_guard guard(bucket.mutex);
    if (claim(node)) return;
    Waiting** end = &bucket.first;
    while (*end) end = &(*end)->next;
    *end = &me;
  }
  // acquire: pairs with leave(); what the last thread did under the lock is visible to this one.
  wait_for(state_, {function, state_.me}, [&] { return __atomic_load_n(&me.my_turn, __ATOMIC_ACQUIRE); });
}

bool LockTurns::try_enter(uint32_t* node) noexcept {
  const std::lock_guard guard(bucket_of(node).mutex);
  return claim(node);
}

void LockTurns::leave(uint32_t* node) noexcept {
  Bucket& bucket = bucket_of(node);
  const std::lock_guard guard(bucket.mutex);
  for (Waiting** link = &bucket.first; *link; link = &(*link)->next) {
    Waiting* const next_thread = *link;
    if (next_thread->node != node) continue;
    *link = next_thread->next;
    // release: pairs with enter(). The record may be gone right after. The bit stays: it is that thread's now.
    return __atomic_store_n(&next_thread->my_turn, true, __ATOMIC_RELEASE);
  }
  // relaxed: the mutex orders it for the threads, and other PEs never look at this bit.
  __atomic_fetch_and(node, ~claimed_, __ATOMIC_RELAXED);
}

}  // namespace railshmem
