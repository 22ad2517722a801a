// SPDX-License-Identifier: BSD-3-Clause
#include "src/rma/liveness.h"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "src/base/cpu.h"
#include "src/base/error.h"
#include "src/base/fds.h"
#include "src/base/job_end.h"

namespace railshmem {
namespace {

// News through a launcher or a tree of busy PEs takes longer than the kernel's.
constexpr uint64_t kExplanationNs = 1'000'000'000;
constexpr size_t kLongList = 400;  // characters; some ten PEs

bool has_ended(const UniqueFd& pidfd) noexcept {
  pollfd ready{pidfd.get(), POLLIN, 0};
  return poll(&ready, 1, 0) > 0;
}

/// T (stopped by a signal), t (stopped by a debugger), R, S and so on; a blank when the process cannot be seen.
char state_of(pid_t pid) {
  const std::string line = read_file(text("/proc/%d/stat", static_cast<int>(pid)));
  const size_t name_end = line.rfind(')');  // the name before it may have blanks and brackets of its own
  return name_end != std::string::npos && name_end + 2 < line.size() ? line[name_end + 2] : ' ';
}

}  // namespace

Liveness::Liveness(Bootstrap& bootstrap, const std::vector<Process>& processes) : bootstrap_(bootstrap) {
  for (const Process& process : processes) {
    if (process.pid == getpid()) continue;
    // Without pidfd (old kernel, other PID namespace) the bootstrap remains as source.
    UniqueFd fd(static_cast<int>(syscall(SYS_pidfd_open, process.pid, 0)));
    if (fd) watched_.push_back({process.pe, process.pid, std::move(fd)});
  }
}

void Liveness::heed_end() noexcept {
  if (const auto end = bootstrap_.end_told()) end_as_told(*end);
}

std::optional<std::string> Liveness::dead_peer() noexcept {
  if (leaving_.load(std::memory_order_relaxed)) return std::nullopt;
  heed_end();
  if (auto known = bootstrap_.failure()) return known;
  std::string ended = ended_peers();
  if (ended.empty()) return std::nullopt;
  // relaxed: threads agree on a time, and nothing else is handed over.
  const uint64_t now = now_ns();
  uint64_t since = 0;
  if (unexplained_since_ns_.compare_exchange_strong(since, now, std::memory_order_relaxed)) since = now;
  return now - since < kExplanationNs ? std::nullopt : std::optional(std::move(ended));
}

std::string Liveness::ended_peers() const {
  // All of them: who died first takes others along, and only its own output tells why.
  std::string dead;
  int more = 0;
  for (const Watched& w : watched_) {
    if (!has_ended(w.pidfd)) continue;
    if (dead.size() > kLongList)
      ++more;
    else
      dead += text("%sPE %d (pid %d on this host) has ended", dead.empty() ? "" : ", ", w.pe, static_cast<int>(w.pid));
  }
  if (more > 0) dead += text(", and %d more", more);
  return dead;
}

std::vector<int> Liveness::dead_pes() noexcept {
  if (leaving_.load(std::memory_order_relaxed)) return {};
  std::vector<int> dead = bootstrap_.dead_pes();
  for (const Watched& w : watched_)
    if (has_ended(w.pidfd)) dead.push_back(w.pe);
  return dead;
}

std::string Liveness::stopped_peers() const {
  std::string out;
  for (const Watched& w : watched_) {
    if (out.size() > kLongList) return out + " and others";
    const auto pid = static_cast<int>(w.pid);
    const char state = state_of(w.pid);
    if (state != 'T' && state != 't') continue;
    if (!out.empty()) out += ", ";
    out += text("PE %d (pid %d on this host) is stopped (state %c%s", w.pe, pid, state,
                state == 't' ? ", by a debugger)" : "");
    if (state == 'T') out += text("; kill -CONT %d lets it go on)", pid);
  }
  return out;
}

std::vector<pid_t> Liveness::ended() const {
  std::vector<pid_t> pids;
  for (const Watched& w : watched_)
    if (has_ended(w.pidfd)) pids.push_back(w.pid);
  return pids;
}

bool Liveness::all_ended() const noexcept {
  for (const Watched& w : watched_)
    if (!has_ended(w.pidfd)) return false;
  return true;
}

}  // namespace railshmem
