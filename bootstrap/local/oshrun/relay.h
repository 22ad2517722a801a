// SPDX-License-Identifier: BSD-3-Clause
// oshrun on another host: starts the PEs there and passes everything between them and the oshrun that asked.
#pragma once

#include "bootstrap/common/deadline.h"
#include "bootstrap/local/oshrun/process_group.h"

namespace railshmem::oshrun {

class Relay final : public ProcessGroupEvents {
 public:
  /// Takes over stdin and stdout, which are the connection.
  Relay();
  /// Until all PEs have ended; returns the relay's exit status.
  int run();

 private:
  bool await_order();
  void start();
  void step();
  void read();
  void on_frame(const Frame& frame);
  void on_signals();
  void write_input();
  /// The connection is gone or a signal came: the PEs are asked to end, then killed.
  void end_pes() noexcept;
  void say(uint32_t kind, Packer packer);

  void on_message(int pe, Frame frame) override;
  void on_output(int pe, int fd, std::string_view bytes) override;
  void on_exit(int pe, pid_t pid, int wait_status) override;
  void on_note(const std::string& note) override;

  Stream stream_;
  UniqueFd signals_;
  std::optional<ProcessGroupOrder> order_;
  std::unique_ptr<ProcessGroup> group_;
  UniqueFd input_;  ///< PE 0's stdin
  Bytes unread_;    ///< for PE 0
  bool ending_ = false;
  Deadline patience_{0};
};

}  // namespace railshmem::oshrun
