// SPDX-License-Identifier: BSD-3-Clause
// Where those who connect wait until they have said who they are and, with a secret, proven that they belong to the
// job. Nothing that a stranger sends or leaves out ends the job, holds it up or fills its memory.
#pragma once

#include <poll.h>

#include <string>
#include <vector>

#include "bootstrap/common/stream.h"
#include "bootstrap/tcp/secret.h"

namespace railshmem::tcp {

/// One who has greeted, and proven to know the secret if there is one. Its claim is still to be read, with suspicion.
struct Arrival {
  Stream stream;
  Bytes claim;
  Bytes proof;  ///< what `noticed` must carry to prove this end
  std::string from;
};

class PendingConnections {
 public:
  /// `kind` is the message that opens a greeting here. The secret must live as long.
  PendingConnections(std::vector<UniqueFd> listeners, uint32_t kind, const Secret& secret);
  ~PendingConnections();
  PendingConnections(const PendingConnections&) = delete;  // says once how many it has turned away

  /// What poll() has to wait for, besides kLookEveryMs.
  void watch(std::vector<pollfd>& wait) const;
  /// The connections that have said all that is needed since the last look. Throws Error when this process can open no
  /// more connections.
  std::vector<Arrival> look();
  /// Lets a connection in as if it had come through a listener.
  void admit(UniqueFd fd);
  /// Says that somebody was turned away: the first time at once, later at most every ten seconds.
  void turned_away(const std::string& from, const std::string& why);

  size_t strangers() const noexcept { return strangers_.size(); }
  size_t capacity() const noexcept { return capacity_; }

  /// Silent strangers are looked at so often.
  static constexpr int kLookEveryMs = 500;
  /// From the connection to the last word of the greeting: a PE says it at once, and one that is dropped comes again.
  static constexpr double kPatienceSeconds = 5;

 private:
  enum class Step : uint8_t { silent, challenged };
  struct Stranger {
    Stream stream;
    std::string from;
    uint64_t since_ns;
    Step step = Step::silent;
    Encounter encounter = {};
  };
  enum class Verdict : uint8_t { waits, arrived, gone };

  Verdict receive(Stranger& stranger);
  Verdict answer(Stranger& stranger, const Frame& frame);
  void accept_all();
  bool has_room() const noexcept;
  void make_room();
  size_t whom_to_drop() const noexcept;

  std::vector<UniqueFd> listeners_;
  const uint32_t kind_;
  const Secret& secret_;
  const size_t capacity_;
  std::vector<Stranger> strangers_;  ///< the oldest first
  uint64_t said_ns_ = 0;             ///< when somebody was last said to be turned away; 0 = never
  size_t unsaid_ = 0;
};

}  // namespace railshmem::tcp
