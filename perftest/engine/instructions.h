// SPDX-License-Identifier: BSD-3-Clause
// Counts the instructions that the calling thread retires in user space, where the system allows it.
#pragma once

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <optional>

namespace railshmem::perftest {

class Instructions {
 public:
  Instructions() noexcept {
    perf_event_attr attr{};
    attr.type = PERF_TYPE_HARDWARE;
    attr.size = sizeof attr;
    attr.config = PERF_COUNT_HW_INSTRUCTIONS;
    attr.exclude_kernel = 1;
    attr.exclude_hv = 1;
    fd_ = static_cast<int>(syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0));
  }
  ~Instructions() {
    if (fd_ >= 0) close(fd_);
  }
  Instructions(const Instructions&) = delete;

  /// Nothing where the machine has no such counter, as in most virtual machines.
  std::optional<uint64_t> read() const noexcept {
    uint64_t count = 0;
    if (fd_ < 0 || ::read(fd_, &count, sizeof count) != sizeof count) return {};
    return count;
  }

 private:
  int fd_ = -1;
};

}  // namespace railshmem::perftest
