// SPDX-License-Identifier: BSD-3-Clause
#include "src/base/checksum.h"

#include <array>
#include <cstring>

namespace railshmem {
namespace {

constexpr uint32_t kPolynomial = 0x82f63b78;  // Castagnoli's, lowest bit first

constexpr std::array<uint32_t, 256> make_table() {
  std::array<uint32_t, 256> table{};
  for (uint32_t i = 0; i < table.size(); ++i) {
    uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? kPolynomial : 0);
    table[i] = crc;
  }
  return table;
}
constexpr std::array<uint32_t, 256> kTable = make_table();

#if defined(__x86_64__)
[[gnu::target("sse4.2")]] uint32_t crc32c_by_cpu(const unsigned char* at, size_t nbytes) noexcept {
  uint64_t crc = ~uint32_t{0};
  for (; nbytes >= sizeof(uint64_t); nbytes -= sizeof(uint64_t), at += sizeof(uint64_t)) {
    uint64_t word = 0;
    std::memcpy(&word, at, sizeof word);
    crc = __builtin_ia32_crc32di(crc, word);
  }
  auto rest = static_cast<uint32_t>(crc);
  for (; nbytes > 0; --nbytes) rest = __builtin_ia32_crc32qi(rest, *at++);
  return ~rest;
}
#endif

}  // namespace

uint32_t crc32c_by_table(const void* bytes, size_t nbytes) noexcept {
  const auto* at = static_cast<const unsigned char*>(bytes);
  uint32_t crc = ~uint32_t{0};
  for (; nbytes > 0; --nbytes) crc = (crc >> 8) ^ kTable[(crc ^ *at++) & 0xff];
  return ~crc;
}

uint32_t crc32c(const void* bytes, size_t nbytes) noexcept {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("sse4.2")) return crc32c_by_cpu(static_cast<const unsigned char*>(bytes), nbytes);
#endif
  return crc32c_by_table(bytes, nbytes);
}

}  // namespace railshmem
