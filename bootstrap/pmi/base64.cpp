// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/pmi/base64.h"

#include <array>

namespace railshmem::pmi {
namespace {

constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

constexpr std::array<int8_t, 256> make_values() {
  std::array<int8_t, 256> values{};
  values.fill(-1);
  for (size_t i = 0; i < kAlphabet.size(); ++i) values[static_cast<uint8_t>(kAlphabet[i])] = static_cast<int8_t>(i);
  return values;
}
constexpr auto kValues = make_values();

}  // namespace

std::string encode_base64(std::span<const std::byte> bytes) {
  std::string out;
  out.reserve((bytes.size() * 4 + 2) / 3);
  uint32_t bits = 0;
  int count = 0;
  for (const std::byte byte : bytes) {
    bits = (bits << 8) | std::to_integer<uint32_t>(byte);
    for (count += 8; count >= 6;) out += kAlphabet[(bits >> (count -= 6)) & 63];
  }
  if (count > 0) out += kAlphabet[(bits << (6 - count)) & 63];
  return out;
}

Bytes decode_base64(std::string_view encoded) {
  if (encoded.size() % 4 == 1) throw Error(text("a PMI value of %zu characters is no base64", encoded.size()));
  Bytes out;
  out.reserve(encoded.size() * 3 / 4);
  uint32_t bits = 0;
  int count = 0;
  for (const char c : encoded) {
    const int8_t value = kValues[static_cast<uint8_t>(c)];
    if (value < 0) throw Error(text("a PMI value holds character %d, which is no base64", c));
    bits = (bits << 6) | static_cast<uint32_t>(value);
    if ((count += 6) >= 8) out.push_back(static_cast<std::byte>((bits >> (count -= 8)) & 255));
  }
  return out;
}

}  // namespace railshmem::pmi
