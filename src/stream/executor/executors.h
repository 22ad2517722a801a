// SPDX-License-Identifier: BSD-3-Clause
// Collectives in stream order that the host runs: those of teams with members on several nodes.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "src/stream/executor/call_page.h"
#include "src/stream/executor/graph_calls.h"
#include "src/stream/executor/team_executor.h"
#include "src/stream/stream_side.h"
#include "src/team/team.h"

namespace railshmem {

/// Any number of threads may call give().
class Executors {
 public:
  /// Threads work in the context of `working_gpu`; streams are of that of `gpu`. `before_threads` is called before a
  /// thread starts. `twin_of` gives the Team with which the library runs collectives of a team beside the program's
  /// own. All arguments outlive this.
  Executors(const cuda::DeviceContext& gpu, const cuda::DeviceContext& working_gpu, StreamSide& side,
            std::function<void()> before_threads, std::function<Team&(const Team&)> twin_of);
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
  static constexpr size_t kWordDistance = 64 / sizeof(cuda::CallWord);  ///< two threads look at words of two lines
  struct Word {
    cuda::CallWord* host;    ///< as the CPU sees it
    cuda::CallWord* device;  ///< as kernels see it
  };
  struct TeamWork {
    Word word;
    std::unique_ptr<TeamExecutor> executor;
    std::unique_ptr<GraphCalls> graphs;
  };

  void add(StreamedCollective call, const Coll& coll, cuda::Stream stream) noexcept;
  TeamWork* find_work(const Team& team);
  TeamWork& work_of(const Team& team);
  std::optional<TeamWork> take_work(const Team& team);
  static void sweep(TeamWork& work) { work.graphs->sweep(work.executor->calls()); }
  std::vector<TeamWork> sweep_left() noexcept;
  std::optional<Word> take_free_word();
  Word new_word();

  const cuda::DeviceContext& gpu_;
  const cuda::DeviceContext& working_gpu_;
  StreamSide& side_;
  const std::function<void()> before_threads_;
  const std::function<Team&(const Team&)> twin_of_;
  /// Guards everything below, but not what a TeamWork has: a team's calls come from one thread at a time. Nothing that
  /// waits for the driver, a stream or another PE is called with it.
  std::mutex mutex_;
  std::vector<std::unique_ptr<CallPage>> pages_;
  std::vector<Word> free_words_;
  std::map<shmem_team_t, TeamWork> works_;  ///< by the team's handle, never used again
  std::vector<TeamWork> left_;              ///< of teams that are gone, but graphs are not
};

}  // namespace railshmem
