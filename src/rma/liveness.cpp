// SPDX-License-Identifier: BSD-3-Clause
#include "src/rma/liveness.h"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "src/base/error.h"

namespace railshmem {
namespace {

constexpr size_t kLongList = 400;  // characters; some ten PEs

}  // namespace

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
  // All of them: who died first takes others along, and only its own output tells why.
  std::string dead;
  int more = 0;
  for (const Watched& w : watched_) {
    pollfd ready{w.pidfd.get(), POLLIN, 0};
    if (poll(&ready, 1, 0) <= 0) continue;
    if (dead.size() > kLongList)
      ++more;
    else
      dead += text("%sPE %d (pid %d on this host) has ended", dead.empty() ? "" : ", ", w.pe, static_cast<int>(w.pid));
  }
  if (more > 0) dead += text(", and %d more", more);
  return dead.empty() ? bootstrap_.failure() : dead;
}

}  // namespace railshmem
