// SPDX-License-Identifier: BSD-3-Clause
// The thread that runs the collectives of one team when streams come to them.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "src/cuda/kernels/stream_call.h"
#include "src/rma/spin_policy.h"
#include "src/stream/executor/call_list.h"
#include "src/stream/executor/streamed_collective.h"

namespace railshmem {

/// Calls run one at a time, in the order in which streams come to them. A thread for each team: two PEs may see the
/// calls of two teams in different order, and each call waits for the other members.
class TeamExecutor {
 public:
  struct Config {
    cuda::CallWord* word;         ///< as the CPU sees it; 0
    int pe;                       ///< for messages
    std::string team;             ///< for messages: "SHMEM_TEAM_WORLD"
    bool share_cpus;              ///< PEs outnumber the CPUs: do not spin
    std::function<void()> begin;  ///< what the thread does first; may be empty
    std::function<void(const StreamedCollective&)> run;
  };
  explicit TeamExecutor(Config config);
  TeamExecutor(const TeamExecutor&) = delete;  // the thread holds its address
  /// Waits for the call that runs now. Calls to which streams come later do not run.
  ~TeamExecutor();

  using Calls = CallList<std::shared_ptr<const StreamedCollective>>;
  Calls& calls() noexcept { return calls_; }
  /// The team is going. A stream that comes to a call from now on, by a replay, ends the job with a message that says
  /// what it came too late for: "its team has been destroyed". Returns when the thread uses nothing but `word`.
  void leave(const char* why) noexcept;

 private:
  void run() noexcept;
  void perform(uint32_t number) noexcept;
  [[noreturn]] void die_of_two_streams(const StreamedCollective& call) const noexcept;

  const Config config_;
  Calls calls_;
  std::atomic<bool> stop_{false};
  std::atomic<bool> begun_{false};
  std::atomic<const char*> gone_{nullptr};  ///< why no call runs any more
  std::thread thread_;                      // last: it uses everything above
};

}  // namespace railshmem
