// SPDX-License-Identifier: BSD-3-Clause
// The members of a team find out together whether their buffers lie at one symmetric address.
#pragma once

#include "src/collective/agree.h"
#include "src/rma/peer_address.h"

namespace railshmem {

/// Asks whether a buffer of each member is at one address of the device heap; several buffers in one vote.
class SymmetryVote {
 public:
  explicit SymmetryVote(const PeState& state) noexcept : state_(state) { ballot_.common[0] = 1; }
  void refuse() noexcept { ballot_.common[0] = 0; }
  void ask(const void* buffer, size_t nbytes) noexcept {
    uintptr_t offset = 0;
    const SegmentView* const view = find_segment(state_, buffer, nbytes, &offset);
    if (view != &state_.segment[static_cast<int>(SegmentId::device)]) refuse();
    ballot_.common[asked_++] = offset;
    ballot_.common[asked_++] = ~offset;
  }
  /// All members have one answer: where two members' words differ in a bit, each finds it missing in one of the ANDs.
  bool take(Team& team, const char* function) noexcept {
    const Ballot all = agree(team, function, ballot_);
    bool equal = all.common[0] != 0;
    for (size_t i = 1; i < asked_; ++i) equal &= all.common[i] == ballot_.common[i];
    return equal;
  }

 private:
  const PeState& state_;
  Ballot ballot_;
  size_t asked_ = 1;
};

}  // namespace railshmem
