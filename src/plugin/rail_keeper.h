// SPDX-License-Identifier: BSD-3-Clause
// Contract: a technology's control of rails that died: opens them anew, and learns of rails that peers opened anew.
// Never on the data path, so virtual; may throw Error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "src/plugin/rail.h"

namespace railshmem {

class RailKeeper {
 public:
  virtual ~RailKeeper() = default;

  /// Closes rail `r` of `port` and opens it anew, as rail `r`. From the closing on no operation posted on it touches
  /// memory, here or at peers, and their events are gone. Returns the descriptor that peers need to reach the new rail.
  /// After an Error the rail stays closed (posts return `again`): call again later. The caller owns the port.
  virtual std::vector<std::byte> reopen(Port port, size_t r) = 0;

  /// Limits the patience of the system on dead paths of rail `r` to these PEs. A system that repeats unacknowledged
  /// data ever more rarely shall give up within `timeout_ms`, so that the return of a path is noticed soon. 0: the
  /// paths live again, and the limit ends. The caller owns the port.
  virtual void limit_silence(Port port, size_t r, std::span<const int> pes, unsigned timeout_ms) noexcept = 0;
  /// Ends the connections of rail `r` to these PEs at once: the paths have just died, and the rail was not closed. Data
  /// that a peer had sent and the provider still keeps back arrives now or never.
  virtual void cut(Port port, size_t r, std::span<const int> pes) noexcept = 0;
  /// Notes that a path of rail `r` died. True if no port has told of this outage yet. mended() ends the outage for this
  /// port.
  virtual bool outage(Port port, size_t r) noexcept = 0;
  virtual void mended(Port port, size_t r) noexcept = 0;

  /// Takes the descriptor of a rail that peer `pe` opened anew. Called by the owner of each port, for its own rails.
  /// Returns the mask of the rails of this PE that talk to that rail: their operations under way to it are lost.
  virtual uint32_t learn(Port port, int pe, std::span<const std::byte> descriptor) = 0;
  /// The mask of the rails of this PE that talk to rail `rail` of peer `pe`.
  virtual uint32_t rails_to(int pe, size_t rail) = 0;

  /// Rails of this PE whose NIC has no link now, as a mask; 0 where the system does not tell. Ports may call often:
  /// only some calls ask the system.
  virtual uint32_t without_link(uint64_t now_ns) noexcept = 0;
};

}  // namespace railshmem
