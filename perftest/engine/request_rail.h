// SPDX-License-Identifier: BSD-3-Clause
// A rail that costs nothing and over which a peer's requests come: atomic additions, in the order of their numbers.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "src/plugin/rail.h"
#include "src/proxy/post/message.h"

namespace railshmem::perftest {

class RequestRail {
 public:
  /// The messages are like `first`, numbered from there on.
  explicit RequestRail(const AmoMessage& first) : next_(first) { buffers_.fill(first); }

  /// So many more messages come.
  void send_me(uint64_t messages) noexcept { left_ += messages; }
  uint64_t left() const noexcept { return left_; }

  const RailTraits& traits() const noexcept { return traits_; }
  Post write(const RailWrite&) noexcept { return Post::ok; }
  Post read(const RailRead&) noexcept { return Post::ok; }
  Post send(const RailSend&) noexcept { return Post::ok; }
  size_t poll(std::span<RailEvent> events) noexcept {
    const size_t n = std::min({events.size(), buffers_.size(), static_cast<size_t>(left_)});
    for (size_t i = 0; i < n; ++i) {
      buffers_[i].header.sequence = next_.header.sequence++;
      events[i] = {RailEvent::Kind::message, 0,      nullptr, reinterpret_cast<const std::byte*>(&buffers_[i]),
                   sizeof buffers_[i],       nullptr};
    }
    left_ -= n;
    return n;
  }
  void release(const RailEvent&) noexcept {}
  int last_error() const noexcept { return 0; }
  int wait_fd() const noexcept { return -1; }
  bool may_sleep() const noexcept { return false; }
  const std::string& name() const noexcept { return name_; }

 private:
  RailTraits traits_{64, size_t{1} << 30, 4096, true, true};
  AmoMessage next_;
  std::array<AmoMessage, 16> buffers_;
  uint64_t left_ = 0;
  std::string name_ = "requests";
};

static_assert(Rail<RequestRail>);

}  // namespace railshmem::perftest
