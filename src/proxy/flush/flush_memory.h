// SPDX-License-Identifier: BSD-3-Clause
// The host memory that flushes read into, and its registration.
#pragma once

#include <cstddef>
#include <exception>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "src/base/log.h"
#include "src/proxy/flush/flush_plan.h"

namespace railshmem {

/// One per device, that is per PE: a line for each rail. Its other half, the word on the device, is part of the heap
/// and registered with it. The order of the end: flushes, registration (release()), endpoints, this memory. So it is
/// made before the rails, and a read that a dead rail still holds cannot write into memory of somebody else.
class FlushMemory {
 public:
  using Unregister = std::function<void(const std::byte*)>;

  FlushMemory() = default;
  FlushMemory(const FlushMemory&) = delete;  // rails write into it
  ~FlushMemory() { release(); }

  /// Once. `enter(bytes)` registers them, may throw; `leave(base)` is called once.
  template <class Register>
  void make(size_t rails, Register&& enter, Unregister leave) {
    lines_.resize(rails);
    enter(std::span<const std::byte>(bytes()));
    leave_ = std::move(leave);
  }
  /// Gives back the registration. No flush may be under way.
  void release() noexcept {
    try {
      if (const Unregister leave = std::exchange(leave_, nullptr)) leave(bytes().data());
    } catch (const std::exception& error) {
      log_debug("the flush's memory stays registered until the rails end: %s", error.what());
    }
  }
  /// The registration ends with the endpoints: a flush is under way that will not end.
  void abandon() noexcept { leave_ = nullptr; }

  std::span<std::byte> bytes() noexcept {
    return {reinterpret_cast<std::byte*>(lines_.data()), lines_.size() * kFlushLine};
  }

 private:
  struct alignas(kFlushLine) Line {
    std::byte bytes[kFlushLine];
  };
  std::vector<Line> lines_;
  Unregister leave_;
};

}  // namespace railshmem
