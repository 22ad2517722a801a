// SPDX-License-Identifier: BSD-3-Clause
// What the PEs of a tcp job say to each other.
#pragma once

#include <array>
#include <cstdint>

namespace railshmem::tcp {

/// Tells jobs apart: random for a unique id, MASTER_PORT where the meeting point comes from MASTER_ADDR.
using Key = std::array<uint8_t, 16>;

/// A number that is used once, so that no proof serves twice.
using Nonce = std::array<uint8_t, 32>;

/// Proves that who sends it knows the job's secret.
using Digest = std::array<uint8_t, 32>;

/// Whether the end that connects has a secret. A listener that has none then knows that they will not come together.
enum class Want : uint8_t { nothing, proof };

enum Kind : uint32_t {
  // The connecting PE begins, with a nonce and a claim. With a secret, a challenge and a proof follow. The last
  // message, with or without a secret, is noticed.
  join = 0x54435201,  ///< to PE 0: Nonce, Want; Key, i32 pe, i32 npes, packed own address, text who
  child,              ///< to the parent in the tree: Nonce, Want; Key of the tree, i32 pe
  challenge,          ///< the answer of a listener with a secret: its Nonce
  proof,              ///< of the one who connected: Digest
  denied,             ///< the proof is wrong
  noticed,            ///< this is the right listener: its Digest, empty without a secret
  here,               ///< to PE 0 by one that it has noticed, and that waits for its seat from now on: nothing
  // From PE 0 to those that it has noticed
  refused,  ///< text: why the job cannot form
  seat,     ///< Key of the tree, i32 parent, packed address of the parent
  // Along the tree, for the job's life
  up,       ///< u64 bytes per PE, then the contributions of a subtree
  down,     ///< everyone's contributions in PE order
  notice,   ///< text: a PE has died or gave up
  abort,    ///< i32 status, text: why, or nothing
  goodbye,  ///< this PE leaves in good order
};

}  // namespace railshmem::tcp
