// SPDX-License-Identifier: BSD-3-Clause
// Point-to-point synchronisation, as its entry points call it. Tests are no waits: polling them is counted as nothing.
#pragma once

#include "src/api/entry.h"
#include "src/rma/wait.h"

namespace railshmem {

template <class T>
[[gnu::always_inline]] inline void wait_for(const char* function, T* word, int cmp, T value) noexcept {
  PeState& state = pe_state(function);
  RAILSHMEM_PROBE_PLAIN(wait, function, sizeof(T));
  wait_until<T>(state, function, word, cmp, value);
}

template <class T>
[[gnu::always_inline]] inline int test_word(const char* function, T* word, int cmp, T value) noexcept {
  return test<T>(pe_state(function), function, word, cmp, value);
}

/// The words of a call, and what they are compared with.
template <class T>
struct WordArguments {
  T* words;
  size_t n;
  const int* status;
  int cmp;
  const T* values;
  bool one;  ///< *values holds for all words

  WaitSet<T> set(const char* function, const PeState& state) const noexcept {
    return {function, words, n, status, cmp, values, one, state.device};
  }
};
template <class T>
WordArguments<T> one_value(T* words, size_t n, const int* status, int cmp, const T* value) noexcept {
  return {words, n, status, cmp, value, true};
}
template <class T>
WordArguments<T> many_values(T* words, size_t n, const int* status, int cmp, const T* values) noexcept {
  return {words, n, status, cmp, values, false};
}

template <class T>
void wait_for_all(const char* function, const WordArguments<T>& words) noexcept {
  PeState& state = pe_state(function);
  RAILSHMEM_PROBE_PLAIN(wait, function, words.n * sizeof(T));
  wait_all(state, words.set(function, state));
}
template <class T>
size_t wait_for_any(const char* function, const WordArguments<T>& words) noexcept {
  PeState& state = pe_state(function);
  RAILSHMEM_PROBE_PLAIN(wait, function, words.n * sizeof(T));
  return wait_any(state, words.set(function, state));
}
template <class T>
size_t wait_for_some(const char* function, const WordArguments<T>& words, size_t* indices) noexcept {
  PeState& state = pe_state(function);
  RAILSHMEM_PROBE_PLAIN(wait, function, words.n * sizeof(T));
  return wait_some(state, words.set(function, state), indices);
}
template <class T>
int test_for_all(const char* function, const WordArguments<T>& words) noexcept {
  PeState& state = pe_state(function);
  return test_all(state, words.set(function, state));
}
template <class T>
size_t test_for_any(const char* function, const WordArguments<T>& words) noexcept {
  PeState& state = pe_state(function);
  return test_any(state, words.set(function, state));
}
template <class T>
size_t test_for_some(const char* function, const WordArguments<T>& words, size_t* indices) noexcept {
  PeState& state = pe_state(function);
  return test_some(state, words.set(function, state), indices);
}

}  // namespace railshmem
