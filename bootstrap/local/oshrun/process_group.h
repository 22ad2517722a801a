// SPDX-License-Identifier: BSD-3-Clause
// The PEs of this host: their processes, sockets and output.
#pragma once

#include "bootstrap/common/stream.h"
#include "bootstrap/local/oshrun/descriptors.h"
#include "bootstrap/local/oshrun/orphans.h"
#include "bootstrap/local/oshrun/poll.h"
#include "bootstrap/local/oshrun/spawn.h"

namespace railshmem::oshrun {

/// What happens to PEs, by their numbers in the job.
class ProcessGroupEvents {
 public:
  virtual ~ProcessGroupEvents() = default;
  virtual void on_message(int pe, Frame frame) = 0;
  /// What a PE wrote to `fd` (STDOUT_FILENO or STDERR_FILENO), where that is captured; nothing at its end.
  virtual void on_output(int pe, int fd, std::string_view bytes) = 0;
  virtual void on_exit(int pe, pid_t pid, int wait_status) = 0;
  /// A sentence for the user.
  virtual void on_note(const std::string& note) = 0;
};

/// A PE cannot be started; `status` is oshrun's then.
struct CannotStart : Error {
  CannotStart(const std::string& why, int exit_status) : Error(why), status(exit_status) {}
  int status;
};

class ProcessGroup {
 public:
  ProcessGroup(ProcessGroupOrder order, ProcessGroupEvents& events);

  /// Throws CannotStart; the PEs started before run then.
  void start();
  int running() const noexcept { return running_; }
  enum class Outputs : uint8_t { now, later };  ///< later: nobody takes them at the moment
  void add_to(Poll& poll, Outputs outputs = Outputs::now);
  /// A child of this process has ended: was it a PE?
  bool ended(pid_t pid, int wait_status);
  void send(int pe, uint32_t kind, const std::shared_ptr<const Bytes>& payload);
  void send_to_all(uint32_t kind, const std::shared_ptr<const Bytes>& payload);
  void signal_all(int signal) noexcept;
  /// What the PEs have written before they ended.
  void drain_output();
  /// When all PEs have ended: ends what they left running, and removes files of libfabric's that carry their names.
  void sweep();

 private:
  struct Pe {
    int number;
    pid_t pid;
    bool running;
    Stream control;
    UniqueFd out, err;
  };

  Pe& at(int pe) { return pes_[static_cast<size_t>(pe - order_.first)]; }
  /// Throws CannotStart.
  void choose_cpus();
  /// Null: the PE is not bound.
  const cpu_set_t* cpus_of(int pe) const {
    return cpus_.empty() ? nullptr : &cpus_[static_cast<size_t>(pe - order_.first)];
  }
  /// Throws CannotStart where the host has no room; what the child itself cannot do is in its `failed`.
  Child start_one(int pe) const;
  CannotStart why_not(int pe, const Child& child) const;
  void report(const Pe& pe, const cpu_set_t* cpus);
  void read_messages(Pe& pe);
  void read_output(const Pe& pe, UniqueFd& from, int fd);

  ProcessGroupOrder order_;
  ProcessGroupEvents& events_;
  const uint64_t since_ns_;  ///< by shm_file_time_ns(): the PEs start later
  Descriptors descriptors_;
  Orphans orphans_;
  std::vector<cpu_set_t> cpus_;  ///< by PE; empty: nobody is bound
  std::vector<Pe> pes_;
  std::vector<pid_t> members_;  ///< processes that have said hello
  int running_ = 0;
};

}  // namespace railshmem::oshrun
