// SPDX-License-Identifier: BSD-3-Clause
#include "src/base/fd_message.h"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>

namespace railshmem {
namespace {

union ControlBuffer {
  cmsghdr align;
  char bytes[CMSG_SPACE(sizeof(int))];
};

}  // namespace

AbstractAddress::AbstractAddress(const char* name) noexcept {
  address_.sun_family = AF_UNIX;
  const size_t length = std::min(std::strlen(name), sizeof address_.sun_path - 1);
  std::memcpy(address_.sun_path + 1, name, length);
  nbytes_ = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + length);
}

bool is_trusted(int socket) noexcept {
  ucred other{};
  socklen_t nbytes = sizeof other;
  return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &other, &nbytes) == 0 &&
         (other.uid == geteuid() || other.uid == 0);
}

bool send_fd(int socket, int fd) noexcept {
  char byte = 0;
  iovec part{&byte, 1};
  ControlBuffer control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.bytes;
  message.msg_controllen = sizeof control.bytes;
  cmsghdr* const header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(header), &fd, sizeof fd);
  return sendmsg(socket, &message, MSG_NOSIGNAL) == 1;
}

UniqueFd receive_fd(int socket) noexcept {
  char byte = 0;
  iovec part{&byte, 1};
  ControlBuffer control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.bytes;
  message.msg_controllen = sizeof control.bytes;
  ssize_t got = 0;
  do {
    got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  } while (got < 0 && errno == EINTR);
  if (got < 0) return UniqueFd();
  const cmsghdr* const header = CMSG_FIRSTHDR(&message);
  if (got == 0 || header == nullptr || header->cmsg_type != SCM_RIGHTS || header->cmsg_len != CMSG_LEN(sizeof(int))) {
    errno = (message.msg_flags & MSG_CTRUNC) != 0 ? EMFILE : ENOENT;
    return UniqueFd();
  }
  int fd = -1;
  std::memcpy(&fd, CMSG_DATA(header), sizeof fd);
  return UniqueFd(fd);
}

}  // namespace railshmem
