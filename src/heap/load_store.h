// SPDX-License-Identifier: BSD-3-Clause
// Contract: how PEs of one node come to see each other's memory.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "src/base/env.h"
#include "src/base/memory_file.h"
#include "src/heap/node_arena.h"

namespace railshmem {

/// Called in this order, once per segment: unreachable() for every peer, an exchange of the answers, map_peer().
class LoadStore {
 public:
  virtual ~LoadStore() = default;
  virtual std::string_view name() const noexcept = 0;
  /// Why the peer's memory cannot be mapped here; empty when it can.
  virtual std::string unreachable(const PeerFd& peer) = 0;
  /// Maps a peer's memory into its slot of the arena. Throws Error.
  virtual void map_peer(NodeArena& arena, size_t slot, const PeerFd& peer, size_t nbytes, size_t at) = 0;
};

/// The load/store transport that SHMEM_TRANSPORT allows, or null. Defined in transports/p2p.
std::unique_ptr<LoadStore> make_load_store(const Env& env);

}  // namespace railshmem
