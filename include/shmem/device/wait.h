// SPDX-License-Identifier: BSD-3-Clause
// Waits that end: every one looks at an error word and at a deadline.
#ifndef SHMEM_DEVICE_WAIT_H
#define SHMEM_DEVICE_WAIT_H

#include <stdint.h>

#include "shmem/detail/channel.h"
#include "shmem/detail/portable.h"

namespace railshmem {
namespace device {

/// A time on this side's clock; never() for waits that only an error ends.
struct Deadline {
  uint64_t at_ns;

  RAILSHMEM_HD static Deadline never() { return {~uint64_t{0}}; }
  RAILSHMEM_HD static Deadline in(uint64_t timeout_ns) {
    const uint64_t now = portable::clock_ns();
    return timeout_ns > ~uint64_t{0} - now ? never() : Deadline{now + timeout_ns};
  }
  RAILSHMEM_HD bool passed() const { return at_ns != ~uint64_t{0} && portable::clock_ns() >= at_ns; }
};

/// A time from the first turn of a wait that took long enough to look at the clock. 0: never.
struct Patience {
  uint64_t timeout_ns;
};

/// One turn of a wait per call. `error` may be null.
class Waiter {
 public:
  RAILSHMEM_HD Waiter(const uint64_t* error, Deadline deadline) : error_(error), at_ns_(deadline.at_ns) {}
  RAILSHMEM_HD Waiter(const uint64_t* error, Patience patience) : error_(error), timeout_ns_(patience.timeout_ns) {
    if (timeout_ns_ == 0) at_ns_ = Deadline::never().at_ns;
  }

  /// Anything but ok ends the wait.
  RAILSHMEM_HD ChannelStatus turn() {
    if (turns_ % kErrorEvery == kErrorEvery - 1 && error_ != nullptr) {
      // acquire: pairs with the release in Channel::fail(); without it what led to the failure may look undone.
      const uint64_t error = portable::load_acquire(error_);
      if (error != 0) return static_cast<ChannelStatus>(error);
    }
    // Reading the clock costs more than a turn; every 16th still notices a deadline within a microsecond or so.
    if (turns_ % 16 == 15) {
      if (at_ns_ == 0) at_ns_ = Deadline::in(timeout_ns_).at_ns;
      if (Deadline{at_ns_}.passed()) return ChannelStatus::timeout;
    }
    portable::relax(turns_++);
    return ChannelStatus::ok;
  }

  /// The first turns, in which a wait that ends soon ends.
  RAILSHMEM_HD bool young() const { return turns_ < 64; }

 private:
#if defined(__CUDA_ARCH__)
  static constexpr uint32_t kErrorEvery = 8;  // each look reads across PCIe, as long as the one that is waited for
#else
  static constexpr uint32_t kErrorEvery = 1;
#endif

  const uint64_t* error_;
  uint64_t timeout_ns_ = 0;
  uint64_t at_ns_ = 0;  // 0: the clock was not looked at yet
  uint32_t turns_ = 0;
};

/// Waits until every ticket below `count` is finished. A finished one counts even on a channel that died since.
RAILSHMEM_HD inline ChannelStatus wait_completed(const ChannelView& channel, uint64_t count, Deadline deadline) {
  Waiter waiter(channel.ring.error, deadline);
  for (;;) {
    // acquire: pairs with the release in Channel::publish(); without it a get's destination could still read old.
    if (portable::load_acquire(channel.completed) >= count) return ChannelStatus::ok;
    const ChannelStatus status = waiter.turn();
    if (status != ChannelStatus::ok) return status;
  }
}

/// Waits for one command: the way a blocking get or a fetching AMO completes.
RAILSHMEM_HD inline ChannelStatus wait_ticket(const ChannelView& channel, uint64_t ticket, Deadline deadline) {
  return wait_completed(channel, ticket + 1, deadline);
}

/// Everything pushed so far, by this thread and by those it synchronised with, has completed. Sends no command.
RAILSHMEM_HD inline ChannelStatus quiet(const ChannelView& channel, Deadline deadline) {
  // relaxed: a thread sees its own reservations, and those of threads it synchronised with, by coherence alone.
  return wait_completed(channel, portable::load_relaxed(channel.ring.head), deadline);
}

}  // namespace device
}  // namespace railshmem

#endif
