// SPDX-License-Identifier: BSD-3-Clause
// RailKeeper of an engine: its ports are served by different threads, its fabric is one.
#pragma once

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <vector>

#include "src/base/log.h"
#include "src/plugin/rail_keeper.h"
#include "src/proxy/rails/path_table.h"

namespace railshmem {

/// A fabric whose rails can be opened anew; the functions are those of RailKeeper, learn() once per port.
template <class F>
concept ReopensRails = requires(F f, Port port, size_t r, int pe, std::span<const std::byte> descriptor) {
  { f.reopen(port, r) } -> std::same_as<std::vector<std::byte>>;
  { f.learn(port, pe, descriptor) } -> std::same_as<uint32_t>;
  {f.limit_silence(port, r, std::span<const int>(), 1u)};
  {f.cut(port, r, std::span<const int>())};
  { f.rails_to(pe, r) } -> std::same_as<uint32_t>;
};

/// Has, or should have, all of them: one whose rails were kept by nobody would lose what they hold.
template <class F>
concept HasReopen = requires(F f) {
  f.reopen(Port::proxy, size_t{0});
};

/// A fabric that knows which of its rails have no link now, as a mask. Any thread may ask at any time.
template <class F>
concept TellsLinks = requires(const F f) {
  { f.without_link() }
  noexcept->std::same_as<uint32_t>;
};

template <class F>
class EngineKeeper final : public RailKeeper {
 public:
  EngineKeeper(F& fabric, size_t ports) : fabric_(fabric), dead_(ports) {}

  std::vector<std::byte> reopen(Port port, size_t r) override {
    const std::lock_guard lock(mutex_);
    return fabric_.reopen(port, r);
  }

  void limit_silence(Port port, size_t r, std::span<const int> pes, unsigned timeout_ms) noexcept override {
    const std::lock_guard lock(mutex_);
    try {
      fabric_.limit_silence(port, r, pes, timeout_ms);
    } catch (const std::exception& error) {
      log_debug("rail %zu may be found to live again late: %s", r, error.what());
    }
  }

  void cut(Port port, size_t r, std::span<const int> pes) noexcept override {
    const std::lock_guard lock(mutex_);
    try {
      fabric_.cut(port, r, pes);
    } catch (const std::exception& error) {
      log_debug("connections of rail %zu end late: %s", r, error.what());
    }
  }

  bool outage(Port port, size_t r) noexcept override {
    const RailMask bit = RailMask{1} << r;
    const std::lock_guard lock(mutex_);
    const bool news = std::none_of(dead_.begin(), dead_.end(), [bit](RailMask dead) { return (dead & bit) != 0; });
    dead_[static_cast<size_t>(port)] |= bit;
    return news;
  }
  void mended(Port port, size_t r) noexcept override {
    const std::lock_guard lock(mutex_);
    dead_[static_cast<size_t>(port)] &= ~(RailMask{1} << r);
  }

  uint32_t learn(Port port, int pe, std::span<const std::byte> descriptor) override {
    const std::lock_guard lock(mutex_);
    return fabric_.learn(port, pe, descriptor);
  }
  uint32_t rails_to(int pe, size_t rail) override {
    const std::lock_guard lock(mutex_);
    return fabric_.rails_to(pe, rail);
  }

  uint32_t without_link([[maybe_unused]] uint64_t now_ns) noexcept override {
    if constexpr (TellsLinks<F>) {
      // relaxed: whoever comes second uses what the first one read, or the reading before that
      uint64_t read_at = links_read_ns_.load(std::memory_order_relaxed);
      if (now_ns - read_at >= kLinkPeriodNs && now_ns > read_at &&
          links_read_ns_.compare_exchange_strong(read_at, now_ns, std::memory_order_relaxed))
        without_link_.store(fabric_.without_link(), std::memory_order_relaxed);
    }
    return without_link_.load(std::memory_order_relaxed);
  }

 private:
  static constexpr uint64_t kLinkPeriodNs = 15'000'000;  // 2 us per rail; little beside what a failover takes

  F& fabric_;
  std::mutex mutex_;
  std::atomic<uint64_t> links_read_ns_{0};
  std::atomic<uint32_t> without_link_{0};
  std::vector<RailMask> dead_;  ///< by port: rails with a dead path
};

}  // namespace railshmem
