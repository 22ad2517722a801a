// SPDX-License-Identifier: BSD-3-Clause
// The part of a broadcast that happens between nodes: to one member of each, who gives it to the others there.
#pragma once

#include "src/collective/broadcast_node.h"

namespace railshmem {

/// The member that deals with the other nodes: the root on its own node, the leader on the others.
int broadcast_giver(const Broadcast& call, int node) noexcept;

/// Called by the givers; on return they have the data, and have sent on what they had to.
void broadcast_by_sending(const Broadcast& call) noexcept;
void broadcast_by_tree(const Broadcast& call) noexcept;
void broadcast_by_scatter(const Broadcast& call) noexcept;

}  // namespace railshmem
