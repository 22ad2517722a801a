// SPDX-License-Identifier: BSD-3-Clause
// RailKeeper of an engine: its ports are served by different threads, its fabric is one.
#pragma once

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <utility>
#include <vector>

#include "src/base/log.h"
#include "src/plugin/rail_keeper.h"
#include "src/proxy/rails/path_table.h"

namespace railshmem {

/// A fabric whose rails can be opened anew; the functions are those of RailKeeper, learn() once per port.
template <class F>
concept ReopensRails = requires(F f, Port port, size_t r, int pe, std::span<const std::byte> card) {
  { f.reopen(port, r) } -> std::same_as<std::vector<std::byte>>;
  { f.learn(port, pe, card) } -> std::same_as<uint32_t>;
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
  EngineKeeper(F& fabric, size_t ports) : fabric_(fabric), dead_(ports), desks_(ports) {}

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

  uint32_t learn(int pe, std::span<const std::byte> card) override {
    const std::lock_guard lock(mutex_);
    tell_others({pe, 0, 0, {card.begin(), card.end()}});
    return fabric_.learn(Port::proxy, pe, card);
  }

  void doubt_for_others(int pe, size_t alive) noexcept override {
    const std::lock_guard lock(mutex_);
    tell_others({pe, alive, 0, {}});
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
  uint32_t peer_lost_link(int pe, size_t rail) override {
    const std::lock_guard lock(mutex_);
    const uint32_t rails = fabric_.rails_to(pe, rail);
    if (rails != 0) tell_others({pe, 0, rails, {}});
    return rails;
  }

  bool has_news_for(Port port) const noexcept override {
    // acquire: pairs with tell_others()
    return desks_[static_cast<size_t>(port)].has_news.load(std::memory_order_acquire);
  }
  void learn_at(Port port, const Doubt& doubt, const Unlinked& unlinked, const Readdressed& readdressed) override {
    for (const News& news : take_news(port)) {
      if (news.unlinked != 0)
        unlinked(news.pe, news.unlinked);
      else if (news.card.empty())
        doubt(news.pe, news.alive);
      else
        readdressed(news.pe, learn_as(port, news));
    }
  }

 private:
  static constexpr uint64_t kLinkPeriodNs = 15'000'000;  // 2 us per rail; little beside what a failover takes

  struct News {
    int pe;
    size_t alive;
    RailMask unlinked;            ///< 0: a card or a doubt
    std::vector<std::byte> card;  ///< empty: a doubt
  };

  /// Where what a port should know waits for it.
  struct NewsDesk {
    std::vector<News> news;
    std::atomic<bool> has_news{false};
  };

  /// All but the proxy's, which heard it.
  void tell_others(const News& news) {
    for (size_t port = 0; port < desks_.size(); ++port) {
      if (static_cast<Port>(port) == Port::proxy) continue;
      desks_[port].news.push_back(news);
      // release: pairs with has_news_for(), though the mutex orders what follows
      desks_[port].has_news.store(true, std::memory_order_release);
    }
  }

  std::vector<News> take_news(Port port) {
    const std::lock_guard lock(mutex_);
    NewsDesk& desk = desks_[static_cast<size_t>(port)];
    desk.has_news.store(false, std::memory_order_relaxed);
    return std::exchange(desk.news, {});
  }
  uint32_t learn_as(Port port, const News& news) {
    const std::lock_guard lock(mutex_);  // not while the port acts on the news, for which it asks this keeper
    return fabric_.learn(port, news.pe, news.card);
  }

  F& fabric_;
  std::mutex mutex_;
  std::atomic<uint64_t> links_read_ns_{0};
  std::atomic<uint32_t> without_link_{0};
  std::vector<RailMask> dead_;   ///< by port: rails with a dead path
  std::vector<NewsDesk> desks_;  ///< by port
};

}  // namespace railshmem
