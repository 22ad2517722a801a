// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/common/variables.h"

#include <charconv>

#include "src/base/env.h"
#include "src/base/error.h"

namespace railshmem {

bool has_variable(const char* name) noexcept { return launcher_variable(name) != nullptr; }

std::string need_variable(const char* name, const char* needed_by, const char* remedy) {
  const char* value = launcher_variable(name);
  if (!value) throw Error(text("the %s bootstrap needs %s, which is not set; %s", needed_by, name, remedy));
  return value;
}

int need_number(const char* name, int low, int high, const char* needed_by, const char* remedy) {
  const std::string value = need_variable(name, needed_by, remedy);
  int number = 0;
  const char* end = value.data() + value.size();
  const auto [stop, error] = std::from_chars(value.data(), end, number);
  if (value.empty() || error != std::errc{} || stop != end || number < low || number > high)
    throw Error(text("%s is '%s'; the %s bootstrap needs a number from %d to %d there", name, value.c_str(), needed_by,
                     low, high));
  return number;
}

}  // namespace railshmem
