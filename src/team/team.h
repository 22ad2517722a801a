// SPDX-License-Identifier: BSD-3-Clause
// A team as its members see it: who belongs to it, where they are, and the state of its collectives.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <vector>

#include "shmem/types.h"
#include "src/plugin/device_access.h"
#include "src/rma/pe_state.h"
#include "src/team/scratch_slots.h"
#include "src/team/team_area.h"
#include "src/topology/node_layout.h"
#include "src/topology/pe_set.h"

namespace railshmem {

/// How a team is distributed over nodes. All numbers are ranks of the team, not PEs of the world.
struct TeamNodes {
  std::vector<int> members;  ///< the team's ranks on this node, ascending
  int my_index = 0;          ///< in members
  std::vector<int> leaders;  ///< lowest rank of every node of the team, ascending
  int my_node = 0;           ///< index in leaders of this node
  std::vector<int> node_of;  ///< rank -> index in leaders
  std::vector<int> by_node;  ///< all ranks, node by node, ascending within each
  std::vector<int> first;    ///< index in by_node of each node's first rank, and one past the last

  bool one_node() const noexcept { return leaders.size() == 1; }
  int size_here() const noexcept { return static_cast<int>(members.size()); }
  int size_of(int node) const noexcept {
    return first[static_cast<size_t>(node) + 1] - first[static_cast<size_t>(node)];
  }
  /// The rank on `node` that deals with member number `index` of another node.
  int partner(int node, int index) const noexcept {
    return by_node[static_cast<size_t>(first[static_cast<size_t>(node)] + index % size_of(node))];
  }
};

TeamNodes find_team_nodes(const PeSet& pes, int rank, const NodeLayout& layout);

/// Not copyable, because a team's collectives keep their numbers in it. One collective of a team runs at a time.
struct Team {
  /// Numbers of collectives go on from `first_number`. Throws Error.
  Team(PeState& pe_state, const PeSet& set, int my_rank, int area_slot, const NodeLayout& layout, size_t area_offset,
       uint64_t first_number = 0, uint32_t generation_of_slot = 0);
  ~Team();
  Team(const Team&) = delete;

  int size() const noexcept { return pes.size; }
  /// The low bits are slot plus one. The high bits are the generation, which tells the handle of a destroyed team.
  shmem_team_t handle() const noexcept {
    return reinterpret_cast<shmem_team_t>((uintptr_t{generation} << kSlotBits) + static_cast<uintptr_t>(slot) + 1);
  }
  /// From which scratch slot on the team looks for a free one: teams that look at once begin at different ones.
  size_t first_scratch_slot() const noexcept {
    return static_cast<size_t>(std::max(slot, 2) - 2) * 2 + (for_streams ? 1 : 0);
  }
  /// Largest number that any collective of this team has used.
  uint64_t highest_number() const noexcept;

  static constexpr int kSlotBits = 24;

  PeState& state;
  const PeSet pes;
  const int rank;  ///< of this PE
  const int slot;  ///< number of the area; equal on all members
  const uint32_t generation;
  const size_t offset;  ///< of the area, from the start of every PE's heap
  const TeamAreaLayout area;
  const TeamNodes nodes;
  std::vector<std::byte*> areas_here;  ///< the areas of nodes.members as addresses here
  const bool share_cpus;               ///< PEs of this host outnumber its CPUs: wake as few as possible
  shmem_team_config_t config{};        ///< as the program asked; num_contexts is 0 when it did not ask
  Context context;                     ///< of the collectives' own operations, so that no user's quiet waits for them
  /// First value of the numbers below. It is above the numbers of all teams that had the area before, because their
  /// last flags may still be on their way. The area itself began with zeros.
  const uint64_t first_number;
  uint64_t syncs;      ///< number of the last synchronisation
  uint64_t exchanges;  ///< number of the last full exchange; odd and even ones use different lines
  uint64_t gathers;    ///< number of the last gather on the node
  uint64_t arrivals;   ///< number of the last collective that used arrival flags
  uint64_t checks;     ///< number of the last call that SHMEM_CHECK compared between members
  /// Numbers of the last chunks to and from another member. Both ends of a link count alike.
  struct LinkCounts {
    uint64_t sent;
    uint64_t received;
  };
  std::vector<LinkCounts> links[kLinkKinds];  ///< by rank; empty where no network runs
  uint64_t entered = 0;  ///< steps of collectives that this PE has entered; members of a node enter equally many

  /// At least nbytes of this process's memory for sums of the node. Their content is lost when more are asked for.
  std::byte* sums_of(size_t nbytes);
  TeamScratchSlot scratch_slots[2];    ///< in host and device memory, see src/collective/team_scratch_slot.h
  bool for_streams = false;            ///< collectives in stream order use this one, beside the program's (Teams)
  std::unique_ptr<DeviceQueue> queue;  ///< made by the first collective that needs it, see background.h

  struct FreeAligned {
    void operator()(std::byte* memory) const noexcept { std::free(memory); }
  };
  std::unique_ptr<std::byte, FreeAligned> sums;  ///< see sums_of()
  size_t sums_nbytes = 0;

  /// This PE's copy of the data `at` bytes into the area; also the symmetric address of every member's copy.
  std::byte* mine(size_t at) const noexcept {
    return reinterpret_cast<std::byte*>(state.segment[0].base) + offset + at;
  }
  /// Counts a step of a collective where node peers can see that this PE has come to it.
  void enter() noexcept {
    // relaxed: only the texts of messages depend on the count.
    __atomic_store_n(reinterpret_cast<uint64_t*>(mine(offsetof(SyncFlags, entered))), ++entered, __ATOMIC_RELAXED);
  }
  /// The PEs of this node that have not entered this PE's current step, ascending.
  std::vector<int> absent_here() const;

  /// The copy of a member on this node, by its index in nodes.members, as an address here.
  std::byte* here(int index, size_t at) const noexcept { return areas_here[static_cast<size_t>(index)] + at; }
  /// The copy of any member as an address here, or null where that copy is not reachable by load and store.
  std::byte* at(int of_rank, size_t at) const noexcept {
    const SegmentView& heap = state.segment[0];
    const int slot_on_node = state.slot(pes.pe(of_rank));
    if (static_cast<unsigned>(slot_on_node - heap.first_slot) >= static_cast<unsigned>(heap.slots)) return nullptr;
    return reinterpret_cast<std::byte*>(heap.node_base + static_cast<size_t>(slot_on_node) * heap.stride) + offset + at;
  }
};

}  // namespace railshmem
