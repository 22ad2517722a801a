// SPDX-License-Identifier: BSD-3-Clause
// Counters in the memory of GPUs by which producers say which pieces of a reduce-scatter's source they have written.
#pragma once

#include <vector>

#include "src/collective/operand.h"

namespace railshmem {

/// The counters of this node's members: one for each piece of each part of source, part by part, at one symmetric
/// address. The CPU cannot load them, so it fetches copies now and then.
class Producers {
 public:
  /// A piece is ready when its counter has reached `number`. `pieces`: of a part. Where `counters` are not mapped
  /// within the node, this PE's own count alone. Throws std::bad_alloc.
  Producers(const Team& team, const uint64_t* counters, uint64_t number, size_t pieces, size_t piece_nbytes);

  /// Whether all members of the node have written the bytes [at, at + nbytes) of the part of rank `owner`, as far as
  /// known. Fetches the counters again where they are some microseconds old. nbytes > 0.
  bool are_ready(int owner, size_t at, size_t nbytes) noexcept;
  /// A member of the node that has not written all of its source, as far as known; -1: none.
  int late() const noexcept;
  bool all_ready() noexcept;

 private:
  void fetch() noexcept;

  const Team& team_;
  const uint64_t number_;
  const size_t pieces_;
  const size_t piece_nbytes_;
  struct Member {
    int rank;
    const void* counters;
    std::vector<uint64_t> seen;
  };
  std::vector<Member> members_;
  uint64_t fetch_from_ns_ = 0;
};

}  // namespace railshmem
