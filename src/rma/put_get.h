// SPDX-License-Identifier: BSD-3-Clause
// Contiguous remote memory access (OpenSHMEM 1.6 section 9.6). docs/architecture.md shows the way to the NIC.
#pragma once

#include "src/rma/bits.h"
#include "src/rma/copy.h"
#include "src/rma/entry.h"
#include "src/rma/peer_address.h"

namespace railshmem {

/// A put or get of this PE for itself, of memory in no segment.
[[gnu::cold]] void put_own(const PeState& state, const char* function, void* dest, const void* source, size_t nbytes,
                           int pe) noexcept;
[[gnu::cold]] void get_own(const PeState& state, const char* function, void* dest, const void* source, size_t nbytes,
                           int pe) noexcept;

/// Returns when `source` may be reused; the data arrives in any order, at the latest by quiet.
[[gnu::always_inline]] inline void put(PeState& state, Context& context, const char* function, void* dest,
                                       const void* source, size_t nbytes, int pe) noexcept {
  if (nbytes == 0) [[unlikely]]
    return check_pe(state, function, pe);
  PeerAddress there;
  if (!find_peer_address(state, function, dest, nbytes, pe, &there)) [[unlikely]]
    return put_own(state, function, dest, source, nbytes, pe);
  check_local(function, "source", source, nbytes, pe);
  if (there.mapped) [[likely]]
    return store_block(state.device, there.mapped, source, nbytes);
  net_issue(*state.network, put_op(*context.net, there.remote, source, nbytes, Local::awaited));
}

/// `source` belongs to the library until quiet.
[[gnu::always_inline]] inline void put_nbi(PeState& state, Context& context, const char* function, void* dest,
                                           const void* source, size_t nbytes, int pe) noexcept {
  if (nbytes == 0) [[unlikely]]
    return check_pe(state, function, pe);
  PeerAddress there;
  if (!find_peer_address(state, function, dest, nbytes, pe, &there)) [[unlikely]]
    return put_own(state, function, dest, source, nbytes, pe);
  check_local(function, "source", source, nbytes, pe);
  if (there.mapped) [[likely]]
    return store_block(state.device, there.mapped, source, nbytes);
  net_issue(*state.network, put_op(*context.net, there.remote, source, nbytes, Local::lent));
}

[[gnu::always_inline]] inline void get(PeState& state, Context& context, const char* function, void* dest,
                                       const void* source, size_t nbytes, int pe) noexcept {
  if (nbytes == 0) [[unlikely]]
    return check_pe(state, function, pe);
  PeerAddress there;
  if (!find_peer_address(state, function, source, nbytes, pe, &there)) [[unlikely]]
    return get_own(state, function, dest, source, nbytes, pe);
  check_local(function, "dest", dest, nbytes, pe);
  if (there.mapped) [[likely]]
    return load_block(state.device, dest, there.mapped, nbytes);
  net_issue(*state.network, get_op(*context.net, there.remote, dest, nbytes, Local::awaited));
}

[[gnu::always_inline]] inline void get_nbi(PeState& state, Context& context, const char* function, void* dest,
                                           const void* source, size_t nbytes, int pe) noexcept {
  if (nbytes == 0) [[unlikely]]
    return check_pe(state, function, pe);
  PeerAddress there;
  if (!find_peer_address(state, function, source, nbytes, pe, &there)) [[unlikely]]
    return get_own(state, function, dest, source, nbytes, pe);
  check_local(function, "dest", dest, nbytes, pe);
  if (there.mapped) [[likely]]
    return move_block(state.device, dest, there.mapped, nbytes);
  net_issue(*state.network, get_op(*context.net, there.remote, dest, nbytes, Local::lent));
}

/// One element, stored in one access (types of up to 8 bytes).
template <class T>
[[gnu::always_inline]] inline void put_value(PeState& state, Context& context, const char* function, T* dest, T value,
                                             int pe) noexcept {
  const PeerAddress there = reach(state, function, dest, sizeof(T), pe);
  if (!there.mapped) [[unlikely]]
    return net_issue(*state.network, put_op(*context.net, there.remote, &value, sizeof(T), Local::awaited));
  if (state.device) [[unlikely]]
    return state.device->copy(there.mapped, &value, sizeof(T));
  if constexpr (sizeof(T) <= 8) {
    // relaxed: ordering is the business of fence and quiet; atomic so that a waiting reader sees all of it or nothing.
    __atomic_store(reinterpret_cast<T*>(there.mapped), &value, __ATOMIC_RELAXED);
  } else {
    std::memcpy(there.mapped, &value, sizeof(T));
  }
}

template <class T>
[[gnu::always_inline]] inline T get_value(PeState& state, Context& context, const char* function, const T* source,
                                          int pe) noexcept {
  T value;
  const PeerAddress there = reach(state, function, source, sizeof(T), pe);
  if (!there.mapped) [[unlikely]] {
    net_issue(*state.network, get_op(*context.net, there.remote, &value, sizeof(T), Local::awaited));
  } else if (state.device) [[unlikely]] {
    state.device->copy(&value, there.mapped, sizeof(T));
  } else if constexpr (sizeof(T) <= 8) {
    // acquire: as in load_block; atomic as in put_value.
    __atomic_load(reinterpret_cast<const T*>(there.mapped), &value, __ATOMIC_ACQUIRE);
  } else {
    load_block(nullptr, &value, there.mapped, sizeof(T));
  }
  return value;
}

/// Bytes of n elements; the product must not wrap.
[[noreturn, gnu::cold]] void die_overflow(const char* function, size_t nelems, size_t element, int pe) noexcept;
[[gnu::always_inline]] inline size_t total_bytes(const char* function, size_t nelems, size_t element, int pe) noexcept {
  size_t nbytes = 0;
  if (__builtin_mul_overflow(nelems, element, &nbytes)) [[unlikely]]
    die_overflow(function, nelems, element, pe);
  return nbytes;
}

// ---- as calls of the program: `in` is the context, or nothing -------------------------------------------------------

/// kOperation: put or put_nbi.
template <auto kOperation, size_t kElement, class... In>
RAILSHMEM_SHORT_CALL void put_block(void* dest, const void* source, size_t nelems, CallTo call, In... in) noexcept {
  const Entry entry(call, in...);
  const size_t nbytes = total_bytes(entry.function, nelems, kElement, entry.pe);
  if (entry.state.observer) [[unlikely]]
    return observed(kOperation, entry.state, entry.context,
                    {observe::Kind::put, entry.function, nbytes, entry.pe, dest, source}, dest, source, nbytes,
                    entry.pe);
  kOperation(entry.state, entry.context, entry.function, dest, source, nbytes, entry.pe);
}

/// kOperation: get or get_nbi.
template <auto kOperation, size_t kElement, class... In>
RAILSHMEM_SHORT_CALL void get_block(void* dest, const void* source, size_t nelems, CallTo call, In... in) noexcept {
  const Entry entry(call, in...);
  const size_t nbytes = total_bytes(entry.function, nelems, kElement, entry.pe);
  run_call<kOperation>(entry, observe::Kind::get, nbytes, {source, dest}, dest, source, nbytes, entry.pe);
}

template <class Word, class... In>
[[gnu::noinline]] void put_word(Word* dest, Word value, CallTo call, In... in) noexcept {
  const Entry entry(call, in...);
  run_call<&put_value<Word>>(entry, observe::Kind::put, sizeof(Word), {dest}, dest, value, entry.pe);
}

template <class T, class... In>
[[gnu::always_inline]] inline void put_one(T* dest, T value, CallTo call, In... in) noexcept {
  put_word(reinterpret_cast<Bits<T>*>(dest), as_bits(value), call, in...);
}

template <class Word, class... In>
[[gnu::noinline]] Word get_word(const Word* source, CallTo call, In... in) noexcept {
  const Entry entry(call, in...);
  return run_call<&get_value<Word>>(entry, observe::Kind::get, sizeof(Word), {source}, source, entry.pe);
}

template <class T, class... In>
[[gnu::always_inline]] inline T get_one(const T* source, CallTo call, In... in) noexcept {
  return from_bits<T>(get_word(reinterpret_cast<const Bits<T>*>(source), call, in...));
}

}  // namespace railshmem
