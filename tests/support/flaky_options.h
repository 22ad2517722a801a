// SPDX-License-Identifier: BSD-3-Clause
// What a Flaky fabric does to its rails, and how often it has done it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>

#include "src/base/error.h"

namespace railshmem::test {

enum class Failure : uint8_t { event, nameless_event, post };

/// Faults that no rail may have: for tests on trial.
enum class Lie : uint8_t {
  none,
  drops,      ///< a write is told as complete and never happens
  early,      ///< a write is told as complete, and happens later
  overtakes,  ///< messages stay behind writes, says the rail, but writes are late
};

struct FlakyOptions {
  uint64_t seed = 1;
  unsigned again_one_in = 3;  ///< at one post in so many it begins to refuse; 0: never
  unsigned delay_polls = 8;   ///< polls until a post really happens, at most; 0: at once, and events come in order
  bool message_after_write = false;  ///< keeps the order that the rail promises; else promises none
  uint64_t fail_post = 0;            ///< the nth write or read of each host rail fails; 0: none
  Failure failure = Failure::event;
  unsigned delay_one_in = 1;   ///< posts; the others happen at the next poll
  unsigned longest_burst = 1;  ///< posts refused in a row
  /// One post in so many fails, in every way in which a rail may fail by itself: before or after the operation
  /// happened, at once, or as a message whose loss nobody hears of. 0: none. Only where another rail can take over.
  unsigned fail_one_in = 0;
  unsigned most_failures = 1;           ///< per rail of a port
  std::chrono::milliseconds outage{0};  ///< how long a rail is out when its turn comes; 0: none. See Outages
  Lie lie = Lie::none;
  unsigned lie_one_in = 20;  ///< writes
};

/// Of all rails of a PE; the threads of its two ports count.
struct FlakyCounts {
  std::atomic<uint64_t> again{0};      ///< posts refused
  std::atomic<uint64_t> delayed{0};    ///< posts that happened polls later
  std::atomic<uint64_t> reordered{0};  ///< events told before older ones
  std::atomic<uint64_t> failed{0};     ///< posts that failed, in whichever way
  std::atomic<uint64_t> outages{0};    ///< of a rail
  std::atomic<uint64_t> held{0};       ///< posts to a rail that was out
  std::atomic<uint64_t> reopened{0};   ///< rails that the engine closed and opened again
  std::atomic<uint64_t> discarded{0};  ///< posts that were given up with them
  std::atomic<uint64_t> lies{0};

  std::string row() const {
    const auto n = [](const std::atomic<uint64_t>& count) { return static_cast<unsigned long long>(count.load()); };
    return text(
        "again=%llu delayed=%llu reordered=%llu failed=%llu outages=%llu held=%llu reopened=%llu "
        "discarded=%llu lies=%llu",
        n(again), n(delayed), n(reordered), n(failed), n(outages), n(held), n(reopened), n(discarded), n(lies));
  }
};

/// Relaxed: only counts.
inline void count(std::atomic<uint64_t>& what) noexcept {
  what.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace railshmem::test
