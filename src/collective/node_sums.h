// SPDX-License-Identifier: BSD-3-Clause
// The arithmetic of reductions in chunks: what the members of a node give, and what the nodes give.
#pragma once

#include <span>

#include "src/collective/background.h"
#include "src/collective/operand.h"
#include "src/collective/reduction.h"
#include "src/collective/team_scratch_slot.h"

namespace railshmem {

/// By a kernel in the background where arrays are in the memory of GPUs; else by the CPU at once.
class NodeSums {
 public:
  using Ticket = Background::Ticket;

  /// `source_nbytes` of job.source are mapped within the node. All arguments outlive this.
  NodeSums(Team& team, const Reduction& job, size_t source_nbytes, Memory memory, Background& background) noexcept
      : team_(team),
        job_(job),
        memory_(memory),
        background_(background),
        source_(team.state, job.source, source_nbytes) {}

  /// The node's result for the operands `at` bytes into source, or null where it must be computed.
  const std::byte* ready(size_t at) const noexcept {
    return team_.nodes.size_here() == 1 && job_.scaling != Scaling::factor ? job_.source + at : nullptr;
  }
  /// Combines the operands of the node's members, in rank order, into `out`.
  Ticket of_members(size_t at, size_t nelems, std::byte* out) noexcept;
  /// Combines results of all nodes, in their order, into `out`, which may be one of them.
  Ticket of_nodes(std::span<const std::byte* const> results, size_t nelems, std::byte* out) noexcept;

 private:
  Ticket combine(std::span<const std::byte* const> operands, size_t nelems, std::byte* out, Scaling scaling,
                 double factor) noexcept;
  Ticket on_device(std::span<const std::byte* const> operands, size_t nelems, std::byte* out, Scaling scaling,
                   double factor) noexcept;

  Team& team_;
  const Reduction& job_;
  const Memory memory_;
  Background& background_;
  const Operand source_;
};

}  // namespace railshmem
