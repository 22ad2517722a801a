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

/// A put or get on its way into the rails. It survives `again`: the next try goes on where the last one stopped.
struct Transfer {
  OpKind kind;
  Remote remote;
  std::byte* local;  ///< address here; a put only reads there
  size_t nbytes;
  OpCell* cell = nullptr;      ///< null until the transfer has a cell
  bool local_is_ours = false;  ///< `local` is memory of the library, which the CPU reads
  bool is_direct = false;      ///< rails reach both ends, of which one or both are GPU memory
  bool local_is_far = false;   ///< `local` is GPU memory: no CPU reads or writes it
  /// The transfer goes in parts, because rails know one end or both in pieces; `remote` is then the program's place.
  bool across_pieces = false;
};

/// Whether the source may change as soon as the post is accepted (copied), or only after the operation (stable).
enum class Source : uint8_t { stable, copied };

}  // namespace railshmem
