// SPDX-License-Identifier: BSD-3-Clause
// What callers hand to an Initiator.
#pragma once

#include <cstddef>
#include <cstdint>

#include "src/plugin/rail.h"
#include "src/plugin/rail_keeper.h"
#include "src/proxy/post/cell_pool.h"
#include "src/proxy/post/operation.h"
#include "src/proxy/rails/tuning.h"

namespace railshmem {

class DirectMemory;
class StagingPart;

/// Who calls: identity of an endpoint, and what its initiator may use.
struct InitiatorConfig {
  Port port;
  int pe;
  int npes;
  size_t cells;
  Tuning tuning{};
  RailKeeper* keeper = nullptr;          ///< opens dead rails anew; null: nobody does
  StagingPart* staging = nullptr;        ///< null: rails reach all memory
  const DirectMemory* direct = nullptr;  ///< staged memory that rails reach all the same; null: none
  bool proves_rails = false;     ///< peers use a reopened rail only when it has reached this PE itself; see Flusher
  size_t ports = ports_with(1);  ///< of each PE
};

/// A put or get on its way into the rails. Survives `again`: the next try goes on where this one stopped.
struct Transfer {
  OpKind kind;
  Remote remote;
  std::byte* local;  ///< a put only reads it
  size_t nbytes;
  OpCell* cell = nullptr;      ///< once it has one
  bool local_is_ours = false;  ///< bytes in memory of the library, which the CPU reads
  bool is_direct = false;      ///< rails reach both ends, of which one or both are GPU memory
  bool local_is_far = false;   ///< of those, this one is: no CPU reads or writes it
  /// It goes in parts, since rails know one end or both in pieces; `remote` is then as the program sees it.
  bool across_pieces = false;
};

/// May the source change as soon as the post was accepted?
enum class Source : uint8_t { stable, copied };

}  // namespace railshmem
