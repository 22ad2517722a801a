// SPDX-License-Identifier: BSD-3-Clause
#include "perftest/harness/pattern.h"

#include <algorithm>
#include <cstring>

namespace railshmem::perf {
namespace {

/// splitmix64: neighbouring words, rounds and PEs share no bytes but by chance, so that a shifted, stale or
/// misdirected transfer cannot pass.
uint64_t word(int pe, uint64_t round, uint64_t index) noexcept {
  uint64_t x = (static_cast<uint64_t>(static_cast<uint32_t>(pe)) << 40) + round * 0x9e3779b97f4a7c15u;
  x += (index + 1) * 0xd1342543de82ef95u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

}  // namespace

uint8_t pattern_byte(int pe, uint64_t round, size_t offset) noexcept {
  const uint64_t w = word(pe, round, offset / sizeof w);
  uint8_t bytes[sizeof w];
  memcpy(bytes, &w, sizeof w);
  return bytes[offset % sizeof w];
}

void fill_pattern(void* buffer, size_t nbytes, int pe, uint64_t round) noexcept {
  auto* out = static_cast<uint8_t*>(buffer);
  for (size_t offset = 0; offset < nbytes; offset += sizeof(uint64_t)) {
    const uint64_t w = word(pe, round, offset / sizeof w);
    memcpy(out + offset, &w, std::min(sizeof w, nbytes - offset));
  }
}

std::optional<size_t> find_mismatch(const void* buffer, size_t nbytes, int pe, uint64_t round) noexcept {
  const auto* in = static_cast<const uint8_t*>(buffer);
  for (size_t offset = 0; offset < nbytes; offset += sizeof(uint64_t)) {
    const uint64_t w = word(pe, round, offset / sizeof w);
    const size_t n = std::min(sizeof w, nbytes - offset);
    if (memcmp(in + offset, &w, n) == 0) continue;
    for (size_t i = 0; i < n; ++i)
      if (in[offset + i] != pattern_byte(pe, round, offset + i)) return offset + i;
  }
  return std::nullopt;
}

}  // namespace railshmem::perf
