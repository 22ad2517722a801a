// SPDX-License-Identifier: BSD-3-Clause
// Which threads call an operation of a kernel together. A value, so that one type serves options and template
// arguments.
#pragma once

#include <cstdint>

namespace railshmem::perf::gpu {

enum class Scope : uint8_t { thread, warp, block };

constexpr unsigned kWarpThreads = 32;
constexpr unsigned kMostThreads = 1024;  ///< of a block

/// Threads of a kernel that one scope calls; also its launch bound, so that few threads have many registers.
constexpr unsigned most_threads(Scope scope) {
  return scope == Scope::block ? kMostThreads : scope == Scope::warp ? kWarpThreads : 1;
}

}  // namespace railshmem::perf::gpu
