// SPDX-License-Identifier: BSD-3-Clause
// What oshrun and its relays on other hosts say to each other, over the connection that ssh makes.
#pragma once

#include <cstdint>
#include <memory>

#include "bootstrap/common/pack.h"
#include "bootstrap/local/oshrun/spawn.h"

namespace railshmem::oshrun::relay {

inline constexpr const char* kOption = "--relay";  ///< makes oshrun a relay
inline constexpr int kEveryPe = -1;

enum Kind : uint32_t {
  // relay to oshrun
  ready = 0x52454c01,  ///< text: the relay's version
  from_pe,             ///< i32 pe, u32 kind, the message of the local bootstrap
  output,              ///< i32 pe, i32 descriptor (1 or 2), bytes; none: the end
  exited,              ///< i32 pe, i32 pid, i32 wait status
  failed,              ///< i32 status, text: why the PEs cannot start
  note,                ///< text for the user
  input_taken,         ///< PE 0 has read what it got
  done,                ///< all PEs have ended, and what they left is gone
  // oshrun to relay
  order,       ///< a ProcessGroupOrder
  to_pe,       ///< i32 pe or kEveryPe, u32 kind, the message of the local bootstrap
  signal_all,  ///< i32 signal
  input,       ///< bytes for PE 0's stdin; none: its end
};

Bytes pack(const ProcessGroupOrder& order);
/// Throws Error when it is cut short, or no order that oshrun gives.
ProcessGroupOrder unpack_order(const Bytes& bytes);

/// A message for a PE, or for all where `pe` is kEveryPe.
struct MessageToPe {
  int pe;
  uint32_t kind;
  std::shared_ptr<const Bytes> payload;
};
/// Throws Error when it is cut short, or for a PE that the order does not have.
MessageToPe unpack_to_pe(const Bytes& bytes, const ProcessGroupOrder& order);

}  // namespace railshmem::oshrun::relay
