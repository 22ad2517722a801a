// SPDX-License-Identifier: BSD-3-Clause
// Proxy threads at work on rings of a GPU, over rails that complete at once. Apart from the kernels: nvcc would compile
// the engine three times.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "src/channel/channel.h"

namespace railshmem::gpu_test {

/// What `threads` proxy threads do with `each` commands per channel: thread t drives channels t, t + threads, ... with
/// an initiator of its own, as in an engine. Returns the nanoseconds from the first command that any thread saw to the
/// last one finished; 1 when they did not come within `patience_ns`, and then the channels have failed.
uint64_t drain_with_engine(std::span<Channel* const> channels, size_t threads, uint64_t each, uint64_t patience_ns);

}  // namespace railshmem::gpu_test
