// SPDX-License-Identifier: BSD-3-Clause
// A symmetric object of a collective call as the members of a team reach it; looked up once a call.
#pragma once

#include "src/plan/choice.h"
#include "src/rma/copy.h"
#include "src/rma/peer_address.h"
#include "src/team/team.h"

namespace railshmem {

class Operand {
 public:
  Operand() noexcept : view_(nullptr) {}
  /// `address` may be no symmetric address; then nobody else can reach it. nbytes > 0.
  Operand(const PeState& state, const void* address, size_t nbytes) noexcept
      : view_(find_segment(state, address, nbytes, &offset_)) {}

  bool symmetric() const noexcept { return view_ != nullptr; }
  /// In the device heap: the CPU cannot load and store it.
  bool on_device(const PeState& state) const noexcept {
    return view_ == &state.segment[static_cast<int>(SegmentId::device)];
  }
  /// Every PE of this node loads and stores the object of every other.
  bool mapped(const PeState& state) const noexcept {
    return view_ != nullptr && view_->slots == state.segment[static_cast<int>(SegmentId::heap)].slots;
  }
  /// The object of a member on this node; needs mapped().
  std::byte* of(const Team& team, int rank) const noexcept {
    const auto slot = static_cast<size_t>(team.state.slot(team.pes.pe(rank)));
    return reinterpret_cast<std::byte*>(view_->node_base + slot * view_->stride + offset_);
  }

 private:
  uintptr_t offset_ = 0;
  const SegmentView* view_;
};

/// The object that a collective writes on all members: ends the job when it is not symmetric.
inline Operand find_dest(const Team& team, const char* function, const void* dest, size_t nbytes) noexcept {
  const Operand operand(team.state, dest, nbytes);
  if (!operand.symmetric()) [[unlikely]]
    die_bad_address(team.state, function, dest, nbytes, team.state.me);
  return operand;
}

/// How the members of `team` reach `operand` of each other.
inline Reach reach_of(const Team& team, const Operand& operand) noexcept {
  return team.nodes.one_node() && operand.mapped(team.state) ? Reach::node : Reach::network;
}

/// Copies within this PE; collectives may be called in place.
inline void copy_own(DeviceAccess* device, void* to, const void* from, size_t nbytes) noexcept {
  if (to != from && nbytes > 0) move_block(device, to, from, nbytes);
}

}  // namespace railshmem
