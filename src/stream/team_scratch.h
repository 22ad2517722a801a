// SPDX-License-Identifier: BSD-3-Clause
// Memory of the GPUs through which the members of a team on one node talk in their collectives.
#pragma once

#include <span>
#include <vector>

#include "src/base/fd_offers.h"
#include "src/cuda/device_arena.h"
#include "src/cuda/device_chunks.h"
#include "src/cuda/device_copies.h"
#include "src/cuda/kernels/coll_call.h"
#include "src/team/team.h"

namespace railshmem {

/// Each member has a piece of its GPU's memory, laid out by ScratchLayout, and maps those of all others. Zero at first;
/// afterwards only kernels of the members write there.
class TeamScratch {
 public:
  /// Collective over the team, whose members are all on this node and at most cuda::kMostMembers; the members meet on
  /// the host. Throws Error on all of them, naming the reason here or that another member failed.
  TeamScratch(const cuda::DeviceContext& gpu, cuda::DeviceCopies& copies, FdOffers& offers, Team& team,
              const char* function);
  TeamScratch(const TeamScratch&) = delete;

  /// The team has gone, but graphs live on that captured its calls: their kernels find that out, and talk to nobody.
  /// The memory of the other members is let go. No kernel of the team may run. Throws Error.
  void close(cuda::DeviceCopies& copies);

  const cuda::CollMembers& members() const noexcept { return members_; }
  /// The members' PEs, by rank.
  std::span<const int> pes() const noexcept { return pes_; }

 private:
  cuda::ChunkCard make_own(cuda::DeviceCopies& copies, const Team& team);
  void import_others(const Team& team);

  std::vector<int> pes_;
  cuda::DeviceArena arena_;
  cuda::DeviceChunks chunks_;
  cuda::CollMembers members_;
};

}  // namespace railshmem
