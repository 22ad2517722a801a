// SPDX-License-Identifier: BSD-3-Clause
// Atomics whose results are known exactly: an update done twice, lost, or answered with another's answer shows.
#pragma once

#include <vector>

#include "traffic.h"

namespace rails {

class Counters {
 public:
  Counters(uint64_t seed, Mistakes& mistakes);
  /// One atomic, or one put_signal that adds, on memory of `pe`.
  void step(Random& random, int pe);
  /// After a barrier: tells every PE what this one has done to it.
  void tell();
  /// After another: compares what all PEs told with what this one holds. Nobody may update yet.
  void check();
  unsigned long steps() const { return steps_; }

 private:
  /// What a PE has done to another.
  struct Done {
    uint64_t added = 0, incremented = 0, flipped = 0, signalled = 0, tickets = 0;
    uint64_t fetched = 0, cell = 0;  ///< the value that the word of this pair must have
  };
  /// A PE's words: one Words per origin, or one for all origins.
  struct Words {
    uint64_t added, incremented, flipped, tickets;  ///< updated by everybody
  };
  struct PairWords {
    uint64_t fetched, cell, signalled;  ///< updated by one PE only
  };
  static constexpr size_t kInline = 64;  // bytes that travel with an added signal

  void fetching(Random& random, int pe);
  void expect(const char* what, int pe, uint64_t actual, uint64_t expected);

  const uint64_t seed_;
  Mistakes& mistakes_;
  const int me_, npes_;
  Words* words_;
  PairWords* pair_;  ///< by origin
  char* pit_;        ///< by origin: data of added signals, which never changes
  Done* table_;      ///< by origin: what it says it has done to this PE
  std::vector<Done> done_;
  std::vector<uint64_t> last_ticket_;
  unsigned long steps_ = 0;
};

}  // namespace rails
