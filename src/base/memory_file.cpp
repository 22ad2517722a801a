// SPDX-License-Identifier: BSD-3-Clause
#include "src/base/memory_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "src/base/error.h"
#include "src/base/fingerprint.h"

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8u  // since Linux 6.3; hardened systems refuse a memfd without it
#endif

namespace railshmem {
namespace {

const char* remedy(int error) {
  switch (error) {
    case ENOENT:
    case ESRCH:
      return "no such process or file here; run the PEs of a host in one PID namespace (docker --pid=host)";
    case EACCES:
    case EPERM:
      return "not permitted; run the PEs as one user, not setuid, with the same capabilities (docker "
             "--cap-add=SYS_PTRACE), in one user namespace";
    case EMFILE:
    case ENFILE:
      return "too many open files; raise the limit (ulimit -n)";
    default:
      return "is /proc mounted?";
  }
}

/// The fd, or an empty one and the reason.
UniqueFd try_open(const PeerFd& peer, std::string& why) {
  const auto pid = static_cast<long long>(peer.pid);
  const auto number = static_cast<long long>(peer.fd);
  if (peer.host != kernel_id()) {
    why = text("process %lld runs on another host", pid);
    return UniqueFd();
  }
  UniqueFd fd(open(text("/proc/%lld/fd/%lld", pid, number).c_str(), O_RDWR | O_CLOEXEC));
  if (!fd) {
    const int error = errno;
    why = text("cannot open file descriptor %lld of process %lld: %s (%s)", number, pid, std::strerror(error),
               remedy(error));
    return fd;
  }
  struct stat found {};
  if (fstat(fd.get(), &found) != 0 || found.st_ino != peer.inode || found.st_dev != peer.device) {
    why = text(
        "process %lld is another one here than the peer means; run the PEs of a host in one PID namespace "
        "(docker --pid=host)",
        pid);
    fd.reset();
  }
  return fd;
}

}  // namespace

UniqueFd create_memory_file(const char* name, size_t nbytes, unsigned flags) noexcept {
  // ulimit -f counts for memory files too, and beyond it ftruncate would kill the process by SIGXFSZ.
  rlimit limit{};
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && nbytes > limit.rlim_cur) {
    errno = EFBIG;
    return UniqueFd();
  }
  UniqueFd fd(memfd_create(name, MFD_CLOEXEC | MFD_NOEXEC_SEAL | flags));
  if (!fd && errno == EINVAL) fd = UniqueFd(memfd_create(name, MFD_CLOEXEC | flags));
  if (!fd || ftruncate(fd.get(), static_cast<off_t>(nbytes)) == 0) return fd;
  const int failed = errno;
  fd.reset();
  errno = failed;
  return fd;
}

PeerFd describe_fd(int fd) {
  struct stat found {};
  check_errno(fstat(fd, &found) == 0, "fstat");
  return PeerFd{getpid(), fd, found.st_dev, found.st_ino, kernel_id()};
}

UniqueFd open_peer_fd(const PeerFd& peer) {
  std::string why;
  UniqueFd fd = try_open(peer, why);
  if (!fd) throw Error(why);
  return fd;
}

bool can_open_peer(const PeerFd& peer, std::string* why) {
  std::string reason;
  const bool reachable = static_cast<bool>(try_open(peer, reason));
  if (why != nullptr) *why = std::move(reason);
  return reachable;
}

}  // namespace railshmem
