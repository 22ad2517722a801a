// SPDX-License-Identifier: BSD-3-Clause
// The calls of one team that streams have been given and that the host will run.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "src/stream/executor/streamed_collective.h"

namespace railshmem {

/// once: the stream comes to the call one time. replayed: a graph holds the call and comes to it with every replay.
enum class Lifetime : uint8_t { once, replayed };

/// Any number of threads.
class CallList {
 public:
  /// Keeps a call. Returns its number, which is at least 1; numbers of calls that are gone are given again. Throws
  /// std::bad_alloc.
  uint32_t add(StreamedCollective call, Lifetime lifetime);
  /// The call of that number, to be run now. Forgets it unless it may come again. `*in_turn`, which may be null: false
  /// where a call that was kept before, and comes one time, has not been taken.
  std::shared_ptr<const StreamedCollective> take(uint32_t number, bool* in_turn = nullptr) noexcept;
  /// The graph of a call that may come again is gone.
  void forget(uint32_t number) noexcept;
  /// Whether some call may come again.
  bool has_replayed() const noexcept;

 private:
  struct Kept {
    std::shared_ptr<const StreamedCollective> call;  ///< shared with the thread that runs it
    Lifetime lifetime;
  };

  mutable std::mutex mutex_;
  std::deque<Kept> calls_;  ///< by number, from 1
  std::vector<uint32_t> free_;
  std::deque<uint32_t> coming_;  ///< calls that come one time, in the order in which they were kept
  size_t replayed_ = 0;
};

}  // namespace railshmem
