// SPDX-License-Identifier: BSD-3-Clause
#include "transports/ofi/memory_monitor.h"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <system_error>

#include "src/base/error.h"
#include "src/base/log.h"
#include "src/base/thread.h"

namespace railshmem::ofi {
namespace {

#ifndef UFFD_USER_MODE_ONLY
constexpr int kUserModeOnly = 1;  // Linux 5.11: needs no privilege, and system calls never wait for us
#else
constexpr int kUserModeOnly = UFFD_USER_MODE_ONLY;
#endif
// Numbers of the kernel's interface, which older headers lack.
constexpr uint64_t kShmemAndHugePages = 1u << 12;  // Linux 5.19
constexpr uint64_t kAnyMapping = 1u << 15;         // Linux 6.7: files too
constexpr uint64_t kNeeded =
    UFFD_FEATURE_PAGEFAULT_FLAG_WP | UFFD_FEATURE_EVENT_UNMAP | UFFD_FEATURE_EVENT_REMOVE | UFFD_FEATURE_EVENT_REMAP;

/// With the wanted features, of which a descriptor learns only once; none (0) to ask what there is.
UniqueFd open_faults(uint64_t features, uint64_t& offered, std::string& why) {
  const auto call = [](int flags) {
    return static_cast<int>(syscall(SYS_userfaultfd, flags | O_CLOEXEC | O_NONBLOCK));
  };
  UniqueFd fd(call(kUserModeOnly));
  if (!fd && errno == EINVAL) fd = UniqueFd(call(0));
  if (!fd) {
    why = text("userfaultfd: %s", std::strerror(errno));
    return {};
  }
  uffdio_api api{};
  api.api = UFFD_API;
  api.features = features;
  if (ioctl(fd.get(), UFFDIO_API, &api) != 0) {
    why = text("UFFDIO_API: %s", std::strerror(errno));
    return {};
  }
  offered = api.features;
  return fd;
}

}  // namespace

std::unique_ptr<MemoryMonitor> MemoryMonitor::make(std::string& why) {
  uint64_t offered = 0;
  if (!open_faults(0, offered, why)) return nullptr;
  if ((offered & kNeeded) != kNeeded) {
    why = text("this kernel's userfaultfd lacks events (features 0x%llx)", static_cast<unsigned long long>(offered));
    return nullptr;
  }
  UniqueFd faults = open_faults(kNeeded | (offered & (kShmemAndHugePages | kAnyMapping)), offered, why);
  if (!faults) return nullptr;
  UniqueFd stop(eventfd(0, EFD_CLOEXEC));
  if (!stop) {
    why = text("eventfd: %s", std::strerror(errno));
    return nullptr;
  }
  try {
    return std::unique_ptr<MemoryMonitor>(new MemoryMonitor(std::move(faults), std::move(stop)));
  } catch (const Error& error) {
    why = error.what();
    return nullptr;
  }
}

MemoryMonitor::MemoryMonitor(UniqueFd faults, UniqueFd stop) : faults_(std::move(faults)), stop_(std::move(stop)) {
  thread_ = start_thread({"railshmem-pages", "the memory monitor"}, log_pe(), [this] { run(); });
}

MemoryMonitor::~MemoryMonitor() {
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(stop_.get(), &one, sizeof one);  // cannot fail: the counter is 0
  thread_.join();  // who unmaps from here on waits until the descriptor is closed, which is next
}

bool MemoryMonitor::watch(const PageRange& pages) noexcept {
  const std::lock_guard lock(watch_mutex_);
  uffdio_register wanted{};
  wanted.range = {pages.begin, pages.nbytes()};
  wanted.mode = UFFDIO_REGISTER_MODE_WP;
  // Also when the range is counted already: it may have been mapped anew meanwhile.
  if (ioctl(faults_.get(), UFFDIO_REGISTER, &wanted) != 0) return false;
  try {
    watched_.add(pages);
  } catch (const std::bad_alloc&) {
    return false;  // watched forever: only costs events
  }
  return true;
}

void MemoryMonitor::unwatch(const PageRange& pages) noexcept {
  const std::lock_guard lock(watch_mutex_);
  const auto disarm = [&](const PageRange& free) {
    uffdio_range range{free.begin, free.nbytes()};
    ioctl(faults_.get(), UFFDIO_UNREGISTER, &range);  // fails where nothing is mapped any more, as it should
  };
  try {
    watched_.remove(pages, disarm);
  } catch (const std::bad_alloc&) {  // pages stay counted: only costs events
  }
}

void MemoryMonitor::run() noexcept {
  pollfd fds[] = {{faults_.get(), POLLIN, 0}, {stop_.get(), POLLIN, 0}};
  while (true) {
    if (poll(fds, 2, -1) < 0) {
      if (errno == EINTR) continue;
      die("the thread that watches memory cannot poll: %s; SHMEM_OFI_MR_CACHE_COUNT=0 does without it",
          std::strerror(errno));
    }
    if (fds[1].revents != 0) return;
    if (fds[0].revents == 0) continue;
    const std::lock_guard lock(log_mutex_);
    // Before the read, which lets the unmapping thread go. release: pairs with quiet_since(). Who sees it and takes
    // the lock waits until the events are in the log.
    batches_.store(batches_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
    while (read_batch()) {
    }
  }
}

bool MemoryMonitor::read_batch() noexcept {
  uffd_msg messages[16];
  const ssize_t nbytes = read(faults_.get(), messages, sizeof messages);
  if (nbytes <= 0) return false;
  for (size_t i = 0; i < static_cast<size_t>(nbytes) / sizeof(uffd_msg); ++i) {
    const uffd_msg& message = messages[i];
    if (message.event == UFFD_EVENT_UNMAP || message.event == UFFD_EVENT_REMOVE)
      record({message.arg.remove.start, message.arg.remove.end});
    if (message.event == UFFD_EVENT_REMAP)
      record({message.arg.remap.from, message.arg.remap.from + message.arg.remap.len});
  }
  return true;
}

void MemoryMonitor::record(const PageRange& gone) noexcept {
  log_[events_++ % kLog] = gone;
}

size_t MemoryMonitor::copy_log(Seen& seen, std::array<PageRange, kLog>& ranges) noexcept {
  const std::lock_guard lock(log_mutex_);
  size_t n = 0;
  if (events_ - seen.events > kLog) {
    ranges[n++] = kAllMemory;
  } else {
    for (uint64_t i = seen.events; i != events_; ++i) ranges[n++] = log_[i % kLog];
  }
  // relaxed: written under the lock.
  seen = {batches_.load(std::memory_order_relaxed), events_};
  return n;
}

MemoryMonitor::Seen MemoryMonitor::now() noexcept {
  const std::lock_guard lock(log_mutex_);
  return {batches_.load(std::memory_order_relaxed), events_};
}

}  // namespace railshmem::ofi
