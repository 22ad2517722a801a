// SPDX-License-Identifier: BSD-3-Clause
// Atomic memory operations (OpenSHMEM 1.6 section 9.7). One executor per location: the CPU of the target's node,
// either directly (load/store peers) or by the target's proxy on behalf of a remote PE.
#pragma once

#include "src/plugin/device_access.h"
#include "src/plugin/execute.h"
#include "src/rma/copy.h"
#include "src/rma/peer_address.h"

namespace railshmem {

[[noreturn, gnu::cold]] void die_misaligned(const char* function, const void* address, size_t width, int pe) noexcept;

/// Ends the job where the program declared that PEs of other nodes do nothing but set the word
/// (SHMEMX_MALLOC_NODE_ONLY).
void must_be_allowed(const PeState& state, const Context& context, const char* function, const void* symmetric,
                     int pe) noexcept;

[[gnu::always_inline]] inline void check_promise(const PeState& state, const Context& context, const char* function,
                                                 AmoOp op, const void* symmetric, int pe) noexcept {
  if (state.device && op != AmoOp::fetch && op != AmoOp::set) [[unlikely]]
    must_be_allowed(state, context, function, symmetric, pe);
}

/// The target's proxy executes `amo`. Returns the old value, for fetching operations when it is here.
inline uint64_t amo_by_network(PeState& state, Context& context, Remote to, const NetAmo& amo) noexcept {
  uint64_t old = 0;  // a 4-byte value fills the low half: all supported CPUs are little-endian
  net_issue(*state.network, amo_op(*context.net, to, amo, &old, Local::awaited));
  return old;
}

/// Executes `amo` on a word of device memory of `pe`, mapped here at `at`. Returns the old value.
uint64_t amo_on_device(PeState& state, Context& context, std::byte* at, const void* symmetric, int pe,
                       const NetAmo& amo) noexcept;

// Word: uint32_t or uint64_t. The operations do the same to all types of a size.

/// Executes an atomic operation on a word of `pe`, mapped here at `at`. Returns the old value.
template <class Word>
[[gnu::always_inline]] inline Word amo_direct(PeState& state, Context& context, std::byte* at, const Word* dest, int pe,
                                              AmoOp op, Word operand, Word compare) noexcept {
  if (state.device && state.device->is_device(at)) [[unlikely]]
    return static_cast<Word>(amo_on_device(state, context, at, dest, pe, {op, sizeof(Word), operand, compare}));
  return execute_amo(reinterpret_cast<Word*>(at), op, operand, compare);
}

/// Returns the old value for fetching operations. A misaligned target is an error: an update of it would not be atomic.
template <class Word>
[[gnu::always_inline]] inline Word amo(PeState& state, Context& context, const char* function, AmoOp op,
                                       const Word* dest, Word operand, Word compare, int pe) noexcept {
  const PeerAddress there = reach(state, function, dest, sizeof(Word), pe);
  if (reinterpret_cast<uintptr_t>(dest) % sizeof(Word) != 0) [[unlikely]]
    die_misaligned(function, dest, sizeof(Word), pe);
  if (there.mapped) [[likely]]
    return amo_direct(state, context, there.mapped, dest, pe, op, operand, compare);
  check_promise(state, context, function, op, dest, pe);
  return static_cast<Word>(amo_by_network(state, context, there.remote, {op, sizeof(Word), operand, compare}));
}

/// An amo() that compares nothing and returns no old value.
template <class Word>
[[gnu::always_inline]] inline void amo_plain(PeState& state, Context& context, const char* function, AmoOp op,
                                             const Word* dest, Word operand, int pe) noexcept {
  amo<Word>(state, context, function, op, dest, operand, 0, pe);
}

/// A fetching operation. Its old value is in *fetch after quiet.
template <class Word>
[[gnu::always_inline]] inline void amo_nbi(PeState& state, Context& context, const char* function, AmoOp op,
                                           Word* fetch, const Word* dest, Word operand, Word compare, int pe) noexcept {
  const PeerAddress there = reach(state, function, dest, sizeof(Word), pe);
  check_local(function, "fetch", fetch, sizeof(Word), pe);
  if (reinterpret_cast<uintptr_t>(dest) % sizeof(Word) != 0) [[unlikely]]
    die_misaligned(function, dest, sizeof(Word), pe);
  if (there.mapped) [[likely]] {
    const Word old = amo_direct(state, context, there.mapped, dest, pe, op, operand, compare);
    return move_block(state.device, fetch, &old, sizeof old);
  }
  check_promise(state, context, function, op, dest, pe);
  const NetAmo amo{op, sizeof(Word), operand, compare};
  net_issue(*state.network, amo_op(*context.net, there.remote, amo, fetch, Local::lent));
}

}  // namespace railshmem
