// SPDX-License-Identifier: BSD-3-Clause
// How much memory this process could still get before the kernel kills somebody.
#pragma once

#include <cstdint>

namespace railshmem {

/// Bytes that the host and, under cgroup v2, this process's control groups still allow, counting page cache that
/// would be dropped. An estimate: others allocate too. UINT64_MAX when nothing is known.
uint64_t available_memory() noexcept;

/// Bytes that the host has or, where that is less, this process's control groups allow in all. UINT64_MAX when nothing
/// is known.
uint64_t total_memory() noexcept;

}  // namespace railshmem
