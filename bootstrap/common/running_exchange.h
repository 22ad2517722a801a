// SPDX-License-Identifier: BSD-3-Clause
// Marks the time in which one thread exchanges, and alone reads the connections.
#pragma once

#include <mutex>

namespace railshmem {

/// Sets `flag`, which `mutex` guards, from here to the end of the enclosing block. A thread that looks for news
/// meanwhile must not take answers off a connection: the thread that exchanges would sleep on although its answer has
/// come.
class RunningExchange {
 public:
  RunningExchange(std::mutex& mutex, bool& flag) : mutex_(mutex), flag_(flag) { set(true); }
  RunningExchange(const RunningExchange&) = delete;
  ~RunningExchange() { set(false); }

 private:
  void set(bool value) {
    const std::lock_guard held(mutex_);
    flag_ = value;
  }

  std::mutex& mutex_;
  bool& flag_;
};

}  // namespace railshmem
