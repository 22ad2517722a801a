// SPDX-License-Identifier: BSD-3-Clause
// The running job: one loop over signals, the PEs' messages, their output and their ends.
#pragma once

#include <optional>

#include "bootstrap/common/deadline.h"
#include "bootstrap/local/oshrun/allgather.h"
#include "bootstrap/local/oshrun/line_tagger.h"
#include "bootstrap/local/oshrun/options.h"
#include "bootstrap/local/oshrun/process_group.h"
#include "bootstrap/local/oshrun/remote.h"

namespace railshmem::oshrun {

class Job final : public RemoteEvents {
 public:
  explicit Job(Options options);
  /// Runs the job to its end; returns oshrun's exit status.
  int run();

 private:
  /// How the job ends: PEs are told, then asked (SIGTERM), then killed.
  enum class Phase : uint8_t { running, told, asked, killed };
  enum class Member : uint8_t { stranger, joined, finished };  ///< has it said hello, goodbye?

  struct Asked {
    int pe, status;
    bool wanted;  ///< by the program; an error otherwise
  };
  struct Pe {
    bool running = true;
    Member member = Member::stranger;
    LineTagger out, err;
  };

  void start();
  bool goes_on() const;
  void step();
  void on_signals();
  void on_child_exits();
  void on_contribution(int pe, Bytes bytes);
  void feed_input();
  /// "PE 3 (pid 4711 on node1)"
  std::string name(int pe, pid_t pid) const;
  void send(int pe, uint32_t kind, Bytes payload = {});
  void send_to_all(uint32_t kind, const std::shared_ptr<const Bytes>& payload);
  enum class Where : uint8_t { everywhere, other_hosts };
  void signal_all(int signal, Where where = Where::everywhere);
  /// The job is over: remembers the first status given.
  void decide(int status, Phase next);
  void notify_all(const std::string& why);
  void on_abort(int pe, const Frame& frame);
  Bytes end_message() const;
  /// A PE has ended the job: the others end by themselves.
  void end_as_asked();
  void announce_end();
  void advance();

  void on_message(int pe, Frame frame) override;
  void on_output(int pe, int fd, std::string_view bytes) override;
  void on_exit(int pe, pid_t pid, int wait_status) override;
  void on_note(const std::string& note) override;
  void on_host_failure(const Share& share, const std::string& why, int status) override;

  Options options_;
  UniqueFd signals_;
  std::vector<Pe> pes_;
  ProcessGroup group_;  ///< the PEs of this host
  std::vector<std::unique_ptr<Remote>> remotes_;
  bool input_open_ = true;  ///< stdin, where PE 0 is on another host
  Allgather allgather_;
  int running_ = 0;
  int kills_ = 0;  ///< times that PEs were killed and some went on
  int status_ = 0;
  std::optional<Asked> asked_;  ///< the first PE that asked for the end of the job
  int forwarded_ = 0;           ///< last ending signal passed on: PEs that die of it need no message
  Phase phase_ = Phase::running;
  Deadline next_phase_{0};
  Deadline timeout_;
};

}  // namespace railshmem::oshrun
