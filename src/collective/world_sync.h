// SPDX-License-Identifier: BSD-3-Clause
// Synchronisation of all PEs: within a node through shared flags, between nodes through their leaders.
#pragma once

#include "src/collective/control_block.h"
#include "src/rma/pe_state.h"
#include "src/topology/node_layout.h"

namespace railshmem {

/// Orders this PE's stores before its peers' return; completes no remote operation (OpenSHMEM 1.6 section 9.11 sync).
class WorldSync {
 public:
  /// The control block is at offset 0 of the heap segment. `layout` must outlive this.
  WorldSync(PeState& state, const NodeLayout& layout) noexcept;

  void sync(const char* function) noexcept;

 private:
  ControlBlock& block_of(int slot) const noexcept;
  void disseminate_in_node(const char* function) noexcept;
  void arrive_and_wait(const char* function) noexcept;
  void disseminate_among_leaders(const char* function) noexcept;

  PeState& state_;
  const NodeLayout& layout_;
  const int node_size_;
  const int nodes_;
  const bool flags_in_node_;  ///< dissemination (all run at once) instead of a counter (PEs share CPUs)
  uint64_t number_ = 0;       ///< of the running synchronisation
};

}  // namespace railshmem
