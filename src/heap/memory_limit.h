// SPDX-License-Identifier: BSD-3-Clause
// How much memory this process could still get before the kernel kills somebody.
#pragma once

#include <cstdint>
#include <string>

namespace railshmem {

/// Bytes that the host and this process's control groups (version 1 or 2) still allow, counting page cache that would
/// be dropped. An estimate: others allocate too. UINT64_MAX when nothing is known. `root` stands before /proc and /sys.
uint64_t available_memory(const std::string& root = {}) noexcept;

/// Bytes that the host has or, where that is less, this process's control groups allow in all. UINT64_MAX when nothing
/// is known.
uint64_t total_memory(const std::string& root = {}) noexcept;

}  // namespace railshmem
