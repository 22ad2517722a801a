// SPDX-License-Identifier: BSD-3-Clause
// PEs started by oshrun on one host: oshrun gathers and hands out, over one socket per PE.
#pragma once

#include <sys/types.h>

#include <mutex>

#include "bootstrap/common/deadline.h"
#include "bootstrap/common/stream.h"
#include "src/plugin/bootstrap.h"

namespace railshmem {

class LocalBootstrap final : public Bootstrap {
 public:
  /// Reads oshrun's variables; throws Error naming the one that is missing or wrong.
  explicit LocalBootstrap(double timeout_s);
  ~LocalBootstrap() override;

  std::string_view name() const noexcept override { return "local"; }
  int pe() const noexcept override { return pe_; }
  int npes() const noexcept override { return npes_; }
  void allgather(std::span<const std::byte> mine, std::span<std::byte> all) override;
  void barrier() override;
  void notify_end(int status, std::string_view why) noexcept override;
  std::optional<JobEnd> end_told() noexcept override;
  void await_news(int wake, int timeout_ms) noexcept override;
  std::optional<std::string> failure() noexcept override;
  std::vector<int> dead_pes() noexcept override;
  bool told_to_end() noexcept override;

 private:
  void send(uint32_t kind, Bytes payload);
  /// The next message of this kind; nothing when the time is over. Throws Error when a PE has died.
  std::optional<Frame> await(uint32_t kind, Deadline deadline);
  // All under mutex_.
  /// Reads the socket and sorts what came: notices to failure_, answers to answers_.
  void pump();
  /// For other threads than the one in an exchange.
  void look() {
    if (!exchanging_) pump();
  }

  double timeout_s_;
  Stream stream_;
  int pe_;
  int npes_;
  pid_t owner_;              ///< a forked child must not say goodbye in the PE's name
  std::mutex mutex_;         ///< other threads may look for news beside an exchange
  bool exchanging_ = false;  ///< see RunningExchange
  std::deque<Frame> answers_;
  std::optional<std::string> failure_;
  std::optional<JobEnd> end_;
  std::vector<int> dead_;
  bool told_to_end_ = false;
};

}  // namespace railshmem
