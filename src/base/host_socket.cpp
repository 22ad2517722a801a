// SPDX-License-Identifier: BSD-3-Clause
#include "src/base/host_socket.h"

#include <poll.h>
#include <sys/random.h>
#include <sys/time.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>

#include "src/base/error.h"
#include "src/base/log.h"
#include "src/base/process.h"
#include "src/base/system_limits.h"

namespace railshmem {
namespace {

constexpr int kWaiting = 128;             // clients that have connected and are not served yet
constexpr timeval kClientPatience{1, 0};  // who connects sends its message at once; the next one waits meanwhile

/// A message of one byte with room for one descriptor. It points into itself.
struct FdMessage {
  FdMessage() noexcept {
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    header.msg_control = control;
    // Not all of `control`, which has room for two: a second descriptor would stay open here, and nobody would know.
    header.msg_controllen = CMSG_LEN(sizeof(int));
  }
  FdMessage(const FdMessage&) = delete;

  char byte = 0;
  iovec part{&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))]{};
  msghdr header{};
};

bool is_lack(int error) noexcept {
  return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}

void rest_for_lack(int error, int stop) noexcept {
  try {
    if (!g_process.warned.refused_connections.exchange(true))
      log_warn("PEs of this host wait for this one, which cannot accept their connections: %s",
               refusal_text(error).c_str());
  } catch (const std::exception&) {  // no memory for the text
  }
  pollfd wait{stop, POLLIN, 0};
  poll(&wait, 1, 100);
}

}  // namespace

AbstractAddress::AbstractAddress(std::span<const char> name) noexcept {
  address_.sun_family = AF_UNIX;
  const size_t length = strnlen(name.data(), std::min(name.size(), sizeof address_.sun_path - 1));
  std::memcpy(address_.sun_path + 1, name.data(), length);
  nbytes_ = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + length);
}

bool is_trusted(int socket) noexcept {
  ucred other{};
  socklen_t nbytes = sizeof other;
  return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &other, &nbytes) == 0 &&
         (other.uid == geteuid() || other.uid == 0);
}

std::array<uint64_t, 2> unguessable() {
  std::array<uint64_t, 2> number{};
  check_errno(getrandom(number.data(), sizeof number, 0) == sizeof number, "getrandom");
  return number;
}

PrivateSocket listen_privately() {
  PrivateSocket made;
  made.listener = UniqueFd(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  made.name = text("railshmem-%016llx", static_cast<unsigned long long>(unguessable()[0]));
  const AbstractAddress address(made.name);
  if (made.listener && bind(made.listener.get(), address.get(), address.nbytes()) == 0 &&
      listen(made.listener.get(), kWaiting) == 0)
    return made;
  log_debug("no socket for peers of this host: %s", std::strerror(errno));
  return {};
}

UniqueFd accept_trusted(int listener, int stop) noexcept {
  UniqueFd client(accept4(listener, nullptr, nullptr, SOCK_CLOEXEC));
  if (!client && is_lack(errno)) rest_for_lack(errno, stop);
  if (!client || !is_trusted(client.get())) return {};
  setsockopt(client.get(), SOL_SOCKET, SO_RCVTIMEO, &kClientPatience, sizeof kClientPatience);
  setsockopt(client.get(), SOL_SOCKET, SO_SNDTIMEO, &kClientPatience, sizeof kClientPatience);
  return client;
}

bool send_fd(int socket, int fd) noexcept {
  FdMessage message;
  cmsghdr* const header = CMSG_FIRSTHDR(&message.header);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(header), &fd, sizeof fd);
  return uninterrupted([&] { return sendmsg(socket, &message.header, MSG_NOSIGNAL); }) == 1;
}

UniqueFd receive_fd(int socket) noexcept {
  FdMessage message;
  const ssize_t got = uninterrupted([&] { return recvmsg(socket, &message.header, MSG_CMSG_CLOEXEC); });
  if (got < 0) return UniqueFd();
  // Whatever came with it is ours to close.
  UniqueFd received;
  const cmsghdr* const header = CMSG_FIRSTHDR(&message.header);
  if (header != nullptr && header->cmsg_type == SCM_RIGHTS && header->cmsg_len == CMSG_LEN(sizeof(int))) {
    int fd = -1;
    std::memcpy(&fd, CMSG_DATA(header), sizeof fd);
    received = UniqueFd(fd);
  }
  const bool cut = (message.header.msg_flags & MSG_CTRUNC) != 0;
  const bool found = static_cast<bool>(received);
  if (got != 1 || cut) received.reset();  // an empty message, or more than one descriptor: no answer of ours
  if (!received) errno = cut && !found ? EMFILE : ENOENT;
  return received;
}

}  // namespace railshmem
