// SPDX-License-Identifier: BSD-3-Clause
#include "transports/p2p/p2p.h"

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
