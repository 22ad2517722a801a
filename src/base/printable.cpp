// SPDX-License-Identifier: BSD-3-Clause
#include "src/base/printable.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace railshmem {
namespace {

constexpr size_t kEscape = 4;  // characters of \xNN

struct Character {
  size_t nbytes = 1;
  uint32_t code = 0;
  bool valid = false;
};

/// The first character; one invalid byte where there is no well-formed UTF-8.
Character first_of(std::string_view text) noexcept {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t lead = byte(0);
  if (lead < 0x80) return {1, lead, true};
  const size_t nbytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < nbytes) return {};
  uint32_t code = lead & (0x7fu >> nbytes);
  for (size_t i = 1; i < nbytes; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    code = (code << 6) | (byte(i) & 0x3fu);
  }
  constexpr uint32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  if (code < kSmallest[nbytes] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return {};
  return {nbytes, code, true};
}

bool harmless(const Character& c) noexcept {
  if (!c.valid || c.code < 0x20 || (c.code >= 0x7f && c.code < 0xa0)) return false;
  const bool turns_direction = c.code == 0x061c || c.code == 0x200e || c.code == 0x200f ||
                               (c.code >= 0x202a && c.code <= 0x202e) || (c.code >= 0x2066 && c.code <= 0x2069);
  const bool ends_line = c.code == 0x2028 || c.code == 0x2029;
  return !turns_direction && !ends_line;
}

}  // namespace

size_t write_printable(char* out, size_t room, std::string_view text) noexcept {
  constexpr char kDigits[] = "0123456789abcdef";
  size_t n = 0;
  while (!text.empty()) {
    const Character c = first_of(text);
    const bool plain = harmless(c);
    if (room - n < (plain ? c.nbytes : kEscape * c.nbytes)) break;
    for (size_t i = 0; i < c.nbytes; ++i) {
      const auto byte = static_cast<uint8_t>(text[i]);
      if (plain) {
        out[n++] = text[i];
      } else {
        const char escape[kEscape] = {'\\', 'x', kDigits[byte >> 4], kDigits[byte & 15]};
        std::memcpy(out + n, escape, kEscape);
        n += kEscape;
      }
    }
    text.remove_prefix(c.nbytes);
  }
  return n;
}

std::string printable(std::string_view text) {
  std::string out(text.size() * kEscape, '\0');
  out.resize(write_printable(out.data(), out.size(), text));
  return out;
}

std::string printable_lines(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const size_t length = std::min(text.find('\n'), text.size());
    out += printable(text.substr(0, length));
    if (length < text.size()) out += '\n';
    text.remove_prefix(std::min(length + 1, text.size()));
  }
  return out;
}

}  // namespace railshmem
