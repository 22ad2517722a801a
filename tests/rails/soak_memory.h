// SPDX-License-Identifier: BSD-3-Clause
// Gets of memory that never changes, and puts that are read back after a quiet.
#pragma once

#include <vector>

#include "traffic.h"

namespace rails {

class Memory {
 public:
  Memory(uint64_t seed, Mistakes& mistakes);
  void step(Random& random, int pe);
  void step_of_words(Random& random, int pe) {
    ++steps_;
    word(random, pe);
  }
  unsigned long steps() const { return steps_; }

 private:
  static constexpr size_t kBook = 1 << 20;     // what others read
  static constexpr size_t kScratch = 1 << 19;  // what each other PE may write
  static constexpr size_t kMost = kScratch;    // of one step

  void read(Random& random, int pe, bool blocking);
  void write_and_read(Random& random, int pe);
  void word(Random& random, int pe);
  void expect(const char* what, int pe, const char* at, size_t bytes, uint64_t stamp);

  const uint64_t seed_;
  Mistakes& mistakes_;
  const int me_;
  char* book_;
  char* scratch_;  ///< by origin
  std::vector<char> buffer_;
  std::vector<char> source_;
  unsigned long steps_ = 0;
};

}  // namespace rails
