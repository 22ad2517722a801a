// SPDX-License-Identifier: BSD-3-Clause
// What peers say of their rails: the first proxy thread hears it, and each port of this PE must know.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

#include "src/plugin/port.h"

namespace railshmem {

struct News {
  enum class What : uint8_t { doubt, no_link, reopened };
  What what;
  int pe;                               ///< who says so
  size_t rail;                          ///< doubt: of this PE, the one that is not doubted. no_link: of the peer
  std::vector<std::byte> descriptor{};  ///< reopened: how the new rail is reached
};

/// Keeps the news for each port until the port's owner takes them. Any thread may use it at any time.
class PeerNews {
 public:
  explicit PeerNews(size_t ports) : ports_(ports) {}

  void notify(const News& news) {
    const std::lock_guard lock(mutex_);
    for (PortNews& port_news : ports_) {
      port_news.news.push_back(news);
      // release: pairs with wait_for(), though the mutex orders what follows
      port_news.has_news.store(true, std::memory_order_release);
    }
  }

  bool wait_for(Port port) const noexcept {
    // acquire: pairs with notify()
    return ports_[static_cast<size_t>(port)].has_news.load(std::memory_order_acquire);
  }

  /// What was told since the last call, the oldest first.
  std::vector<News> take(Port port) {
    const std::lock_guard lock(mutex_);
    PortNews& port_news = ports_[static_cast<size_t>(port)];
    port_news.has_news.store(false, std::memory_order_relaxed);
    return std::exchange(port_news.news, {});
  }

 private:
  struct PortNews {
    std::vector<News> news;
    std::atomic<bool> has_news{false};
  };

  std::mutex mutex_;
  std::vector<PortNews> ports_;  ///< by port
};

}  // namespace railshmem
