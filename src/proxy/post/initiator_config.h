// SPDX-License-Identifier: BSD-3-Clause
// What makes an initiator.
#pragma once

#include <cstddef>

#include "src/plugin/port.h"
#include "src/plugin/rail_keeper.h"
#include "src/proxy/rails/tuning.h"

namespace railshmem {

class DirectMemory;
class StagingPart;

/// The identity of an endpoint, and what its initiator may use.
struct InitiatorConfig {
  Port port;
  int pe;
  int npes;
  size_t cells;
  Tuning tuning{};
  RailKeeper* keeper = nullptr;          ///< opens dead rails anew; null: they stay dead
  StagingPart* staging = nullptr;        ///< null: rails reach all memory
  const DirectMemory* direct = nullptr;  ///< GPU memory that rails reach without staging; null: none
  bool proves_rails = false;     ///< peers use a reopened rail only after it has reached this PE itself; see Flusher
  size_t ports = ports_with(1);  ///< of each PE
};

}  // namespace railshmem
