// SPDX-License-Identifier: BSD-3-Clause
// Arrays of one element as words that PEs update and wait for, and the numbers that go with them.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>

#include "python/src/array.h"

namespace railshmem::python {

/// ValueError unless the array has one element, TypeError unless it is an integer of 32 or 64 bits; symmetric, too.
void require_word(const char* function, const Array& array);

/// require_word, and the element is a uint64; of a tensor also an int64, whose bits are taken for a uint64.
void require_signal(const char* function, const Array& array);

/// The bits of a Python integer that fits the element type of the word. OverflowError where it does not fit, TypeError
/// where it is no integer.
uint64_t bits_for(const char* function, const char* argument, const Array& word, nanobind::handle number);

/// The bits of a Python integer that fits a uint64; errors are those of bits_for().
uint64_t signal_bits_for(const char* function, const char* argument, nanobind::handle number);

/// The Python integer of these bits of the element type of the word.
nanobind::object number_of(const Array& word, uint64_t bits);

/// SHMEM_CMP_ of "==", "!=", ">", ">=", "<" or "<="; else ValueError.
int comparison_of(const char* function, const char* name);

/// SHMEM_SIGNAL_ of "set" or "add"; else ValueError.
int signal_op_of(const char* function, const char* name);

/// Calls action with a null pointer of the element type of the word: int32_t, int64_t, uint32_t or uint64_t.
template <class Action>
auto with_type_of(const Array& word, Action action) {
  const bool is_signed = word.kind() == Kind::signed_integer;
  if (word.itemsize() == sizeof(int32_t))
    return is_signed ? action(static_cast<int32_t*>(nullptr)) : action(static_cast<uint32_t*>(nullptr));
  return is_signed ? action(static_cast<int64_t*>(nullptr)) : action(static_cast<uint64_t*>(nullptr));
}

}  // namespace railshmem::python
