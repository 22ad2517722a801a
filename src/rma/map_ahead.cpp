// SPDX-License-Identifier: BSD-3-Clause
#include "src/rma/map_ahead.h"

#include <cstdint>

#include "src/base/cpu.h"

namespace railshmem {
namespace {

constexpr size_t kGroup = size_t{64} << 10;             // Linux's fault_around_bytes
constexpr size_t kGroupsPerLook = 16;                   // where one is mapped, so are most likely its neighbours
constexpr uint64_t kFault = 3 * kRoughTicksPerUs / 10;  // a fault takes longer, a cache miss less

void touch(const std::byte* byte) noexcept {
  (void)*static_cast<const volatile std::byte*>(byte);
}

/// Whether the page was not mapped, as far as time tells.
bool faults(const std::byte* byte) noexcept {
  const uint64_t before = rough_clock();
  touch(byte);
  return rough_clock() - before > kFault;
}

const std::byte* next_group(const std::byte* byte) noexcept {
  return byte + (kGroup - reinterpret_cast<uintptr_t>(byte) % kGroup);
}

}  // namespace

void map_ahead(const std::byte* to, size_t nbytes) noexcept {
  const std::byte* const end = to + nbytes;
  for (const std::byte* group = to; group < end;) {
    const bool missing = faults(group);
    for (size_t n = 0; n < kGroupsPerLook && group < end; ++n) {
      if (missing) touch(group);
      group = next_group(group);
    }
  }
}

}  // namespace railshmem
