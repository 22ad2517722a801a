// SPDX-License-Identifier: BSD-3-Clause
// RailKeeper of an engine: its two ports are served by different threads, its fabric is one.
#pragma once

#include <atomic>
#include <exception>
#include <mutex>
#include <utility>
#include <vector>

#include "src/base/log.h"
#include "src/plugin/rail_keeper.h"
#include "src/proxy/path_table.h"

namespace railshmem {

/// A fabric whose rails can be opened anew; the functions are those of RailKeeper, learn() once per port.
template <class F>
concept ReopensRails = requires(F f, Port port, size_t r, int pe, std::span<const std::byte> card) {
  { f.reopen(port, r) } -> std::same_as<std::vector<std::byte>>;
  { f.learn(port, pe, card) } -> std::same_as<uint32_t>;
  {f.limit_silence(port, r, std::span<const int>(), 1u)};
};

template <class F>
class EngineKeeper final : public RailKeeper {
 public:
  explicit EngineKeeper(F& fabric) : fabric_(fabric) {}

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

  bool outage(Port port, size_t r) noexcept override {
    const RailMask bit = RailMask{1} << r;
    const std::lock_guard lock(mutex_);
    const bool news = ((dead_[0] | dead_[1]) & bit) == 0;
    dead_[static_cast<size_t>(port)] |= bit;
    return news;
  }
  void mended(Port port, size_t r) noexcept override {
    const std::lock_guard lock(mutex_);
    dead_[static_cast<size_t>(port)] &= ~(RailMask{1} << r);
  }

  uint32_t learn(int pe, std::span<const std::byte> card) override {
    const std::lock_guard lock(mutex_);
    tell_host({pe, 0, {card.begin(), card.end()}});
    return fabric_.learn(Port::proxy, pe, card);
  }

  void doubt_for_host(int pe, size_t alive) noexcept override {
    const std::lock_guard lock(mutex_);
    tell_host({pe, alive, {}});
  }

  bool has_news_for_host() const noexcept override { return has_news_.load(std::memory_order_acquire); }
  void learn_for_host(const Doubt& doubt, const Readdressed& readdressed) override {
    const std::lock_guard lock(mutex_);
    has_news_.store(false, std::memory_order_relaxed);
    for (const News& news : std::exchange(for_host_, {}))
      if (news.card.empty())
        doubt(news.pe, news.alive);
      else
        readdressed(news.pe, fabric_.learn(Port::host, news.pe, news.card));
  }

 private:
  struct News {
    int pe;
    size_t alive;
    std::vector<std::byte> card;  ///< empty: a doubt
  };

  void tell_host(News news) {
    for_host_.push_back(std::move(news));
    // release: pairs with has_news_for_host(), though the mutex orders what follows
    has_news_.store(true, std::memory_order_release);
  }

  F& fabric_;
  std::mutex mutex_;
  std::vector<News> for_host_;
  std::atomic<bool> has_news_{false};
  RailMask dead_[2] = {};  ///< by port: rails with a dead path
};

}  // namespace railshmem
