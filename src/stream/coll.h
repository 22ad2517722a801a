// SPDX-License-Identifier: BSD-3-Clause
// One collective in the order of a stream, checked: what the program asked for, in the library's terms.
#pragma once

#include <cstddef>
#include <cstdint>

#include "include/shmem/detail/reduce_kind.h"
#include "src/cuda/coll_kernels.h"
#include "src/plan/plan.h"
#include "src/team/team.h"

namespace railshmem {

enum class CollKind : uint8_t { allgather, reducescatter, allreduce, alltoall, alltoallv, broadcast };

struct Coll {
  const char* function;  ///< of the program's call, for messages
  CollKind kind;
  Team& team;
  TypeKind type = TypeKind::u8;
  ReduceOp op = ReduceOp::sum;
  Scaling scaling = Scaling::none;
  double factor = 1;
  int root = 0;             ///< of a broadcast
  uint32_t max_blocks = 0;  ///< 0: as many as the size pays for
  bool spares_sms = false;  ///< leaves the multiprocessors to kernels beside it
  size_t element = 1;       ///< bytes
  size_t nbytes = 0;        ///< that one member hands to one other; of all-reduce and broadcast: of the vector
  const void* source = nullptr;
  void* dest = nullptr;
  const void* const* sources = nullptr;  ///< list form, else null
  void* const* dests = nullptr;          ///< list form, else null
  /// All-to-all with counts, in elements; else null.
  const size_t* source_counts = nullptr;
  const size_t* source_offsets = nullptr;
  const size_t* dest_counts = nullptr;
  const size_t* dest_offsets = nullptr;

  bool reduces() const noexcept { return kind == CollKind::reducescatter || kind == CollKind::allreduce; }
  /// Whether source has a block for each member, or one for all.
  bool deals() const noexcept { return kind == CollKind::reducescatter || kind == CollKind::alltoall; }
  /// Whether dest gets a block from each member.
  bool collects() const noexcept { return kind == CollKind::allgather || kind == CollKind::alltoall; }

  /// This member's block for member k, and how long it is.
  const std::byte* source_for(int k) const noexcept {
    const auto at = static_cast<size_t>(k);
    if (sources) return static_cast<const std::byte*>(sources[at]);
    const auto* const base = static_cast<const std::byte*>(source);
    if (source_offsets) return base + source_offsets[at] * element;
    return deals() ? base + at * nbytes : base;
  }
  size_t sends(int k) const noexcept {
    if (source_counts) return source_counts[static_cast<size_t>(k)] * element;
    return kind == CollKind::broadcast && team.rank != root ? 0 : nbytes;
  }
  /// Where the block from member k goes, and how long it is.
  std::byte* dest_from(int k) const noexcept {
    const auto at = static_cast<size_t>(k);
    if (dests) return static_cast<std::byte*>(dests[at]);
    auto* const base = static_cast<std::byte*>(dest);
    if (dest_offsets) return base + dest_offsets[at] * element;
    return collects() ? base + at * nbytes : base;
  }
  size_t receives(int k) const noexcept {
    if (dest_counts) return dest_counts[static_cast<size_t>(k)] * element;
    return kind == CollKind::broadcast && k != root ? 0 : nbytes;
  }
};

/// What the planner is asked about it.
inline Question question_of(const Coll& coll) noexcept {
  constexpr Collective kCollectives[] = {Collective::fcollect, Collective::reducescatter, Collective::reduce,
                                         Collective::alltoall, Collective::alltoall,      Collective::broadcast};
  return {kCollectives[static_cast<int>(coll.kind)],
          coll.nbytes,
          coll.element,
          coll.team.size(),
          coll.kind == CollKind::alltoallv,
          coll.max_blocks,
          coll.spares_sms,
          cuda::CollKernels::has_own_kernel(coll.type, coll.op)};
}

}  // namespace railshmem
