// SPDX-License-Identifier: BSD-3-Clause
// Bytes that name where they come from: each depends on the sending PE, the round and its offset.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace railshmem::perf {

/// The byte at `offset` of round `round` of PE `pe`.
uint8_t pattern_byte(int pe, uint64_t round, size_t offset) noexcept;

void fill_pattern(void* buffer, size_t nbytes, int pe, uint64_t round) noexcept;

/// Offset of the first byte that differs from the pattern; empty when all are right.
std::optional<size_t> find_mismatch(const void* buffer, size_t nbytes, int pe, uint64_t round) noexcept;

}  // namespace railshmem::perf
