// SPDX-License-Identifier: BSD-3-Clause
// Exceptions for Python. The library ends the process on misuse, so every call checks its arguments first.
#pragma once

#include <nanobind/nanobind.h>

#include <sstream>
#include <string>

namespace railshmem::python {

/// The arguments, one after the other, as text.
template <class... Parts>
std::string text(const Parts&... parts) {
  std::ostringstream out;
  (out << ... << parts);
  return out.str();
}

/// A value that makes no sense: ValueError.
[[noreturn]] inline void value_error(const std::string& what) {
  throw nanobind::value_error(what.c_str());
}

/// An object or an element type that the call does not take: TypeError.
[[noreturn]] inline void type_error(const std::string& what) {
  throw nanobind::type_error(what.c_str());
}

/// A call at a time when it cannot be made: RuntimeError.
[[noreturn]] inline void state_error(const std::string& what) {
  throw nanobind::builtin_exception(nanobind::exception_type::runtime_error, what.c_str());
}

}  // namespace railshmem::python
