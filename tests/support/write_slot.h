// SPDX-License-Identifier: BSD-3-Clause
// Writes the slot of a ticket that a test has reserved, which device::push() does with a ticket of its own.
#pragma once

#include "include/shmem/detail/portable.h"
#include "include/shmem/detail/ring.h"

namespace railshmem {

RAILSHMEM_HD inline void write_slot(const RingView& ring, uint64_t ticket, const Command& command) {
  Slot* const slot = ring.slots + (ticket & ((uint64_t{1} << ring.log2_slots) - 1));
  const Slot encoded = encode(ring, ticket, command);
  for (int i = 0; i < kWordsPerSlot; ++i) {
    portable::store_pair(&slot->word[i].lo, encoded.word[i].lo, encoded.word[i].hi);
  }
}

}  // namespace railshmem
