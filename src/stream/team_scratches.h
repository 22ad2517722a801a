// SPDX-License-Identifier: BSD-3-Clause
// The scratch memory of all teams of a PE. Graphs that captured collectives of a team keep it when the team goes.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "src/gpu/device_memory.h"
#include "src/gpu/graph_holds.h"
#include "src/stream/coll.h"
#include "src/stream/team_scratch.h"

namespace railshmem {

/// Any number of threads, one at a time for a team.
class TeamScratches {
 public:
  /// `memory` must be attached, and outlive this. There are `slots` slots of teams.
  TeamScratches(DeviceMemory& memory, size_t slots);

  /// The scratch memory for a call that goes into `stream` next; a graph that captures the call keeps the memory. At
  /// the first call of a team its members meet on the host. Throws Error.
  const TeamScratch& for_call(const Coll& coll, cuda::Stream stream);
  /// The team goes, and nothing of it runs any more. What graphs keep is closed.
  void forget(const Team& team) noexcept;
  /// forget() for all teams. Returns whether graphs keep anything.
  bool forget_all() noexcept;

 private:
  struct Kept {
    std::unique_ptr<TeamScratch> scratch;  ///< null until the team's first collective
    uint64_t number = 0;                   ///< by which graphs hold it; never used again
    size_t holds = 0;                      ///< graphs that captured its calls; with mutex_
    uint64_t capture = 0;                  ///< the capture that has added the last of these
    bool closing = false;                  ///< leave() closes it; with mutex_
  };

  void hold(Kept& kept, const CapturedGraph& graph) noexcept;
  void count(Kept& kept, int more) noexcept;
  Kept end_closing(uint64_t number, bool closed) noexcept;
  void leave(Kept& kept) noexcept;
  void take_notes() noexcept;
  bool are_held() noexcept;

  DeviceMemory& memory_;
  const bool has_graphs_;  ///< the driver tells of captures
  GraphHolds graphs_;
  std::mutex mutex_;  ///< of the lists and counts; nothing that waits for the driver is called with it
  uint64_t last_number_ = 0;
  std::vector<Kept> by_slot_;
  std::vector<Kept> left_;  ///< of teams that are gone, but graphs are not
};

}  // namespace railshmem
