// SPDX-License-Identifier: BSD-3-Clause
// Atomic operations on words of 4 and 8 bytes.
//
// Besides the forms of define.h there is railshmem_NAME_first(index, ...): it acts where index is 0, and returns 0
// elsewhere. In languages of tiles the old value reaches all threads as the sum over a tile of indices.
#pragma once

#include "python/device/define.h"
#include "shmem/device/calls/atomic.h"

#define RAILSHMEM_FETCHING(TYPE, T, NAME, CALL)                                                                   \
  RAILSHMEM_EXPORT T railshmem_##TYPE##_atomic_##NAME(int64_t dest, T value, int64_t pe) {                        \
    using namespace railshmem;                                                                                    \
    return CALL(SHMEM_CTX_DEFAULT, bitcode::at<T>(dest), value, bitcode::pe_of(pe));                              \
  }                                                                                                               \
  RAILSHMEM_EXPORT T railshmem_##TYPE##_atomic_##NAME##_first(int32_t index, int64_t dest, T value, int64_t pe) { \
    return index == 0 ? railshmem_##TYPE##_atomic_##NAME(dest, value, pe) : 0;                                    \
  }

#define RAILSHMEM_WORD(TYPE, T)                                                                                    \
  RAILSHMEM_FETCHING(TYPE, T, fetch_add, device::Atomics<T>::template fetch<AmoOp::fetch_add>)                     \
  RAILSHMEM_FETCHING(TYPE, T, swap, device::Atomics<T>::template fetch<AmoOp::swap>)                               \
  RAILSHMEM_EXPORT T railshmem_##TYPE##_atomic_compare_swap(int64_t dest, T compare, T value, int64_t pe) {        \
    using namespace railshmem;                                                                                     \
    return device::Atomics<T>::compare_swap(SHMEM_CTX_DEFAULT, bitcode::at<T>(dest), compare, value,               \
                                            bitcode::pe_of(pe));                                                   \
  }                                                                                                                \
  RAILSHMEM_EXPORT T railshmem_##TYPE##_atomic_compare_swap_first(int32_t index, int64_t dest, T compare, T value, \
                                                                  int64_t pe) {                                    \
    return index == 0 ? railshmem_##TYPE##_atomic_compare_swap(dest, compare, value, pe) : 0;                      \
  }                                                                                                                \
  RAILSHMEM_EXPORT T railshmem_##TYPE##_atomic_fetch(int64_t source, int64_t pe) {                                 \
    using namespace railshmem;                                                                                     \
    return device::Atomics<T>::read(SHMEM_CTX_DEFAULT, bitcode::at<const T>(source), bitcode::pe_of(pe));          \
  }                                                                                                                \
  RAILSHMEM_EXPORT T railshmem_##TYPE##_atomic_fetch_first(int32_t index, int64_t source, int64_t pe) {            \
    return index == 0 ? railshmem_##TYPE##_atomic_fetch(source, pe) : 0;                                           \
  }                                                                                                                \
  RAILSHMEM_EXPORT int railshmem_##TYPE##_atomic_add(int64_t dest, T value, int64_t pe) {                          \
    using namespace railshmem;                                                                                     \
    device::Atomics<T>::template update<AmoOp::add>(SHMEM_CTX_DEFAULT, bitcode::at<T>(dest), value,                \
                                                    bitcode::pe_of(pe));                                           \
    return 0;                                                                                                      \
  }                                                                                                                \
  RAILSHMEM_EXPORT int railshmem_##TYPE##_atomic_add_block(int64_t dest, T value, int64_t pe) {                    \
    return railshmem::bitcode::leader([=] { railshmem_##TYPE##_atomic_add(dest, value, pe); });                    \
  }                                                                                                                \
  RAILSHMEM_EXPORT int railshmem_##TYPE##_atomic_set(int64_t dest, T value, int64_t pe) {                          \
    using namespace railshmem;                                                                                     \
    device::Atomics<T>::template update<AmoOp::set>(SHMEM_CTX_DEFAULT, bitcode::at<T>(dest), value,                \
                                                    bitcode::pe_of(pe));                                           \
    return 0;                                                                                                      \
  }                                                                                                                \
  RAILSHMEM_EXPORT int railshmem_##TYPE##_atomic_set_block(int64_t dest, T value, int64_t pe) {                    \
    return railshmem::bitcode::leader([=] { railshmem_##TYPE##_atomic_set(dest, value, pe); });                    \
  }
RAILSHMEM_WORD(int32, int32_t)
RAILSHMEM_WORD(int64, int64_t)
#undef RAILSHMEM_WORD
#undef RAILSHMEM_FETCHING
