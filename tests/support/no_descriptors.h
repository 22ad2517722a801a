// SPDX-License-Identifier: BSD-3-Clause
// A process without free descriptors, for a test of what its threads do then.
#pragma once

#include <fcntl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <cstdint>
#include <string>

#include "src/base/log.h"

namespace railshmem::test {

class NoDescriptors {
 public:
  NoDescriptors() {
    getrlimit(RLIMIT_NOFILE, &before_);
    const int lowest_free = open("/dev/null", O_RDONLY | O_CLOEXEC);
    close(lowest_free);
    const rlimit now{static_cast<rlim_t>(lowest_free), before_.rlim_max};
    setrlimit(RLIMIT_NOFILE, &now);
  }
  ~NoDescriptors() { setrlimit(RLIMIT_NOFILE, &before_); }
  NoDescriptors(const NoDescriptors&) = delete;

 private:
  rlimit before_{};
};

/// CPU time of the process.
inline int64_t cpu_ms() {
  timespec used{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return used.tv_sec * 1000 + used.tv_nsec / 1'000'000;
}

/// What is wrong with threads that have a client and no descriptor for it: they warn once, and sleep meanwhile.
/// `invite` lets the client come, when no descriptor is left; false: it could not.
template <class Invite>
std::string wrong_for_lack_of_descriptors(Invite&& invite) {
  const uint64_t warned_before = warnings_logged();
  const NoDescriptors none;
  if (!invite()) return "nobody listens";
  for (int ms = 0; warnings_logged() == warned_before; ++ms) {
    if (ms > 30'000) return "no warning within 30 s";
    usleep(1000);
  }
  const int64_t used = cpu_ms();
  usleep(1'000'000);
  if (cpu_ms() - used > 500) return "it does not sleep";
  return warnings_logged() == warned_before + 1 ? "" : "more than one warning";
}

}  // namespace railshmem::test
