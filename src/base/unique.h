// SPDX-License-Identifier: BSD-3-Clause
// Owning handles: a value, the function that closes it, and the value that means "none".
#pragma once

#include <unistd.h>

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
using UniqueFd = Unique<int, close_fd, -1>;

}  // namespace railshmem
