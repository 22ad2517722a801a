// SPDX-License-Identifier: BSD-3-Clause
// Places of packets get an old number before the numbers of packets come again.
#pragma once

#include "moe/kernels/call.h"
#include "shmem/detail/threads.h"
#include "shmem/device/calls/define.h"

namespace railshmem::moe::kernels {

/// Memory that is a multiple of 8 bytes, and the number of the packets that are to lie there.
struct Places {
  uint64_t* from;
  uint64_t nbytes, number;

  /// The whole block.
  RAILSHMEM_KERNEL void fill() const {
    const uint64_t word = Numbered::of(number, 0);
    RAILSHMEM_NO_UNROLL
    for (uint64_t i = threads::thread_in_row(); i < nbytes / 8; i += threads::row_size()) from[i] = word;
  }
};

}  // namespace railshmem::moe::kernels
