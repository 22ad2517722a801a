// SPDX-License-Identifier: BSD-3-Clause
// CRC-32C, the checksum of iSCSI: finds every error of up to 32 bits in a row, and all but one in 4e9 of the others.
#pragma once

#include <cstddef>
#include <cstdint>

namespace railshmem {

/// By the CPU's own instruction where it has one.
uint32_t crc32c(const void* bytes, size_t nbytes) noexcept;

/// The same from tables, on any CPU.
uint32_t crc32c_by_table(const void* bytes, size_t nbytes) noexcept;

}  // namespace railshmem
