// SPDX-License-Identifier: BSD-3-Clause
// File descriptors over sockets between processes of one host.
#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include "src/base/unique.h"

namespace railshmem {

/// A name that lives in the network namespace, not in the file system: nothing is left behind by whoever dies.
class AbstractAddress {
 public:
  explicit AbstractAddress(const char* name) noexcept;
  const sockaddr* get() const noexcept { return reinterpret_cast<const sockaddr*>(&address_); }
  socklen_t nbytes() const noexcept { return nbytes_; }

 private:
  sockaddr_un address_{};
  socklen_t nbytes_ = 0;
};

/// Whether a process of this user, or of root, is at the other end.
bool is_trusted(int socket) noexcept;

/// One descriptor in a message of one byte. False, with errno, when it was not sent.
bool send_fd(int socket, int fd) noexcept;
/// Empty, with errno, when none came; ENOENT: the other end has none for us.
UniqueFd receive_fd(int socket) noexcept;

}  // namespace railshmem
