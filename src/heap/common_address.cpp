// SPDX-License-Identifier: BSD-3-Clause
#include "src/heap/common_address.h"

#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <utility>

#include "src/base/error.h"

namespace railshmem {
namespace {

// Far from where Linux puts programs, their libraries, stacks and malloc's memory, from the shadow memory of
// AddressSanitizer (up to 0x10007fff8000) and its allocator (from 0x500000000000), and from the range that CUDA
// reserves (from 0x10000000000). The last one is for machines whose processes have 39 bits of addresses, and for
// ThreadSanitizer.
constexpr std::array<uintptr_t, 4> kAddresses = {0x200000000000, 0x300000000000, 0x400000000000, 0x2000000000};
static_assert(kAddresses[0] % NodeArena::kMaxAlign == 0);

using Arenas = std::array<std::optional<NodeArena>, kAddresses.size()>;

/// Holds the arena at every address where it can be; they are given back when the PEs have agreed.
Arenas reserve_all(size_t nslots, size_t my_slot, size_t stride) {
  Arenas held;
  for (size_t i = 0; i < held.size(); ++i) {
    const uintptr_t room = kAddresses[i];
    if (my_slot > 0 && room / my_slot <= stride) continue;  // the slots before would begin below address 0
    held[i] = NodeArena::reserve_at(room - my_slot * stride, nslots, stride);
  }
  return held;
}

}  // namespace

PlacedArena place_arena(Bootstrap& bootstrap, size_t nslots, size_t my_slot, size_t stride, bool share_one_process) {
  Arenas held;
  if (!share_one_process) held = reserve_all(nslots, my_slot, stride);
  uint32_t mine = 0;
  for (size_t i = 0; i < held.size(); ++i) mine |= held[i] ? 1u << i : 0;
  const std::vector<uint32_t> masks = exchange(bootstrap, mine);
  uint32_t common = ~0u;
  int last = 0;  // the PE that ended the hope
  for (size_t pe = 0; pe < masks.size() && common != 0; ++pe) {
    common &= masks[pe];
    last = static_cast<int>(pe);
  }
  if (common != 0) {
    const auto chosen = static_cast<size_t>(std::countr_zero(common));
    return {std::move(*held[chosen]), text("at %#zx on all PEs", static_cast<size_t>(kAddresses[chosen]))};
  }
  held = {};
  const std::string why = share_one_process ? std::string("they are threads of one process")
                                            : text("PE %d has other memory at the common ones", last);
  return {NodeArena(nslots, stride), "at addresses that differ between PEs: " + why};
}

}  // namespace railshmem
