// SPDX-License-Identifier: BSD-3-Clause
// A ring and the way back: what producers need to issue commands and to wait for them.
#ifndef SHMEM_DETAIL_CHANNEL_H
#define SHMEM_DETAIL_CHANNEL_H

#include "shmem/detail/ring.h"

namespace railshmem {

struct ChannelView {
  RingView ring;
  const uint64_t* completed;
};
static_assert(std::is_trivially_copyable<ChannelView>::value, "goes to the GPU");

}  // namespace railshmem

#endif
