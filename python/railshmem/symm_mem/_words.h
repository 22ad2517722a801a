// SPDX-License-Identifier: BSD-3-Clause
// Messages without streams: a compiler that links its C++ library into the extension gives it a second copy, whose
// streams die of a segmentation fault at the first number beside the library that torch has loaded.
#pragma once

#include <concepts>
#include <cstdio>
#include <string>

namespace railshmem_symm_mem {

inline void append(std::string& words, const std::string& more) {
  words += more;
}
inline void append(std::string& words, const char* more) {
  words += more;
}
inline void append(std::string& words, std::integral auto number) {
  words += std::to_string(number);
}
inline void append(std::string& words, double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", number);
  words += text;
}

/// Words and numbers, one behind the other.
template <class... Parts>
std::string joined(const Parts&... parts) {
  std::string words;
  (append(words, parts), ...);
  return words;
}

}  // namespace railshmem_symm_mem
