// SPDX-License-Identifier: BSD-3-Clause
// Numbers with their unit, for messages.
#pragma once

#include <cstdint>
#include <string>

namespace railshmem {

/// "1 PE", "2 PEs", "0 PEs".
std::string counted(uint64_t n, const char* noun);

/// "64 bytes", "1.5 KiB", "512 MiB", "16 GiB": in the largest unit that leaves at least 1, with one digit behind the
/// point where it is not 0.
std::string memory_size(uint64_t nbytes);

}  // namespace railshmem
