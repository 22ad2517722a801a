// SPDX-License-Identifier: BSD-3-Clause
// Waits that end: every one looks at an error word and at a deadline, which progress moves on.
#ifndef SHMEM_DEVICE_WAIT_H
#define SHMEM_DEVICE_WAIT_H

#include <stdint.h>

#include "shmem/detail/channel.h"
#include "shmem/detail/portable.h"
#include "shmem/detail/threads.h"
#include "shmem/detail/world.h"

namespace railshmem {
namespace device {

/// How long a wait goes on without progress, counted from its first look at the clock. A wait that ends soon never
/// looks at it.
struct Deadline {
  uint64_t timeout_ns;  ///< 0: only an error ends the wait

  RAILSHMEM_HD static constexpr Deadline never() { return {0}; }
  RAILSHMEM_HD static constexpr Deadline in(uint64_t timeout_ns) { return {timeout_ns == 0 ? 1 : timeout_ns}; }
};

/// The job's error word, for the calling thread; may be null.
RAILSHMEM_HD inline const uint64_t* error_of(const WorldView& world) {
  if (world.error == nullptr) return nullptr;
  return world.error + kErrorLineWords * (threads::multiprocessor() % kErrorLines);
}

/// Where producers are threads of the consumer's process, the consumer's counts are as near as the producers' own.
#if defined(__CUDA_ARCH__) || defined(RAILSHMEM_EMULATION)
inline constexpr bool kNearConsumer = false;
#else
inline constexpr bool kNearConsumer = true;
#endif

/// How often a wait looks at its word before it uses a Waiter: some microseconds.
inline constexpr int kShortTurns = 48;

/// One turn of a wait per call. `error` may be null.
class Waiter {
 public:
  RAILSHMEM_HD Waiter(const uint64_t* error, Deadline deadline) : error_(error), timeout_ns_(deadline.timeout_ns) {}

  /// Returns anything but ok to end the wait. `progress` is any number that changes while the awaited event comes
  /// nearer: a GPU that several processes share gives each a slice of time only, so a wait may be long and yet be no
  /// failure.
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

  /// Every 256th turn.
  RAILSHMEM_HD bool is_due() const { return turns_ % 256 == 255; }

 private:
  /// The first turns, in which a wait that ends soon ends.
  RAILSHMEM_HD bool young() const { return turns_ < 64; }

#if defined(__CUDA_ARCH__)
  // About once a millisecond: a GPU reads one word of the host's memory at most a million times a second, and copies
  // queue up behind threads that ask more often (decision 0033).
  static constexpr uint32_t kErrorEvery = 1024;
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

/// Decides which of the waiting threads reads the consumer's count. A GPU reads one word of the host's memory a million
/// times a second, whoever asks; from a dozen askers on, its copies queue up behind them (decision 0033). So one thread
/// looks and tells the others. A thread that is told nothing for long looks once itself.
class Lookout {
 public:
  /// `looking` as it was read a moment ago.
  RAILSHMEM_HD Lookout(Seen* seen, uint64_t looking) : seen_(seen), free_(looking == 0) {}

  RAILSHMEM_HD bool looks() {
    if (kNearConsumer || looking_) return true;
    // relaxed, like every access to `looking`: the count itself carries the order. Atomic: the blocks of a grid begin
    // to wait together, and each would look.
    if (free_ && portable::fetch_add_relaxed(&seen_->looking, 1) == 0) return looking_ = true;
    free_ = portable::load_relaxed(&seen_->looking) == 0;
    return ++turns_ % kOnceAnyhow == 0;
  }
  /// Called at the latest when this thread's wait is over.
  RAILSHMEM_HD void tell(uint64_t count, bool over) {
    // Two threads may store in either order; an older count only costs its reader another look.
    if (over || (!kNearConsumer && count != told_)) portable::store_release_near(&seen_->count, count);
    told_ = count;
  }
  RAILSHMEM_HD void leave() {
    if (looking_) portable::store_relaxed(&seen_->looking, uint64_t{0});
  }

 private:
  static constexpr uint32_t kOnceAnyhow = 2048;
  Seen* seen_;
  uint64_t told_ = 0;
  uint32_t turns_ = 0;
  bool free_;
  bool looking_ = false;
};

/// Out of line: its registers are not the callers'.
RAILSHMEM_HD RAILSHMEM_OUT_OF_LINE inline ChannelStatus wait_for_completed(const ChannelView& channel, uint64_t looking,
                                                                           uint64_t count,
                                                                           RAILSHMEM_STRUCT(Deadline) deadline) {
  Waiter waiter(channel.ring.error, deadline);
  Lookout lookout(channel.completed_seen, looking);
  for (;;) {
    const bool looks = lookout.looks();
    // acquire: pairs with the release in Channel::publish(); without it a get's destination could still read old.
    const uint64_t completed = portable::load_acquire(looks ? channel.completed : &channel.completed_seen->count);
    const bool over = completed >= count;
    if (looks) lookout.tell(completed, over);
    const ChannelStatus status = over ? ChannelStatus::ok : waiter.turn(completed);
    if (!over && status == ChannelStatus::ok) continue;
    lookout.leave();
    return status;
  }
}

/// Waits until every ticket below `count` is finished. A finished one counts even on a channel that died since.
RAILSHMEM_HD inline ChannelStatus wait_completed(const ChannelView& channel, uint64_t count, Deadline deadline) {
  // relaxed: a hint. Ahead of the count, so that both are under way.
  const uint64_t looking = kNearConsumer ? 0 : portable::load_relaxed(&channel.completed_seen->looking);
  // acquire: pairs with the release in tell(); a thread that trusts another's reading needs what that one acquired.
  if (portable::load_acquire(&channel.completed_seen->count) >= count) return ChannelStatus::ok;
  return wait_for_completed(channel, looking, count, deadline);
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
