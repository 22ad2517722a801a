// SPDX-License-Identifier: BSD-3-Clause
// The thread that runs puts and gets when streams come to them.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <thread>
#include <vector>

#include "src/rma/waiter.h"
#include "src/stream/executor/call_list.h"
#include "src/stream/executor/host_transfer.h"

namespace railshmem {

/// Each call has a word of its own, so streams do not wait for each other. One thread is enough for all of them: it
/// starts transfers and looks for their ends, and no transfer needs another one. A wait that cannot end, because a peer
/// died for example, ends the job with a message that names the call and its PE.
class TransferExecutor {
 public:
  struct Config {
    cuda::CallWord* words;        ///< as the CPU sees them; 0; call n has word n - 1
    uint32_t nwords;              ///< calls that can be kept
    int pe;                       ///< for messages
    bool share_cpus;              ///< PEs outnumber the CPUs: do not spin
    std::function<void()> begin;  ///< what the thread does first; may be empty
    PeState* state;               ///< of the calls
    /// Of one transfer each: so many are under way at once. Others wait for their turn.
    std::vector<NetContext*> contexts;
  };
  explicit TransferExecutor(Config config);
  TransferExecutor(const TransferExecutor&) = delete;  // the thread holds its address
  /// Waits for the calls that run now. Calls to which streams come later do not run.
  ~TransferExecutor();

  using Calls = CallList<HostTransfer>;
  Calls& calls() noexcept { return calls_; }
  /// Returns when nothing is under way, and the thread uses nothing but words and calls. A stream that comes to a call
  /// from now on ends the job with a message that says what it came too late for: "shmem_finalize has been called".
  void leave(const char* why) noexcept;

 private:
  struct Run {
    Context context;
    uint32_t number = 0;  ///< of the call; 0: none
    HostTransfer transfer;
    uint64_t turn = 0;             ///< of its beginning
    std::optional<Waiter> waiter;  ///< since then
  };

  void run() noexcept;
  bool is_under_way(uint32_t number) const noexcept;
  bool take_calls() noexcept;
  bool finish_calls() noexcept;
  void begin_run(Run& run) noexcept;
  void wait_a_turn() noexcept;
  void refuse_calls(const char* why) noexcept;

  const Config config_;
  Calls calls_;
  std::vector<Run> runs_;
  size_t under_way_ = 0;
  uint64_t turn_ = 0;  ///< runs begun
  uint32_t next_ = 0;  ///< word at which the next look begins, so that all have their turn
  std::atomic<bool> stop_{false};
  std::atomic<const char*> gone_{nullptr};  ///< why no call runs any more
  std::atomic<bool> left_{false};           ///< the thread has seen it
  std::thread thread_;                      // last: it uses everything above
};

}  // namespace railshmem
