// SPDX-License-Identifier: BSD-3-Clause
// Where an address of a PE is: mapped here, for loads and stores, or told to the network. Checks every argument.
#pragma once

#include "src/rma/pe_state.h"

namespace railshmem {

/// mapped != null: the peer's memory is mapped here. Otherwise `remote` is for the network.
struct PeerAddress {
  std::byte* mapped;
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

/// The address itself, where `pe` is this PE and the address is outside of symmetric memory. Otherwise ends the job.
[[gnu::cold]] std::byte* own_address(const PeState& state, const char* function, const void* address, size_t nbytes,
                                     int pe) noexcept;

/// Finds the copy of `pe` of a symmetric address. False where the address is not symmetric.
[[gnu::always_inline]] inline bool find_peer_address(const PeState& state, const char* function, const void* address,
                                                     size_t nbytes, int pe, PeerAddress* there) noexcept {
  check_pe(state, function, pe);
  uintptr_t offset = 0;
  const SegmentView* view = find_segment(state, address, nbytes, &offset);
  if (!view) [[unlikely]]
    return false;
  const int slot = state.slot(pe);
  if (static_cast<unsigned>(slot - view->first_slot) < static_cast<unsigned>(view->slots)) [[likely]] {
    *there = {reinterpret_cast<std::byte*>(view->node_base + static_cast<size_t>(slot) * view->stride + offset), {}};
    return true;
  }
  if (!state.network) [[unlikely]]
    die_unreachable(state, function, address, pe);
  *there = {nullptr, {pe, static_cast<SegmentId>(view - state.segment), offset}};
  return true;
}

/// The peer address of a symmetric address, for collectives and locks. Ends the job where the address is not symmetric.
[[gnu::always_inline]] inline PeerAddress locate(const PeState& state, const char* function, const void* address,
                                                 size_t nbytes, int pe) noexcept {
  PeerAddress there;
  if (!find_peer_address(state, function, address, nbytes, pe, &there)) [[unlikely]]
    die_bad_address(state, function, address, nbytes, pe);
  return there;
}

/// The peer address of an address in a call for one PE: a symmetric address, or, where that PE is the caller, any
/// memory of it. The shortest calls do without reach(): the result of own_address() costs registers on the ordinary
/// path too.
[[gnu::always_inline]] inline PeerAddress reach(const PeState& state, const char* function, const void* address,
                                                size_t nbytes, int pe) noexcept {
  PeerAddress there;
  if (!find_peer_address(state, function, address, nbytes, pe, &there)) [[unlikely]]
    return {own_address(state, function, address, nbytes, pe), {}};
  return there;
}

inline void check_local(const char* function, const char* argument, const void* address, size_t nbytes,
                        int pe) noexcept {
  if (!address) [[unlikely]]
    die_null(function, argument, nbytes, pe);
}

}  // namespace railshmem
