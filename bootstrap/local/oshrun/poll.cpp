// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/local/oshrun/poll.h"

#include <cerrno>

namespace railshmem::oshrun {

void Poll::add(int fd, short events, std::function<void()> ready) {
  fds_.push_back({fd, events, 0});
  ready_.push_back(std::move(ready));
}

void Poll::add(const Stream& stream, const std::function<void()>& ready) {
  if (!stream.open()) return;
  // Linux refuses more entries than descriptors are allowed (RLIMIT_NOFILE).
  const bool one = stream.output_fd() == stream.fd();
  add(stream.fd(), static_cast<short>(one && stream.has_output() ? POLLIN | POLLOUT : POLLIN), ready);
  if (!one && stream.has_output()) add(stream.output_fd(), POLLOUT, ready);
}

void Poll::wait(int timeout_ms) {
  const int n = ::poll(fds_.data(), fds_.size(), timeout_ms);
  if (n < 0 && errno == EINTR) return;
  check_errno(n >= 0, "poll");
  for (size_t i = 0; n > 0 && i < fds_.size(); ++i)
    if (fds_[i].revents) ready_[i]();
}

}  // namespace railshmem::oshrun
