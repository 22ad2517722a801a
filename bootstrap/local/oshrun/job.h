// SPDX-License-Identifier: BSD-3-Clause
// The running job: one loop over signals, the PEs' messages, their output and their ends.
#pragma once

#include "bootstrap/common/deadline.h"
#include "bootstrap/local/oshrun/crew.h"
#include "bootstrap/local/oshrun/line_tagger.h"
#include "bootstrap/local/oshrun/options.h"
#include "bootstrap/local/oshrun/rendezvous.h"

namespace railshmem::oshrun {

class Job final : private CrewEvents {
 public:
  explicit Job(Options options);
  /// Runs the job to its end; returns oshrun's exit status.
  int run();

 private:
  /// How the job ends: PEs are told, then asked (SIGTERM), then killed, each after a second.
  enum class Phase : uint8_t { running, told, asked, killed };
  enum class Member : uint8_t { stranger, joined, finished };  ///< has it said hello, goodbye?

  struct Pe {
    bool running = true;
    Member member = Member::stranger;
    LineTagger out, err;
  };

  void start();
  void step();
  void on_signals();
  void on_child_exits();
  void on_contribution(int pe, Bytes bytes);
  void send(int pe, uint32_t kind, Bytes payload = {});
  /// The job is over: remembers the first status given.
  void decide(int status, Phase next);
  void tell_all(const std::string& why);
  void announce_end();
  void advance();

  void on_message(int pe, Frame frame) override;
  void on_output(int pe, int fd, std::string_view bytes) override;
  void on_exit(int pe, pid_t pid, int wait_status) override;
  void on_note(const std::string& note) override;

  Options options_;
  UniqueFd signals_;
  std::vector<Pe> pes_;
  Crew crew_;
  Rendezvous rendezvous_;
  int running_ = 0;
  int status_ = 0;
  int forwarded_ = 0;  ///< last ending signal passed on: PEs that die of it need no message
  Phase phase_ = Phase::running;
  Deadline next_phase_{0};
  Deadline timeout_;
};

}  // namespace railshmem::oshrun
