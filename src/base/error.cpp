// SPDX-License-Identifier: BSD-3-Clause
#include "src/base/error.h"

#include <cerrno>
#include <cstdarg>
#include <cstdio>

#include "src/base/system_limits.h"

namespace railshmem {

Error::Error(const std::string& message, std::source_location where) : std::runtime_error(message), where_(where) {}

std::string text(const char* format, ...) {
  va_list args;
  va_start(args, format);
  va_list measure;
  va_copy(measure, args);
  const int n = std::vsnprintf(nullptr, 0, format, measure);
  va_end(measure);
  std::string out(n > 0 ? static_cast<size_t>(n) : 0, '\0');
  if (n > 0) std::vsnprintf(out.data(), out.size() + 1, format, args);
  va_end(args);
  return out;
}

void check_errno(bool ok, const char* call, std::source_location where) {
  if (ok) return;
  throw Error(text("%s failed: %s", call, refusal_text(errno).c_str()), where);
}

}  // namespace railshmem
