// SPDX-License-Identifier: BSD-3-Clause
#include "src/globals/fork_guard.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>

#include <cerrno>

#include "src/base/cpu.h"
#include "src/base/process.h"
#include "src/globals/raw_syscall.h"
#include "src/globals/shared_data.h"

namespace railshmem {
namespace {

/// A pipe made by the prepare handler, for the parent's and the child's handler, which run in its thread. The child
/// holds the writing end until it has its copy. If the child dies or was never born, the pipe closes too.
thread_local int t_done[2] = {-1, -1};

RAILSHMEM_BARE void before_fork() {
  __atomic_fetch_add(&g_process.fork.under_way, 1, __ATOMIC_ACQ_REL);
  t_done[0] = t_done[1] = -1;
  if (g_process.fork.range.fd >= 0 && raw(SYS_pipe2, t_done, O_CLOEXEC) != 0) t_done[0] = t_done[1] = -1;
}

RAILSHMEM_BARE void close_both() noexcept {
  for (int& end : t_done) {
    if (end >= 0) raw(SYS_close, end);
    end = -1;
  }
}

/// Waits for the child's copy: otherwise the parent's next stores would show up in the child.
RAILSHMEM_BARE void in_parent() {
  __atomic_fetch_sub(&g_process.fork.under_way, 1, __ATOMIC_ACQ_REL);
  if (t_done[0] < 0) return;
  const int saved = errno;
  raw(SYS_close, t_done[1]);
  t_done[1] = -1;
  const uint64_t deadline = now_ns() + uint64_t{kForkWaitMs} * 1'000'000;
  for (uint64_t now = now_ns(); now < deadline; now = now_ns()) {
    pollfd done{t_done[0], POLLIN, 0};
    const uint64_t left = deadline - now;
    timespec wait{static_cast<time_t>(left / 1'000'000'000), static_cast<long>(left % 1'000'000'000)};
    if (raw(SYS_ppoll, &done, 1, &wait, nullptr, sizeof(uint64_t)) >= 0 || errno != EINTR) break;
  }
  close_both();
  errno = saved;
}

/// Writes no global before the copy is in place: until then the globals are the parent's.
RAILSHMEM_BARE void in_child() {
  if (g_process.fork.range.fd < 0) {
    g_process.fork.under_way = 0;
    return;
  }
  const int saved = errno;
  if (move_to_private(g_process.fork.range) != 0) {
    static constexpr char kMessage[] = "railshmem: no memory for a forked child's copy of the globals\n";
    raw(SYS_write, 2, kMessage, sizeof kMessage - 1);
    raw(SYS_exit_group, 127);
  }
  const int fd = g_process.fork.range.fd;
  g_process.fork.range = PageRange{};
  g_process.fork.under_way = 0;  // only this thread was inherited
  raw(SYS_close, fd);
  close_both();
  errno = saved;
}

/// Registered while the library is loaded, not at first need: a fork() that another thread has begun by then would not
/// call handlers registered in its middle.
[[gnu::constructor]] void register_handlers() {
  g_process.fork.guarded = pthread_atfork(before_fork, in_parent, in_child) == 0;
}

}  // namespace

bool fork_guard_installed() noexcept {
  return g_process.fork.guarded;
}
bool fork_in_progress() noexcept {
  return __atomic_load_n(&g_process.fork.under_way, __ATOMIC_ACQUIRE) != 0;
}
PageRange guarded_range() noexcept {
  return g_process.fork.range;
}
void guard_range(const PageRange& range) noexcept {
  g_process.fork.range = range;
}

}  // namespace railshmem
