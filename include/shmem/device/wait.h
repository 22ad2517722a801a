// SPDX-License-Identifier: BSD-3-Clause
// Waits that end: every one looks at an error word and at a deadline, which progress moves on.
#ifndef SHMEM_DEVICE_WAIT_H
#define SHMEM_DEVICE_WAIT_H

#include <stdint.h>

#include "shmem/detail/channel.h"
#include "shmem/detail/portable.h"

namespace railshmem {
namespace device {

/// How long a wait goes on without progress, from its first look at the clock on. A wait that ends soon takes none.
struct Deadline {
  uint64_t timeout_ns;  ///< 0: only an error ends the wait

  RAILSHMEM_HD static constexpr Deadline never() { return {0}; }
  RAILSHMEM_HD static constexpr Deadline in(uint64_t timeout_ns) { return {timeout_ns == 0 ? 1 : timeout_ns}; }
};

/// Looks at a word before a wait takes to a Waiter: some microseconds.
inline constexpr int kShortTurns = 48;

/// One turn of a wait per call. `error` may be null.
class Waiter {
 public:
  RAILSHMEM_HD Waiter(const uint64_t* error, Deadline deadline) : error_(error), timeout_ns_(deadline.timeout_ns) {}

  /// Anything but ok ends the wait. `progress` is any number that changes while what is waited for comes nearer: a
  /// GPU that several processes share gives each a slice of time only, so a wait may be long and yet be no failure.
  RAILSHMEM_HD ChannelStatus turn(uint64_t progress = 0) {
    // Not while young: either look takes longer than most waits.
    if (turns_ % kErrorEvery == kErrorEvery - 1 && !young() && error_ != nullptr) {
      // acquire: pairs with the release in Channel::fail(); without it what led to the failure may look undone.
      const uint64_t error = portable::load_acquire(error_);
      if (error != 0) return static_cast<ChannelStatus>(error);
    }
    if (turns_ % kClockEvery == kClockEvery - 1 && !young() && timeout_ns_ != 0 && is_over(progress))
      return ChannelStatus::timeout;
    portable::relax(turns_++);
    return ChannelStatus::ok;
  }

 private:
  /// The first turns, in which a wait that ends soon ends.
  RAILSHMEM_HD bool young() const { return turns_ < 64; }

#if defined(__CUDA_ARCH__)
  static constexpr uint32_t kErrorEvery = 32;  // each look reads across PCIe, a microsecond or two
  // The clock is outside of the multiprocessors: with 132 threads that read it every 16th turn each copy of the proxy
  // took 0.4 ms (decision 0030). This is once a millisecond.
  static constexpr uint32_t kClockEvery = 1024;
#else
  static constexpr uint32_t kErrorEvery = 1;
  static constexpr uint32_t kClockEvery = 16;
#endif

  RAILSHMEM_HD bool is_over(uint64_t progress) {
    const uint64_t now = portable::clock_ns();
    if (moved_ns_ == 0 || progress != progress_) {
      moved_ns_ = now;
      progress_ = progress;
    }
    return now - moved_ns_ >= timeout_ns_;
  }

  const uint64_t* error_;
  uint64_t timeout_ns_;
  uint64_t moved_ns_ = 0;  // 0: the clock was not looked at yet
  uint64_t progress_ = 0;
  uint32_t turns_ = 0;
};

/// Waits until every ticket below `count` is finished. A finished one counts even on a channel that died since.
RAILSHMEM_HD inline ChannelStatus wait_completed(const ChannelView& channel, uint64_t count, Deadline deadline) {
  // acquire: pairs with the release below; a thread that trusts another's reading needs what that one acquired.
  if (portable::load_acquire(channel.completed_seen) >= count) return ChannelStatus::ok;
  Waiter waiter(channel.ring.error, deadline);
  for (;;) {
    // acquire: pairs with the release in Channel::publish(); without it a get's destination could still read old.
    const uint64_t completed = portable::load_acquire(channel.completed);
    if (completed >= count) {
      // Two threads may store in either order; an older value only costs its reader another look at `completed`.
      portable::store_release(channel.completed_seen, completed);
      return ChannelStatus::ok;
    }
    const ChannelStatus status = waiter.turn(completed);
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
