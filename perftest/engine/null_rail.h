// SPDX-License-Identifier: BSD-3-Clause
// A rail that costs nothing: takes every post and completes it at the next poll. The rest of the time is the engine's
// own.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "src/plugin/rail.h"

namespace railshmem::perftest {

class NullRail {
 public:
  explicit NullRail(size_t depth) : posted_(std::bit_ceil(depth)), mask_(posted_.size() - 1) {}

  const RailTraits& traits() const noexcept { return traits_; }
  Post write(const RailWrite& w) noexcept { return take(w.slot); }
  Post read(const RailRead& r) noexcept { return take(r.slot); }
  Post send(const RailSend& s) noexcept { return s.slot == nullptr ? Post::ok : take(s.slot); }
  size_t poll(std::span<RailEvent> events) noexcept {
    const size_t n = std::min<size_t>(events.size(), last_ - first_);
    for (size_t i = 0; i < n; ++i)
      events[i] = {RailEvent::Kind::completed, 0, posted_[first_++ & mask_], nullptr, 0, nullptr};
    return n;
  }
  void release(const RailEvent&) noexcept {}
  int last_error() const noexcept { return 0; }
  int wait_fd() const noexcept { return -1; }
  bool may_sleep() const noexcept { return false; }
  const std::string& name() const noexcept { return name_; }

 private:
  Post take(OpSlot* slot) noexcept {
    posted_[last_++ & mask_] = slot;
    return Post::ok;
  }

  RailTraits traits_{4096, size_t{1} << 30, 8192, true, true};
  std::vector<OpSlot*> posted_;  ///< a ring
  size_t mask_;                  ///< its places less one
  size_t first_ = 0;
  size_t last_ = 0;
  std::string name_ = "null";
};

static_assert(Rail<NullRail>);

}  // namespace railshmem::perftest
