// SPDX-License-Identifier: BSD-3-Clause
// The deadline of waits in streams. A stream that waits for a word says so in a mark in pinned memory, and a thread
// looks at the marks: a stream itself has no deadline.
#pragma once

#include <array>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include "overlap/driver.h"

namespace railshmem::overlap {

class Watch {
 public:
  /// Mark i is of waits for the PE pes[i].
  Watch(std::vector<int> pes, double timeout_s);
  ~Watch();
  Watch(const Watch&) = delete;

  /// Holds the stream until the word is 1, and clears it. Where that takes longer than the timeout, a message names the
  /// PE and the job ends.
  void hold(Stream stream, size_t mark, uint64_t* word) const;
  /// What hold() gives to a stream, for several waits at once.
  std::array<WordOp, 4> hold_ops(size_t mark, uint64_t* word) const noexcept;

 private:
  void look();

  const std::vector<int> pes_;
  const double timeout_s_;
  uint64_t* marks_ = nullptr;  ///< 0: no wait; kWaits: written by the stream; kSeen: by the thread
  std::mutex mutex_;
  std::condition_variable changed_;
  bool over_ = false;
  std::thread thread_;
};

}  // namespace railshmem::overlap
