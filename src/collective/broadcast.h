// SPDX-License-Identifier: BSD-3-Clause
// Broadcast: between nodes to one member of each, the giver, who hands the data to the other members of its node.
#pragma once

#include "src/collective/operand.h"
#include "src/team/team.h"

namespace railshmem {

/// One broadcast, as every member calls it.
struct Broadcast {
  Team& team;
  const char* function;
  std::byte* dest;
  const std::byte* source;
  size_t nbytes;
  int root;
  uint64_t number;  ///< of begin_arrival()
  Operand dest_operand;

  /// What this PE hands on: the root its source, others what they got.
  const std::byte* data() const noexcept { return team.rank == root ? source : dest; }
};

/// The giver hands its data to the other members of its node: copies it there, or tells them to fetch it.
class NodeBroadcast {
 public:
  NodeBroadcast(const Broadcast& call, int giver) noexcept;

  /// By the giver, once it has the data.
  void give() const noexcept;
  /// By the giver: returns when nobody needs its data any more.
  void finish() const noexcept;
  /// By the others.
  void take() const noexcept;

 private:
  const Broadcast& call_;
  const int giver_;
  Operand data_;  ///< of the giver; looked up only where it is fetched
  bool pulls_ = false;
};

/// The member that deals with the other nodes: the root on its own node, the leader on the others.
int broadcast_giver(const Broadcast& call, int node) noexcept;

/// Called by the givers; on return they have the data, and have sent on what they had to.
void broadcast_by_sending(const Broadcast& call) noexcept;
void broadcast_by_tree(const Broadcast& call) noexcept;
void broadcast_by_scatter(const Broadcast& call) noexcept;

}  // namespace railshmem
