// SPDX-License-Identifier: BSD-3-Clause
#include "src/base/fd_ticket.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "src/base/error.h"
#include "src/base/fds.h"
#include "src/base/fingerprint.h"
#include "src/base/host_socket.h"

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434  // on all architectures, since Linux 5.3
#endif
#ifndef SYS_pidfd_getfd
#define SYS_pidfd_getfd 438  // on all architectures, since Linux 5.6
#endif

namespace railshmem {
namespace {

constexpr time_t kPatienceSeconds = 10;  // the other side answers in microseconds, or not at all

/// Field 22 of /proc/<pid>/stat, in ticks since boot; 0 where it cannot be read.
uint64_t start_of(int64_t pid) {
  const std::string line = read_file("/proc/" + std::to_string(pid) + "/stat");
  const size_t name_end = line.rfind(')');  // the name may hold blanks
  if (name_end == std::string::npos) return 0;
  size_t at = name_end + 1;
  for (int field = 3; field <= 22; ++field) {
    at = line.find_first_not_of(' ', at);
    if (at == std::string::npos) return 0;
    if (field == 22) return std::strtoull(line.c_str() + at, nullptr, 10);
    at = line.find(' ', at);
    if (at == std::string::npos) return 0;
  }
  return 0;
}

UniqueFd take_by_pidfd(const FdTicket& ticket, std::string& why) {
  if (ticket.pid_namespace != pid_namespace()) {
    why = "it runs in another PID namespace";
    return UniqueFd();
  }
  if (const uint64_t started = start_of(ticket.pid); started != 0 && started != ticket.started) {
    why = "a process of that number is another one here";
    return UniqueFd();
  }
  if (ticket.pid == getpid()) {
    UniqueFd fd(fcntl(static_cast<int>(ticket.fd), F_DUPFD_CLOEXEC, 3));
    if (!fd) why = text("fcntl: %s", std::strerror(errno));
    return fd;
  }
  const UniqueFd process(static_cast<int>(syscall(SYS_pidfd_open, static_cast<pid_t>(ticket.pid), 0)));
  if (!process) {
    why = text("pidfd_open: %s", std::strerror(errno));
    return UniqueFd();
  }
  UniqueFd fd(static_cast<int>(syscall(SYS_pidfd_getfd, process.get(), static_cast<int>(ticket.fd), 0)));
  if (!fd) why = text("pidfd_getfd: %s", std::strerror(errno));
  return fd;
}

UniqueFd take_by_socket(const FdTicket& ticket, std::string& why) {
  if (ticket.socket[0] == '\0') {
    why = "it has no socket for that";
    return UniqueFd();
  }
  const UniqueFd socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  const timeval patience{kPatienceSeconds, 0};
  const AbstractAddress server(ticket.socket);
  const char* step = "socket";
  if (socket) {
    setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    step = "connect";
    if (uninterrupted([&] { return connect(socket.get(), server.get(), server.nbytes()); }) == 0) {
      // A process of any user may have taken the name, so a descriptor from another user is refused.
      if (!is_trusted(socket.get())) {
        why = "its socket belongs to another user";
        return UniqueFd();
      }
      step = "send";
      const auto& key = ticket.key;
      if (uninterrupted([&] { return send(socket.get(), key.data(), sizeof key, MSG_NOSIGNAL); }) == sizeof key) {
        step = "receive";
        if (UniqueFd fd = receive_fd(socket.get())) return fd;
      }
    }
  }
  why = text("%s: %s", step,
             errno == EAGAIN   ? "no answer within 10 s"
             : errno == ENOENT ? "it does not offer this one any more"
                               : std::strerror(errno));
  return UniqueFd();
}

}  // namespace

void sign_ticket(FdTicket& ticket) {
  ticket.pid = getpid();
  ticket.pid_namespace = pid_namespace();
  ticket.started = start_of(ticket.pid);
}

UniqueFd take_fd(const FdTicket& ticket, FdWay way) {
  std::string by_pidfd = "not tried";
  std::string by_socket = "not tried";
  if (way != FdWay::socket)
    if (UniqueFd fd = take_by_pidfd(ticket, by_pidfd)) return fd;
  if (way != FdWay::pidfd)
    if (UniqueFd fd = take_by_socket(ticket, by_socket)) return fd;
  throw Error(
      text("cannot take file descriptor %lld of process %lld, neither as its tracer (%s) nor over its socket "
           "(%s); run the PEs of a host as one user in one network namespace (docker --net=host), or let them "
           "trace each other (docker --cap-add=SYS_PTRACE)",
           static_cast<long long>(ticket.fd), static_cast<long long>(ticket.pid), by_pidfd.c_str(), by_socket.c_str()));
}

}  // namespace railshmem
