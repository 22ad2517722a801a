// SPDX-License-Identifier: BSD-3-Clause
// The running job: one poll loop over signals, the PEs' sockets and their output.
#pragma once

#include <poll.h>

#include "bootstrap/common/deadline.h"
#include "bootstrap/common/stream.h"
#include "bootstrap/local/oshrun/line_tagger.h"
#include "bootstrap/local/oshrun/rendezvous.h"
#include "bootstrap/local/oshrun/spawn.h"

namespace railshmem::oshrun {

class Job {
 public:
  explicit Job(Options options);
  /// Runs the job to its end; returns oshrun's exit status.
  int run();

 private:
  /// How the job ends: PEs are told, then asked (SIGTERM), then killed, each after a second.
  enum class Phase : uint8_t { running, told, asked, killed };
  enum class Member : uint8_t { stranger, joined, finished };  ///< has it said hello, goodbye?

  struct Output {
    UniqueFd from;
    int to;
    LineTagger lines;
  };
  struct Pe {
    pid_t pid;
    bool running;
    Member member;
    Stream control;
    Output out, err;
  };

  void start();
  void step();
  void on_signals();
  void on_child_exits();
  void on_exit(int pe, int wait_status);
  void on_messages(int pe);
  void on_message(int pe, const Frame& frame);
  void on_contribution(int pe, Bytes bytes);
  void read_output(Output& output);
  /// The job is over: remembers the first status given.
  void decide(int status, Phase next);
  void tell_all(const std::string& why);
  void advance();
  void signal_all(int signal) noexcept;
  void drain_output();
  void kill_orphans() noexcept;

  Options options_;
  UniqueFd signals_;
  std::vector<Pe> pes_;
  Rendezvous rendezvous_;
  int running_ = 0;
  int status_ = 0;
  int forwarded_ = 0;  ///< last ending signal passed on: PEs that die of it need no message
  Phase phase_ = Phase::running;
  Deadline next_phase_{0};
  Deadline timeout_;
};

}  // namespace railshmem::oshrun
