// SPDX-License-Identifier: BSD-3-Clause
// Where a symmetric address of a PE is: reachable by load/store, or a place for the network. Checks every argument.
#pragma once

#include "src/rma/pe_state.h"

namespace railshmem {

/// direct != null: the peer's memory is mapped here. Otherwise `remote` is for the network.
struct Place {
  std::byte* direct;
  Remote remote;
};

[[noreturn, gnu::cold]] void die_bad_pe(const char* function, int pe, int npes) noexcept;
[[noreturn, gnu::cold]] void die_bad_address(const PeState& state, const char* function, const void* address,
                                             size_t nbytes, int pe) noexcept;
[[noreturn, gnu::cold]] void die_unreachable(const PeState& state, const char* function, const void* address,
                                             int pe) noexcept;
[[noreturn, gnu::cold]] void die_null(const char* function, const char* argument, size_t nbytes, int pe) noexcept;

inline void check_pe(const PeState& state, const char* function, int pe) noexcept {
  if (static_cast<unsigned>(pe) >= static_cast<unsigned>(state.npes)) [[unlikely]]
    die_bad_pe(function, pe, state.npes);
}

/// The segment that holds [address, address + nbytes), or null.
inline const SegmentView* find_segment(const PeState& state, const void* address, size_t nbytes,
                                       uintptr_t* offset) noexcept {
  for (const SegmentView& view : state.segment) {
    *offset = reinterpret_cast<uintptr_t>(address) - view.base;
    if (*offset < view.nbytes && nbytes <= view.nbytes - *offset) [[likely]]
      return &view;
  }
  return nullptr;
}

[[gnu::always_inline]] inline Place locate(const PeState& state, const char* function, const void* address,
                                           size_t nbytes, int pe) noexcept {
  check_pe(state, function, pe);
  uintptr_t offset = 0;
  const SegmentView* view = find_segment(state, address, nbytes, &offset);
  if (!view) [[unlikely]]
    die_bad_address(state, function, address, nbytes, pe);
  const int slot = state.slot(pe);
  if (static_cast<unsigned>(slot - view->first_slot) < static_cast<unsigned>(view->slots)) [[likely]]
    return {reinterpret_cast<std::byte*>(view->node_base + static_cast<size_t>(slot) * view->stride + offset), {}};
  if (!state.network) [[unlikely]]
    die_unreachable(state, function, address, pe);
  return {nullptr, {pe, static_cast<SegmentId>(view - state.segment), offset}};
}

inline void check_local(const char* function, const char* argument, const void* address, size_t nbytes,
                        int pe) noexcept {
  if (!address) [[unlikely]]
    die_null(function, argument, nbytes, pe);
}

}  // namespace railshmem
