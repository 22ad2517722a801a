// SPDX-License-Identifier: BSD-3-Clause
#include "python/src/words.h"

#include <limits>
#include <string_view>

#include "python/src/errors.h"
#include "python/src/heap.h"
#include "shmem.h"

namespace railshmem::python {

void require_word(const char* function, const Array& array) {
  const bool integer = array.kind() == Kind::signed_integer || array.kind() == Kind::unsigned_integer;
  if (!integer || (array.itemsize() != 4 && array.itemsize() != 8))
    type_error(text(function, ": ", array.argument(), " has elements of ", array.type_name(),
                    "; it must have int32, int64, uint32 or uint64"));
  if (array.elements() != 1)
    value_error(
        text(function, ": ", array.argument(), " has ", array.elements(), " elements; pass one element, as in a[3:4]"));
  require_symmetric(function, array);
}

void require_signal(const char* function, const Array& array) {
  const bool signs = array.is_tensor() && array.kind() == Kind::signed_integer;
  if ((array.kind() != Kind::unsigned_integer && !signs) || array.itemsize() != sizeof(uint64_t))
    type_error(text(function, ": ", array.argument(), " has elements of ", array.type_name(), "; a signal is a uint64",
                    array.is_tensor() ? " or an int64" : ""));
  require_word(function, array);
}

uint64_t bits_for(const char* function, const char* argument, const Array& word, nanobind::handle number) {
  const auto index = nanobind::steal(PyNumber_Index(number.ptr()));
  if (!index.is_valid()) {
    PyErr_Clear();
    type_error(text(function, ": ", argument, " must be an integer"));
  }
  return with_type_of(word, [&]<class T>(T*) {
    int overflow = 0;
    uint64_t bits = 0;
    bool fits = false;
    if constexpr (std::numeric_limits<T>::is_signed) {
      const long long value = PyLong_AsLongLongAndOverflow(index.ptr(), &overflow);
      fits = !overflow && value >= std::numeric_limits<T>::min() && value <= std::numeric_limits<T>::max();
      bits = static_cast<uint64_t>(value);
    } else {
      const unsigned long long value = PyLong_AsUnsignedLongLong(index.ptr());
      fits = !PyErr_Occurred() && value <= std::numeric_limits<T>::max();
      PyErr_Clear();
      bits = value;
    }
    if (!fits) {
      PyErr_SetString(PyExc_OverflowError,
                      text(function, ": ", argument, " does not fit into ", word.type_name()).c_str());
      throw nanobind::python_error();
    }
    return bits;
  });
}

uint64_t signal_bits_for(const char* function, const char* argument, nanobind::handle number) {
  const auto index = nanobind::steal(PyNumber_Index(number.ptr()));
  if (!index.is_valid()) {
    PyErr_Clear();
    type_error(text(function, ": ", argument, " must be an integer"));
  }
  const unsigned long long value = PyLong_AsUnsignedLongLong(index.ptr());
  if (PyErr_Occurred()) {
    PyErr_SetString(PyExc_OverflowError, text(function, ": ", argument, " does not fit into uint64").c_str());
    throw nanobind::python_error();
  }
  return value;
}

nanobind::object number_of(const Array& word, uint64_t bits) {
  return with_type_of(word, [&]<class T>(T*) { return nanobind::object(nanobind::int_(static_cast<T>(bits))); });
}

int comparison_of(const char* function, const char* name) {
  const std::string_view asked = name;
  if (asked == "==") return SHMEM_CMP_EQ;
  if (asked == "!=") return SHMEM_CMP_NE;
  if (asked == ">") return SHMEM_CMP_GT;
  if (asked == ">=") return SHMEM_CMP_GE;
  if (asked == "<") return SHMEM_CMP_LT;
  if (asked == "<=") return SHMEM_CMP_LE;
  value_error(text(function, ": cmp is '", name, "'; accepted: ==, !=, >, >=, <, <="));
}

int signal_op_of(const char* function, const char* name) {
  const std::string_view asked = name;
  if (asked == "set") return SHMEM_SIGNAL_SET;
  if (asked == "add") return SHMEM_SIGNAL_ADD;
  value_error(text(function, ": op is '", name, "'; accepted: set, add"));
}

}  // namespace railshmem::python
