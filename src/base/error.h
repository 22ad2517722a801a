// SPDX-License-Identifier: BSD-3-Clause
// Errors of setup and control: thrown inside the library, caught at the C border (src/base/guard.h).
#pragma once

#include <source_location>
#include <stdexcept>
#include <string>

namespace railshmem {

/// A failed setup step: what went wrong, the values involved, and what the user can do about it.
class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message, std::source_location where = std::source_location::current());
  const std::source_location& where() const noexcept { return where_; }

 private:
  std::source_location where_;
};

/// printf into a std::string; checked by the compiler like printf.
[[gnu::format(printf, 1, 2)]] std::string text(const char* format, ...);

/// Throws Error naming the system call, the reason from errno and the caller's place when `ok` is false.
void check_errno(bool ok, const char* call, std::source_location where = std::source_location::current());

}  // namespace railshmem
