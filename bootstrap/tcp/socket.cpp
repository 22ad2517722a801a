// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/tcp/socket.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>

#include <cerrno>

namespace railshmem::tcp {
namespace {

void set_option(int fd, int level, int option, int value) noexcept {
  setsockopt(fd, level, option, &value, sizeof value);
}

/// Messages are small and answers awaited; keepalive finds hosts that vanished without a word.
void tune(int fd) noexcept {
  set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
  set_option(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
  set_option(fd, IPPROTO_TCP, TCP_KEEPIDLE, 10);
  set_option(fd, IPPROTO_TCP, TCP_KEEPINTVL, 5);
  set_option(fd, IPPROTO_TCP, TCP_KEEPCNT, 4);
}

}  // namespace

UniqueFd listen_on(const Address& address) noexcept {
  UniqueFd fd(socket(address.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd) return fd;
  // A port of a job that has just ended counts as free; one with a listener still does not.
  set_option(fd.get(), SOL_SOCKET, SO_REUSEADDR, 1);
  if (address.family() == AF_INET6) set_option(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, 0);
  if (bind(fd.get(), address.raw(), address.length) != 0 || listen(fd.get(), SOMAXCONN) != 0) {
    const int why = errno;
    fd.reset();
    errno = why;
  }
  return fd;
}

UniqueFd connect_to(const Address& address, Deadline deadline) noexcept {
  UniqueFd fd(socket(address.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd) return fd;
  int why = connect(fd.get(), address.raw(), address.length) == 0 ? 0 : errno;
  if (why == EINPROGRESS || why == EINTR) {
    pollfd wait{fd.get(), POLLOUT, 0};
    constexpr int kSliceMs = 100;
    while (poll(&wait, 1, deadline.slice_ms(kSliceMs)) <= 0 && !deadline.passed()) {
    }
    socklen_t length = sizeof why;
    why = ETIMEDOUT;
    if (wait.revents) getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &why, &length);
  }
  if (why == 0) {
    tune(fd.get());
    // A local port in the range that was tried can connect to itself; that is nobody.
    sockaddr_storage self{}, peer{};
    socklen_t self_length = sizeof self, peer_length = sizeof peer;
    getsockname(fd.get(), reinterpret_cast<sockaddr*>(&self), &self_length);
    if (getpeername(fd.get(), reinterpret_cast<sockaddr*>(&peer), &peer_length) != 0) why = errno;
    else if (self_length == peer_length && std::memcmp(&self, &peer, self_length) == 0) why = ECONNREFUSED;
  }
  if (why != 0) {
    fd.reset();
    errno = why;
  }
  return fd;
}

UniqueFd accept_from(int listener) noexcept {
  UniqueFd fd(accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (fd) tune(fd.get());
  return fd;
}

}  // namespace railshmem::tcp
