// SPDX-License-Identifier: BSD-3-Clause
// A collective that a stream has the host run.
#pragma once

#include <vector>

#include "src/stream/coll.h"
#include "src/stream/executor/piece_calls.h"

namespace railshmem {

/// What the members promise about the buffers of a collective that others touch. symmetric: one address of the device
/// heap on all members. any: memory of the GPU.
enum class Buffers : uint8_t { symmetric, any };

/// Keeps a Coll, and what its arguments point to, until the stream comes to it.
class StreamedCollective {
 public:
  /// `coll` was checked. Throws std::bad_alloc.
  StreamedCollective(const Coll& coll, Buffers buffers);
  /// Piece by piece.
  StreamedCollective(const Coll& coll, const PieceCounters& pieces);

  const char* function() const noexcept { return coll_.function; }
  /// Runs it as a member of `team`, which has the members of the Coll's team. Touches the memory of another member only
  /// when that member runs it, too.
  void run(Team& team) const noexcept;

 private:
  Coll on(Team& team) const noexcept;

  const Coll coll_;  ///< its pointers to lists and counts are not used, and its team may be gone
  const Buffers buffers_;
  const PieceCounters pieces_;  ///< of 0 bytes: not piece by piece
  std::vector<const void*> sources_;
  std::vector<void*> dests_;
  std::vector<size_t> source_counts_, source_offsets_, dest_counts_, dest_offsets_;
};

}  // namespace railshmem
