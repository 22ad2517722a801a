// SPDX-License-Identifier: BSD-3-Clause
#include "src/rma/liveness.h"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "src/base/error.h"

namespace railshmem {

Liveness::Liveness(Bootstrap& bootstrap, const std::vector<Process>& processes) : bootstrap_(bootstrap) {
  for (const Process& process : processes) {
    if (process.pid == getpid()) continue;
    // Without pidfd (old kernel, other PID namespace) the bootstrap remains as witness.
    const auto fd = static_cast<int>(syscall(SYS_pidfd_open, process.pid, 0));
    if (fd >= 0) watched_.push_back({process.pe, process.pid, UniqueFd(fd)});
  }
}

std::optional<std::string> Liveness::dead_peer() noexcept {
  if (leaving_.load(std::memory_order_relaxed)) return std::nullopt;
  for (const Watched& w : watched_) {
    pollfd ready{w.pidfd.get(), POLLIN, 0};
    if (poll(&ready, 1, 0) > 0) return text("PE %d (pid %d on this host) has ended", w.pe, static_cast<int>(w.pid));
  }
  return bootstrap_.failure();
}

}  // namespace railshmem
