// SPDX-License-Identifier: BSD-3-Clause
// Collectives in stream order that the host runs: those of teams with members on several nodes.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "src/cuda/pinned.h"
#include "src/gpu/graph_holds.h"
#include "src/plugin/network.h"
#include "src/stream/executor/team_executor.h"
#include "src/stream/stream_side.h"
#include "src/team/team.h"

namespace railshmem {

/// Any number of threads may call give().
class Executors {
 public:
  /// Threads work in the context of `working_gpu`; streams are of that of `gpu`. `network` is null where all PEs are
  /// mapped. `twin_of` gives the Team with which the library runs collectives of a
  /// team beside the program's own. All arguments outlive this.
  Executors(const cuda::DeviceContext& gpu, const cuda::DeviceContext& working_gpu, StreamSide& side, Network* network,
            std::function<Team&(const Team&)> twin_of);
  Executors(const Executors&) = delete;
  /// Waits for the calls that run now. Where graphs live on that captured calls, their launch ends the job with a
  /// message.
  ~Executors();

  /// Appends a call to a stream, which may be captured. Returns at once. All members give the calls of a team in one
  /// order, and no two calls of a team run at once.
  void give(const Coll& coll, Buffers buffers, cuda::Stream stream) noexcept {
    add(StreamedCollective(coll, buffers), coll, stream);
  }
  /// Piece by piece, an all-gather or a reduce-scatter without lists.
  void give(const Coll& coll, const PieceCounters& pieces, cuda::Stream stream) noexcept {
    add(StreamedCollective(coll, pieces), coll, stream);
  }
  /// In one line, how the collective runs: "reduce of 1048576 bytes among 4 members on 2 nodes: by the host, ..."
  static std::string explain(const Coll& coll);
  /// The team is going: waits for its call that runs now. No call of its may be under way in any stream.
  void leave(const Team& team) noexcept;

 private:
  static constexpr size_t kPageBytes = 4096;
  static constexpr size_t kWordsPerPage = kPageBytes / sizeof(cuda::CallWords);
  struct TeamWork {
    cuda::CallWords* host;    ///< as the CPU sees them
    cuda::CallWords* device;  ///< as kernels see them
    std::unique_ptr<TeamExecutor> executor;
    std::unique_ptr<GraphHolds> graphs;  ///< they hold calls by number
  };

  void add(StreamedCollective call, const Coll& coll, cuda::Stream stream) noexcept;
  TeamWork& work_of(const Team& team);
  static void sweep(TeamWork& work);
  bool sweep_left() noexcept;
  void hold(TeamWork& work, cuda::Stream stream, uint32_t number);
  std::pair<cuda::CallWords*, cuda::CallWords*> new_words();
  /// Memory of this process's own, which stays when a program resets its GPU.
  struct Page {
    Page(const cuda::DeviceContext& gpu, size_t nbytes);
    std::unique_ptr<std::byte, Team::FreeAligned> memory;
    cuda::HostRegistration pinned;
  };

  const cuda::DeviceContext& gpu_;
  const cuda::DeviceContext& working_gpu_;
  StreamSide& side_;
  Network* const network_;
  const std::function<Team&(const Team&)> twin_of_;
  std::mutex mutex_;  ///< guards everything below
  bool shares_host_calls_ = false;
  std::vector<std::unique_ptr<Page>> pages_;
  std::vector<std::pair<cuda::CallWords*, cuda::CallWords*>> free_words_;  ///< as the CPU and as kernels see them
  std::map<shmem_team_t, TeamWork> works_;                                 ///< by the team's handle, never used again
  std::vector<TeamWork> left_;  ///< of teams that are gone, but graphs are not
};

}  // namespace railshmem
