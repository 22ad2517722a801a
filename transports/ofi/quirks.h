// SPDX-License-Identifier: BSD-3-Clause
// Where a provider does other than the interface says, as far as a rail must know. docs/gotchas.md tells the stories.
#pragma once

#include <rdma/fabric.h>

#include <cstddef>

namespace railshmem::ofi {

struct Quirks {
  /// Messages without a slot are counted as operations, and complete to a slot that nobody reads.
  bool counts_messages = false;
  /// FI_INJECT on a send loses the operation's context. Such sends are copied at once without that flag as well.
  bool plain_sends = false;
  /// Messages must never find all receive buffers taken. Every look at the queue takes all that has arrived, and there
  /// are more buffers than one look lets in.
  bool drains = false;
  /// A read whose answer is arriving when its connection ends is reported and freed twice, which ends the process.
  bool reads_may_fail = true;
  size_t receives = 256;                        ///< messages that may arrive between two polls: 1 MiB per rail
  size_t operations = static_cast<size_t>(-1);  ///< in flight at most
};

Quirks quirks_of(const fi_info& info) noexcept;

}  // namespace railshmem::ofi
