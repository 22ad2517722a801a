// SPDX-License-Identifier: BSD-3-Clause
// Whether the peers of a waiting PE are still alive, from two witnesses: the kernel for processes of this host,
// the bootstrap (launcher, tree of connections) for all. Asked only by waits that have lasted some milliseconds.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "src/base/unique.h"
#include "src/plugin/bootstrap.h"

namespace railshmem {

class Liveness {
 public:
  /// A process of this host to watch.
  struct Process {
    int pe;
    pid_t pid;
  };
  /// `bootstrap` must outlive this. Threads as PEs share a process and are not watched.
  Liveness(Bootstrap& bootstrap, const std::vector<Process>& processes);

  /// The dead peers of this host as a sentence, else what the bootstrap has seen; empty while all live. Any thread may
  /// call it.
  std::optional<std::string> dead_peer() noexcept;

  /// Dead peers: those of this host, and those that the bootstrap has seen die. Any thread may call it.
  std::vector<int> dead_pes() noexcept;

  /// The peers of this host that are stopped, by a signal or a debugger, as a sentence; empty while none is.
  std::string stopped_peers() const;

  /// The peers' processes of this host that have ended.
  std::vector<pid_t> ended() const;
  bool all_ended() const noexcept;

  /// From here on peers may leave: exits are no deaths.
  void peers_may_leave() noexcept { leaving_.store(true, std::memory_order_relaxed); }

 private:
  struct Watched {
    int pe;
    pid_t pid;
    UniqueFd pidfd;
  };
  Bootstrap& bootstrap_;
  std::vector<Watched> watched_;
  std::atomic<bool> leaving_{false};
};

}  // namespace railshmem
