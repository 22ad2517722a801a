// SPDX-License-Identifier: BSD-3-Clause
#include "src/proxy/sleeper.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <time.h>

#include <algorithm>
#include <array>

#include "src/base/error.h"
#include "src/proxy/rails/path_table.h"

namespace railshmem {

Sleeper::Sleeper() : eventfd_(UniqueFd(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC))) {
  check_errno(eventfd_.get() >= 0, "eventfd");
}

bool Sleeper::sleep(std::span<const int> fds, uint64_t limit_ns) noexcept {
  std::array<pollfd, 1 + kMostRails> sources;  // this eventfd and the rails of a port
  sources[0] = {eventfd_.get(), POLLIN, 0};
  const size_t n = std::min(fds.size(), sources.size() - 1);
  for (size_t i = 0; i < n; ++i) sources[i + 1] = {fds[i], POLLIN, 0};
  const timespec limit{static_cast<time_t>(limit_ns / 1000000000u), static_cast<long>(limit_ns % 1000000000u)};
  int ready = ppoll(sources.data(), n + 1, &limit, nullptr);
  if (ready > 0 && (sources[0].revents & POLLIN) != 0) {
    uint64_t wakes;
    [[maybe_unused]] const ssize_t got = ::read(eventfd_.get(), &wakes, sizeof wakes);
    --ready;
  }
  return ready > 0;
}

void Sleeper::wake() noexcept {
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t put = ::write(eventfd_.get(), &one, sizeof one);
}

}  // namespace railshmem
