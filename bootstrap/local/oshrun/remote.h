// SPDX-License-Identifier: BSD-3-Clause
// The PEs of another host: ssh starts oshrun there as a relay, and its connection carries everything.
#pragma once

#include "bootstrap/common/deadline.h"
#include "bootstrap/local/oshrun/hosts.h"
#include "bootstrap/local/oshrun/line_tagger.h"
#include "bootstrap/local/oshrun/process_group.h"
#include "bootstrap/local/oshrun/relay_talk.h"

namespace railshmem::oshrun {

class RemoteEvents : public ProcessGroupEvents {
 public:
  /// The PEs of this share that run have no launcher any more, or were never started.
  virtual void on_host_failure(const Share& share, const std::string& why, int status) = 0;
};

class Remote {
 public:
  /// `ssh`: the words before the host's name. `order` is for the share's PEs.
  Remote(Share share, const std::vector<std::string>& ssh, const ProcessGroupOrder& order, RemoteEvents& events);

  const Share& share() const noexcept { return share_; }
  bool has(int pe) const noexcept { return pe >= share_.first && pe < share_.first + share_.count; }
  /// Nothing more is to come from there.
  bool finished() const noexcept { return state_ == State::finished; }
  void add_to(Poll& poll);
  /// A child of this process has ended: was it this ssh?
  bool ended(pid_t pid, int wait_status);
  void send(int pe, uint32_t kind, const Bytes& payload);
  /// For a PE or relay::kEveryPe. Several hosts may share it.
  static std::shared_ptr<const Bytes> message_for(int pe, uint32_t kind, const Bytes& payload);
  void pass_on(const std::shared_ptr<const Bytes>& message);
  void signal_all(int signal);
  /// PE 0 is there and has read all that it got.
  bool wants_input() const noexcept { return wants_input_; }
  void send_input(std::string_view bytes);
  /// Notices a host that does not answer in time, and a connection that is closed while ssh stays.
  void check();
  /// Waits for the end of ssh, for a short time.
  void leave() noexcept;
  /// Milliseconds until check() has something to do.
  int patience_ms(int longest) const noexcept;
  /// Gives the host up.
  void fail(const std::string& why, int status);

 private:
  enum class State : uint8_t { starting, running, finished };

  void read();
  void on_frame(const Frame& frame);
  void on_ready(const std::string& version);
  void read_complaints();
  void lose(const std::string& how);

  Share share_;
  RemoteEvents& events_;
  std::string command_;  ///< for messages
  pid_t ssh_ = -1;
  Stream stream_;
  RelayTalk talk_;
  UniqueFd complaints_;  ///< ssh's stderr, and through it the relay's
  LineTagger complaint_lines_;
  Bytes order_;
  State state_ = State::starting;
  bool wants_input_ = false;
  bool closed_ = false;  ///< the other end has closed the connection
  Deadline answer_;      ///< in state starting, and when closed
};

}  // namespace railshmem::oshrun
