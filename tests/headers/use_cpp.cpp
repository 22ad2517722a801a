// SPDX-License-Identifier: BSD-3-Clause
//
// Compile-only: every C++ overload once per selectable type, without and with a context.
#include <pshmem.h>
#include <shmem.h>
#include <shmemx.h>

#include <type_traits>

#include "generic_calls.h"

namespace {

template <class T>
void bits(T* dest, uint64_t* signal) {
  GENERIC_BITWISE_CALLS(T, dest, signal)
}

template <class T>
void words(T* dest, uint64_t* signal) {
  GENERIC_STANDARD_CALLS(T, dest, signal)
}

template <class T>
void values(T* dest, uint64_t* signal) {
  GENERIC_EXTENDED_CALLS(T, dest, signal)
}

template <class T>
void ordered(T* dest, uint64_t* signal) {
  GENERIC_REDUCE_ORDER_CALLS(T, dest, signal)
}

template <class T>
void masks(T* dest, uint64_t* signal) {
  GENERIC_REDUCE_BITS_CALLS(T, dest, signal)
}

template <class T>
void summands(T* dest, uint64_t* signal) {
  GENERIC_REDUCE_SUM_CALLS(T, dest, signal)
}

template <class T>
void elements(T* dest, uint64_t* signal) {
  GENERIC_RMA_CALLS(T, dest, signal)
}

}  // namespace

void use_overloads(uint64_t* signal);
void use_overloads(uint64_t* signal) {
#define USE(CALLS, N, T) CALLS(static_cast<T*>(nullptr), signal);
  RMA_TYPES(USE, elements)
  EXTENDED_TYPES(USE, values)
  STANDARD_TYPES(USE, words)
  BITWISE_TYPES(USE, bits)
  BITS_TYPES(USE, masks)
  RMA_TYPES(USE, ordered)
  RMA_TYPES(USE, summands)
  USE(summands, complexf, railshmem_complexf)
  USE(summands, complexd, railshmem_complexd)
  short* narrow = nullptr;
  shmem_wait_until(narrow, SHMEM_CMP_EQ, 1);
  (void)shmem_test(narrow, SHMEM_CMP_EQ, 1);
  shmem_signal_add(SHMEM_CTX_DEFAULT, signal, 1, 0);
  shmem_signal_set(signal, 1, 0);
  (void)shmem_sync(SHMEM_TEAM_WORLD);
}

static_assert(std::is_same<decltype(shmem_g(static_cast<const short*>(nullptr), 0)), short>::value, "type kept");
static_assert(std::is_same<decltype(shmem_atomic_swap(static_cast<double*>(nullptr), 1, 0)), double>::value,
              "type kept");
