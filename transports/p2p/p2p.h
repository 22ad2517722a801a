// SPDX-License-Identifier: BSD-3-Clause
// Processes of one host map each other's memory: put, get, AMO and signal are loads, stores and CPU atomics.
#pragma once

#include "src/heap/load_store.h"

namespace railshmem::p2p {

class SharedFiles final : public LoadStore {
 public:
  std::string_view name() const noexcept override { return "p2p"; }
  std::string unreachable(const PeerFd& peer) override;
  void map_peer(NodeArena& arena, size_t slot, const PeerFd& peer, size_t nbytes, size_t at) override;
};

}  // namespace railshmem::p2p
