// SPDX-License-Identifier: BSD-3-Clause
// Sockets between processes of one host, and file descriptors over them.
#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <span>
#include <string>

#include "src/base/unique.h"

namespace railshmem {

/// A name that lives in the network namespace, not in the file system: nothing is left behind by whoever dies.
class AbstractAddress {
 public:
  /// The name ends at the first zero, or with the span: a peer may have filled a field of its descriptor to the end.
  explicit AbstractAddress(std::span<const char> name) noexcept;
  const sockaddr* get() const noexcept { return reinterpret_cast<const sockaddr*>(&address_); }
  socklen_t nbytes() const noexcept { return nbytes_; }

 private:
  sockaddr_un address_{};
  socklen_t nbytes_ = 0;
};

/// Whether a process of this user, or of root, is at the other end.
bool is_trusted(int socket) noexcept;

/// 128 random bits. Throws Error.
std::array<uint64_t, 2> unguessable();

/// A socket of message boundaries (SOCK_SEQPACKET) that does not block, at an abstract address.
struct PrivateSocket {
  UniqueFd listener;  ///< none where the system allows no such socket
  std::string name;   ///< at most 39 characters; for AbstractAddress
};

/// Throws Error only where there are no random numbers. Where there is no socket it logs why, for debugging.
PrivateSocket listen_privately();

/// The next client, once poll() says that there is one: it has 1 s for each message, because the next client waits
/// meanwhile. Empty when it is not to be trusted. Where this process has no descriptor left it warns once, and waits
/// until `stop` is readable, 100 ms at most: poll() would tell of the same client at once.
UniqueFd accept_trusted(int listener, int stop) noexcept;

/// What a system call returns when no signal interrupts it. A program may install handlers without SA_RESTART.
template <class Call>
auto uninterrupted(Call call) noexcept {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

/// One descriptor in a message of one byte. False, with errno, when it was not sent.
bool send_fd(int socket, int fd) noexcept;
/// Empty, with errno, when none came; ENOENT: the other end has none for us.
UniqueFd receive_fd(int socket) noexcept;

}  // namespace railshmem
