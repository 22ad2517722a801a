// SPDX-License-Identifier: BSD-3-Clause
// Proxy threads at work on rings of a GPU, over rails that complete at once. Apart from the kernels: nvcc would compile
// the engine three times.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "src/channel/channel.h"

namespace railshmem::gpu_test {

struct Drained {
  uint64_t ns;        ///< 1: the commands did not come in time, and the channels have failed
  double core_speed;  ///< of the slowest thread's core, before and after: additions a nanosecond
};

/// What `threads` proxy threads do with `each` commands per channel: thread t drives channels t, t + threads, ... with
/// an initiator of its own, as in an engine. The time is from the first command that any thread saw to the last one
/// finished. The speed of a core tells whether it was this thread's alone: where two hardware threads share one, and
/// the other one may belong to another machine's user, both get little more than half of it.
Drained drain_with_engine(std::span<Channel* const> channels, size_t threads, uint64_t each, uint64_t patience_ns);

}  // namespace railshmem::gpu_test
