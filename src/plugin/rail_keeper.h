// SPDX-License-Identifier: BSD-3-Clause
// Contract: a technology's control of rails that died: opens them anew, and learns of peers that did. Never on the data
// path, so virtual; may throw Error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "src/plugin/rail.h"

namespace railshmem {

class RailKeeper {
 public:
  virtual ~RailKeeper() = default;

  /// Closes rail `r` of `port` and opens it anew, in the same place. From the closing on nothing that was posted on it
  /// touches memory, here or at peers, and its events are gone. Returns the card that peers need to reach it. After an
  /// Error it stays closed (posts answer `again`): call again later. The caller owns the port.
  virtual std::vector<std::byte> reopen(Port port, size_t r) = 0;

  /// The paths of rail `r` to these PEs are dead. Where the system repeats what was not acknowledged ever more rarely,
  /// it shall give up within `timeout_ms`, so that a path that is back is found to be. 0: they live again, and the
  /// system may be as patient as it was. The caller owns the port.
  virtual void limit_silence(Port port, size_t r, std::span<const int> pes, unsigned timeout_ms) noexcept = 0;
  /// They have just died, and the rail was not closed: their connections end at once. What a peer had sent and the
  /// provider still keeps back arrives now or never.
  virtual void cut(Port port, size_t r, std::span<const int> pes) noexcept = 0;
  /// A path of rail `r` died. True if that is news: not of an outage that was told already, by whichever port.
  /// `mended` ends the outage, as far as this port is concerned.
  virtual bool outage(Port port, size_t r) noexcept = 0;
  virtual void mended(Port port, size_t r) noexcept = 0;

  /// Peer `pe` opened a rail anew and sent this card. Called by whoever owns the proxy port. Answers the rails of this
  /// PE, as a mask, that talk to that one: what they had under way to it is lost.
  virtual uint32_t learn(int pe, std::span<const std::byte> card) = 0;
  /// Peer `pe` doubts its paths to this PE, but for that of rail `alive`; the other ports should know.
  virtual void doubt_for_others(int pe, size_t alive) noexcept = 0;

  /// Rails of this PE whose NIC has no link now, as a mask; 0 where the system does not tell. Every port may ask
  /// often: the system is asked now and then.
  virtual uint32_t without_link(uint64_t now_ns) noexcept = 0;
  /// Peer `pe` says that its rail has no link. Called by whoever owns the proxy port; the other ports will learn of it.
  /// Answers the rails of this PE, as a mask, that talk to that one.
  virtual uint32_t peer_lost_link(int pe, size_t rail) = 0;

  /// What a port other than the proxy's has not learned yet. learn_at() is called by whoever owns it, and hands on
  /// doubts.
  using Doubt = std::function<void(int pe, size_t alive)>;
  using Unlinked = std::function<void(int pe, uint32_t rails)>;
  virtual bool has_news_for(Port port) const noexcept = 0;
  using Readdressed = std::function<void(int pe, uint32_t rails)>;
  virtual void learn_at(Port port, const Doubt& doubt, const Unlinked& unlinked, const Readdressed& readdressed) = 0;
};

}  // namespace railshmem
