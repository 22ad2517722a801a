// SPDX-License-Identifier: BSD-3-Clause
#include "transports/p2p/p2p.h"

#include <algorithm>

namespace railshmem::p2p {

std::string SharedFiles::unreachable(const PeerFd& peer) {
  std::string why;
  return can_open_peer(peer, &why) ? std::string() : why;
}

void SharedFiles::map_peer(NodeArena& arena, size_t slot, const PeerFd& peer, size_t nbytes, size_t at) {
  const UniqueFd fd = open_peer_fd(peer);
  arena.map_peer(slot, fd.get(), nbytes, at);
}

}  // namespace railshmem::p2p

namespace railshmem {

std::unique_ptr<LoadStore> make_load_store(const Env& env) {
  const auto& list = env.transport;
  if (!list.empty() && std::find(list.begin(), list.end(), TransportKind::p2p) == list.end()) return nullptr;
  return std::make_unique<p2p::SharedFiles>();
}

}  // namespace railshmem
