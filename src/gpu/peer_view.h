// SPDX-License-Identifier: BSD-3-Clause
// Where the PEs of a node see a range of one PE's memory.
#pragma once

#include <cstddef>
#include <cstdint>

namespace railshmem {

struct PeerView {
  /// nowhere: some of the PEs do not map the range, and at_peer says nothing.
  enum class Where : uint8_t { nowhere, heap, registered };
  static constexpr size_t kMost = 64;  ///< PEs of a node at most; with more the range is nowhere

  Where where = Where::nowhere;
  /// The address of the range's first byte in each PE that was asked about, in the order asked. Beside the range's own
  /// address, for this PE itself, they mean nothing here: kernels and copies of that PE use them.
  uint64_t at_peer[kMost] = {};
};

}  // namespace railshmem
