// SPDX-License-Identifier: BSD-3-Clause
#include "src/stream/team_scratch.h"

#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "src/base/align.h"
#include "src/base/error.h"
#include "src/base/together.h"
#include "src/collective/agree.h"

namespace railshmem {
namespace {

using cuda::ChunkCard;
using cuda::DeviceArena;
using cuda::ScratchLayout;

/// A step of all members or none.
template <class Step>
void together(Team& team, const char* function, Step&& step) {
  try {
    railshmem::together(step, [&](bool well) { return all_agree(team, function, well); });
  } catch (const std::exception& e) {
    throw Error(text("the GPU memory through which the team's members talk cannot be had: %s", e.what()));
  }
}

}  // namespace

TeamScratch::TeamScratch(const cuda::DeviceContext& gpu, cuda::DeviceCopies& copies, FdOffers& offers, Team& team,
                         const char* function)
    : arena_(gpu, static_cast<size_t>(team.size()),
             DeviceArena::stride_for(align_up(ScratchLayout(team.size()).nbytes(), DeviceArena::kAlign))),
      chunks_(gpu, arena_, static_cast<size_t>(team.rank), offers),
      members_{reinterpret_cast<unsigned char*>(arena_.base()),
               arena_.stride(),
               team.size(),
               team.rank,
               ScratchLayout(team.size()).packet_blocks(),
               ScratchLayout(team.size()).chunk_nbytes()} {
  for (int rank = 0; rank < team.size(); ++rank) pes_.push_back(team.pes.pe(rank));
  ChunkCard card;
  together(team, function, [&] { card = make_own(copies, team); });
  // All members have come, so nobody uses the area's scratch any more.
  std::memcpy(team.mine(team.area.scratch()), &card, sizeof card);
  agree(team, function, {});
  together(team, function, [&] { import_others(team); });
  chunks_.close_offers();
}

ChunkCard TeamScratch::make_own(cuda::DeviceCopies& copies, const Team& team) {
  const ScratchLayout layout(team.size());
  const ChunkCard card = chunks_.grow(layout.nbytes());
  std::byte* const mine = arena_.address(static_cast<size_t>(team.rank));
  copies.fill(mine, 0, layout.zeroed());
  static_assert(sizeof(int) == sizeof(int32_t));
  copies.copy(mine + layout.pe(0), pes_.data(), pes_.size() * sizeof(int32_t));
  return card;
}

void TeamScratch::close(cuda::DeviceCopies& copies) {
  std::array<uint64_t, ScratchLayout::kMostBlocks> numbers;
  numbers.fill(ScratchLayout::kClosed + ScratchLayout::kRenewal - 1);  // a kernel's first exchange finds out
  const auto me = static_cast<size_t>(members_.me);
  copies.copy(arena_.address(me, ScratchLayout(members_.n).number(0)), numbers.data(), sizeof numbers);
  // What late kernels send to others lands here, at places of this member where they look for nothing.
  for (size_t rank = 0; rank < arena_.nslots(); ++rank) {
    if (rank == me) continue;
    arena_.unmap(rank);
    arena_.map_peer(rank, 0, chunks_.own().front().memory);
  }
}

void TeamScratch::import_others(const Team& team) {
  for (int rank = 0; rank < team.size(); ++rank) {
    if (rank == team.rank) continue;
    ChunkCard card;
    std::memcpy(&card, team.here(rank, team.area.scratch()), sizeof card);
    chunks_.import(static_cast<size_t>(rank), card);
  }
}

}  // namespace railshmem
