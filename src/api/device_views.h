// SPDX-License-Identifier: BSD-3-Clause
// The CUDA units of the program, and modules that it loads itself, each with a copy of the view of the job in its
// constant memory.
#pragma once

#include <cstddef>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "include/shmem/detail/world.h"

namespace railshmem {

/// Units come before main, and with shared libraries at any time; the view comes and goes with the library's start and
/// end. A unit and the view meet here, whichever comes first. Any thread.
class DeviceViews {
 public:
  /// Copies a view to the current device; 0 or an error of CUDA.
  using Fill = std::function<int(const void* view, size_t nbytes)>;
  /// Tells units apart.
  using Key = const void*;

  /// Returns the one of this process.
  static DeviceViews& instance() noexcept;

  /// A unit that comes while there is a view gets it at once. Returns what is wrong with it, or nothing.
  std::string add(Key key, Fill fill, size_t nbytes, unsigned version);
  /// Returns false where there is no unit of this key.
  bool remove(Key key) noexcept;
  /// Whether the program has kernels that may communicate.
  bool any() const;

  /// Gives the view to all units, present and future, with the PE's device current. Throws Error when a unit was
  /// compiled with other headers or the copy fails.
  void set(const WorldView& view);
  /// Units get a view of no job: kernels that start now find the library not running.
  void clear() noexcept;

 private:
  struct Unit {
    Key key;
    Fill fill;
    size_t nbytes;
    unsigned version;
  };
  static std::string fault(const Unit& unit, const WorldView& view);

  mutable std::mutex mutex_;
  std::vector<Unit> units_;
  std::optional<WorldView> view_;
};

}  // namespace railshmem
