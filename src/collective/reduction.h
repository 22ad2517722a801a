// SPDX-License-Identifier: BSD-3-Clause
// The common part of all algorithms of reduce and scan: the call, ranks, and the work on a part of the vector.
#pragma once

#include "src/collective/operand.h"
#include "src/collective/reduce_ops.h"
#include "src/team/team.h"

namespace railshmem {

/// When results of floating-point numbers of 16 and 8 bits are rounded. each: after each operation. once: operands of a
/// node are added up as float and rounded once, and so are the nodes' results.
enum class Rounding : uint8_t { each, once };

/// One call of a reduction or scan, its arguments checked.
struct Reduction {
  const char* function;
  Combine combine;
  size_t element;  ///< bytes
  size_t nelems;   ///< at least 1
  std::byte* dest;
  const std::byte* source;
  ReduceOp op;
  TypeKind kind;
  // Only calls in the order of a stream have other values than these.
  Rounding rounding = Rounding::each;
  Scaling scaling = Scaling::none;
  double factor = 0;  ///< Scaling::factor

  size_t nbytes() const noexcept { return nelems * element; }
};

/// Whether every algorithm computes it: each operation is rounded, and nothing is scaled.
inline bool is_plain(const Reduction& job) noexcept {
  return (job.rounding == Rounding::each || job.kind < TypeKind::f16) && job.scaling == Scaling::none;
}
/// Ends the job where the reduction is not plain, and so only kernels of the library compute it, with chunks for which
/// there is no room.
void must_be_plain(const Reduction& job) noexcept;

/// Whether dest or source lie in the device heap, where the CPU cannot compute. All members get one answer.
inline bool on_device(const Team& team, const Reduction& job) noexcept {
  const PeState& state = team.state;
  return state.device && (Operand(state, job.dest, job.nbytes()).on_device(state) ||
                          Operand(state, job.source, job.nbytes()).on_device(state));
}

/// Some members of a team, in rank order.
struct Ranks {
  const int* list = nullptr;  ///< null: all members, 0 to size - 1
  int size = 0;

  int operator[](int i) const noexcept { return list ? list[i] : i; }
  static Ranks all(const Team& team) noexcept { return {nullptr, team.size()}; }
  static Ranks here(const Team& team) noexcept { return {team.nodes.members.data(), team.nodes.size_here()}; }
  static Ranks leaders(const Team& team) noexcept {
    return {team.nodes.leaders.data(), static_cast<int>(team.nodes.leaders.size())};
  }
};

/// A run of elements.
struct Part {
  size_t first;
  size_t count;
};

/// Part `index` of `parts` of n elements. All parts but the last are equally long and end at cache lines, so that no
/// two members write to one line.
Part part_of(size_t n, size_t element, int index, int parts) noexcept;

/// The number of members to choose an algorithm for. PEs that share CPUs count as very many, because waking one another
/// is what costs.
inline int crowd(const Team& team) noexcept {
  return team.share_cpus ? 1 << 20 : team.size();
}

/// The operands of `ranks`, all at the symmetric address `from`.
struct Operands {
  Ranks ranks;
  const std::byte* from;
};

/// Combines `part` of the operands, in rank order, into this PE's dest, then copies it to the dest of the `writers`
/// other than this PE. All operands must be ready and nobody else may touch this part of them or of dest. Over the
/// network the copies are complete after settle().
void combine_part(Team& team, const Reduction& job, const Operands& operands, const Ranks& writers, Part part) noexcept;

/// Combines `part` of the operands of all members at the symmetric address `from` into this PE's dest: those of a node
/// in rank order, the nodes' results in node order. By the CPU; combine_part() says what must hold.
void combine_by_node(Team& team, const Reduction& job, const std::byte* from, Part part) noexcept;

enum class Scan : uint8_t { inclusive, exclusive };

/// Prefix sums of `part` of all members' sources into their dests; combine_part() says what must hold.
void scan_part(Team& team, const Reduction& job, Scan scan, Part part) noexcept;

/// Reduces over several nodes: first within each node, then among their leaders, then out within each node.
void reduce_over_nodes(Team& team, const Reduction& job) noexcept;

/// Copies elements of this PE's dest to the dest of member `to`.
void deliver(Team& team, const Reduction& job, int to, Part part) noexcept;

}  // namespace railshmem
