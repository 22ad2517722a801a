// SPDX-License-Identifier: BSD-3-Clause
// The part of a broadcast that happens within one node.
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

}  // namespace railshmem
