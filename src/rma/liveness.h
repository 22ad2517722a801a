// SPDX-License-Identifier: BSD-3-Clause
// Whether the peers of a waiting PE are still alive, from two sources: the bootstrap (launcher, tree of connections)
// for all, the kernel for processes of this host. Asked only by waits that have lasted some milliseconds.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
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

  /// What the bootstrap knows of a death, as a sentence, else the dead peers of this host; empty while all live. The
  /// bootstrap is asked first: it knows whether a process has ended because the job was to end. Then this process ends,
  /// too. What only the kernel tells counts once the bootstrap has had a second to explain it. Any thread may call it.
  std::optional<std::string> dead_peer() noexcept;

  /// Ends this process if another PE has ended the job. Any thread may call it.
  void heed_end() noexcept;

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
  /// The peers of this host that have ended, as a sentence.
  std::string ended_peers() const;

  Bootstrap& bootstrap_;
  std::vector<Watched> watched_;
  std::atomic<uint64_t> unexplained_since_ns_{0};  ///< first sight of a death that only the kernel tells
  std::atomic<bool> leaving_{false};
};

}  // namespace railshmem
