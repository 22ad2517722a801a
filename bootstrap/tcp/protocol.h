// SPDX-License-Identifier: BSD-3-Clause
// What the PEs of a tcp job say to each other.
#pragma once

#include <array>
#include <cstdint>

namespace railshmem::tcp {

/// Tells the jobs of one host apart; all zero when the meeting point comes from MASTER_ADDR.
using Key = std::array<uint8_t, 16>;

enum Kind : uint32_t {
  // To PE 0, while the job forms
  enroll = 0x54435001,  ///< Key, i32 pe, i32 npes, packed own address, text who
  // From PE 0
  noticed,  ///< this is the right PE 0; the seat follows when everyone is there
  refused,  ///< text: why the job cannot form
  seat,     ///< Key of the tree, i32 parent, packed address of the parent
  // A child to its parent
  child,  ///< Key of the tree, i32 pe
  // Along the tree, for the job's life
  up,       ///< u64 bytes per PE, then the contributions of a subtree
  down,     ///< everyone's contributions in PE order
  notice,   ///< text: a PE has died or gave up
  abort,    ///< i32 status, text: why, or nothing
  goodbye,  ///< this PE leaves in good order
};

}  // namespace railshmem::tcp
