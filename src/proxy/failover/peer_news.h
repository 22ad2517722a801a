// SPDX-License-Identifier: BSD-3-Clause
// What the proxy's endpoint hears of peers' rails, for a port at which no peer's message arrives.
#pragma once

#include <exception>

#include "src/base/log.h"
#include "src/plugin/rail_keeper.h"

namespace railshmem {

/// The news for one port; only the port's owner uses it.
class PeerNews {
 public:
  /// `keeper` may be null: rails are not opened anew.
  PeerNews(RailKeeper* keeper, Port port) noexcept : keeper_(keeper), port_(port) {}

  bool waiting() const noexcept { return keeper_ != nullptr && keeper_->has_news_for(port_); }

  /// Tells the port's initiator; before anything is posted.
  template <class Initiator>
  void learn(Initiator& initiator) noexcept {
    if (!waiting()) [[likely]]
      return;
    try {
      keeper_->learn_at(
          port_, [&](int pe, size_t alive) { initiator.doubt(pe, alive); },
          [&](int pe, uint32_t rails) { initiator.unlinked(pe, rails); },
          [&](int pe, uint32_t rails) { initiator.readdressed(pe, rails); });
    } catch (const std::exception& error) {
      log_warn("a peer opened a rail anew, but this PE cannot use it: %s", error.what());
    }
  }

 private:
  RailKeeper* const keeper_;
  const Port port_;
};

}  // namespace railshmem
