// SPDX-License-Identifier: BSD-3-Clause
// Owning handles: a value, the function that closes it, and the value that means "none".
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace railshmem {

/// Owns a handle H and closes it with `Close`; move-only because two owners would close twice.
template <class H, auto Close, H Null = H{}>
class Unique {
 public:
  Unique() = default;
  explicit Unique(H handle) noexcept : handle_(handle) {}
  Unique(Unique&& other) noexcept : handle_(std::exchange(other.handle_, Null)) {}
  Unique& operator=(Unique&& other) noexcept {
    if (this != &other) {
      reset();
      handle_ = std::exchange(other.handle_, Null);
    }
    return *this;
  }
  ~Unique() { reset(); }

  H get() const noexcept { return handle_; }
  explicit operator bool() const noexcept { return handle_ != Null; }
  H release() noexcept { return std::exchange(handle_, Null); }
  void reset() noexcept {
    if (handle_ != Null) Close(std::exchange(handle_, Null));
  }

 private:
  H handle_ = Null;
};

inline void close_fd(int fd) noexcept {
  ::close(fd);
}

/// Moves a descriptor out of 0 to 2, where system calls put one if the program was started with these closed: what the
/// program then prints would go into it. -1 and errno where no other one is left.
inline int above_standard(int fd) noexcept {
  if (fd < 0 || fd > STDERR_FILENO) return fd;
  const int moved = ::fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  const int failed = errno;
  ::close(fd);
  errno = failed;
  return moved;
}

/// Owns a descriptor, which is never one of 0 to 2. scripts/check_fds.py sees to it that each new one comes in here.
class UniqueFd : public Unique<int, close_fd, -1> {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int fd) noexcept : Unique(above_standard(fd)) {}
};

}  // namespace railshmem
