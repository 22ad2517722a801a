// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>

namespace railshmem {

/// Guards the proxy endpoint. Nobody ever waits for it: who does not get it knows that somebody else does the work.
class TryLock {
 public:
  bool try_lock() noexcept {
    // acquire: pairs with unlock(); without it the last owner's changes to the endpoint could be missed.
    return !held_.load(std::memory_order_relaxed) && !held_.exchange(true, std::memory_order_acquire);
  }
  void unlock() noexcept { held_.store(false, std::memory_order_release); }  // release: pairs with try_lock()

 private:
  std::atomic<bool> held_{false};
};

}  // namespace railshmem
