// SPDX-License-Identifier: BSD-3-Clause
// How a PE waits: spin, yield, nap; drive the network meanwhile; notice dead peers and deadlines.
#pragma once

#include <string>
#include <vector>

#include "src/base/cpu.h"
#include "src/rma/pe_state.h"

namespace railshmem {

/// What a waiting PE says when the wait lasts: the call, and the PE whose update it waits for (-1: any; this PE itself:
/// another of its threads).
struct WaitFor {
  const char* function;
  int pe = -1;
  bool collective = false;
  /// Returns the PEs of `members` that have not come to the call, as far as this PE can see; often another PE than `pe`
  /// keeps all waiting. Null: this cannot be known.
  std::vector<int> (*absent)(const void* members) = nullptr;
  const void* members = nullptr;
};

class Waiter {
 public:
  Waiter(PeState& state, const WaitFor& what) noexcept : state_(state), what_(what) {}

  /// One turn of waiting. Ends the job when a peer died or the wait deadline passed.
  void turn() noexcept {
    if (helping_) {
      if (++helping_turns_ % kTurnsPerLook == 0) look();  // far PEs may keep this one busy for as long as it waits
      if (net_progress(*state_.network)) {
        turns_ = 0;
        return;
      }
    }
    ++turns_;
    if (helping_) {  // a step of the network is pause enough
      if (turns_ <= state_.spin.helps || turns_ % state_.spin.helps_per_yield != 0) return;
    } else if (turns_ <= state_.spin.spins) {
      return cpu_pause();
    }
    slow_turn();
  }
  /// Ends the job as turn() does, but spends no time. Returns how long the wait has lasted, in ns.
  uint64_t look() noexcept;

 private:
  static constexpr uint32_t kTurnsPerLook = 4096;  // some milliseconds of steps of the network

  void slow_turn() noexcept;
  void look_around(uint64_t now) noexcept;
  std::string whom() const;

  PeState& state_;
  const WaitFor what_;
  bool helping_ = state_.network != nullptr;  ///< until this thread sleeps: then the proxy thread takes over
  uint32_t turns_ = 0;                        ///< without anything to do since the last that had
  uint32_t helping_turns_ = 0;
  uint64_t started_ns_ = 0;
  uint64_t next_look_ns_ = 0;
  bool said_ = false;
};

/// Returns when `ready()` is true; `ready` must load with acquire.
template <class Ready>
[[gnu::always_inline]] inline void wait_for(PeState& state, const WaitFor& what, Ready ready) noexcept {
  if (ready()) return;
  // The common short wait stays in this loop: no object, no clock.
  if (!state.network)
    for (int i = 0; i < 64; ++i) {
      cpu_pause();
      if (ready()) return;
    }
  Waiter waiter(state, what);
  do waiter.turn();
  while (!ready());
}

}  // namespace railshmem
