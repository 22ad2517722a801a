// SPDX-License-Identifier: BSD-3-Clause
// A proxy without a network, for tests.
#pragma once

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <random>
#include <utility>
#include <vector>

#include "src/base/unique.h"
#include "src/channel/channel.h"

namespace railshmem {

/// A put_inline whose target is this process's own memory.
inline Command store(uint64_t* to, uint64_t value) {
  Command c;
  c.op = CommandOp::put_inline;
  c.nbytes = 8;
  c.local = reinterpret_cast<uintptr_t>(to);
  c.value = value;
  return c;
}

enum class WhenIdle : uint8_t { spin, sleep };

/// A proxy that executes put_inline in this process and finishes commands in random order.
class RandomProxy {
 public:
  RandomProxy(Channel& channel, WhenIdle when_idle, uint64_t expected)
      : channel_(channel), bell_(eventfd(0, 0)), when_idle_(when_idle), expected_(expected) {}

  void run() {
    uint32_t idle = 0;
    while (channel_.next() < expected_ || !flying_.empty()) {
      const bool posted = post();
      finish(posted ? random_() % 16 : flying_.size());
      channel_.publish();
      if (posted || !flying_.empty()) continue;
      if (when_idle_ == WhenIdle::spin) portable::relax(idle++);
      if (when_idle_ == WhenIdle::sleep && channel_.next() < expected_) sleep();
    }
  }
  uint64_t sleeps_taken() const { return sleeps_taken_; }

 private:
  struct Flying {
    uint64_t ticket;
    Command command;
  };

  bool post() {
    bool posted = false;
    for (int budget = 0; budget < 32; ++budget, posted = true) {
      const auto command = channel_.peek();
      if (!command) break;
      flying_.push_back({channel_.next(), *command});
      channel_.pop();
    }
    return posted;
  }

  void finish(size_t n) {
    for (; n > 0 && !flying_.empty(); --n) {
      std::swap(flying_[random_() % flying_.size()], flying_.back());
      const Flying& done = flying_.back();
      *reinterpret_cast<uint64_t*>(done.command.local) = done.command.value;
      channel_.complete(done.ticket);
      flying_.pop_back();
    }
  }

  // No timeout that would hide a lost wake-up: it fails the test instead.
  void sleep() {
    if (!channel_.arm(bell_.get())) return;
    ++sleeps_taken_;
    pollfd wait{bell_.get(), POLLIN, 0};
    if (poll(&wait, 1, 20000) != 1) {
      ADD_FAILURE() << "lost wake-up at ticket " << channel_.next();
      channel_.fail(ChannelStatus::failed);
      expected_ = 0;
    } else {
      uint64_t rings;
      EXPECT_EQ(read(bell_.get(), &rings, sizeof rings), static_cast<ssize_t>(sizeof rings));
    }
    channel_.disarm();
  }

  Channel& channel_;
  UniqueFd bell_;
  WhenIdle when_idle_;
  uint64_t expected_;
  std::vector<Flying> flying_;
  std::minstd_rand random_{20261124};
  uint64_t sleeps_taken_ = 0;
};

}  // namespace railshmem
