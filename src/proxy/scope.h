// SPDX-License-Identifier: BSD-3-Clause
// What one context still waits for.
#pragma once

#include <cstdint>

namespace railshmem {

/// Counts of operations that are posted but not complete. Plain integers: whoever touches them holds the endpoint
/// (PortLock for the host's, the proxy lock for the proxy's).
class NetContext {
 public:
  explicit NetContext(uint16_t id_on_wire) noexcept : id(id_on_wire) {}
  NetContext(const NetContext&) = delete;  // its address is the caller's handle

  uint64_t pending() const noexcept { return writes + reads + messages; }

  const uint16_t id;
  uint64_t writes = 0;    ///< puts whose data is not yet known to be in the target's memory
  uint64_t reads = 0;     ///< gets whose data is not here
  uint64_t messages = 0;  ///< AMOs, signals and put_signals that the target has not answered
  /// A fence was called while writes were pending: the next write waits for them, the next message need not.
  bool fence_before_write = false;
};

}  // namespace railshmem
