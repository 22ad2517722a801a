// SPDX-License-Identifier: BSD-3-Clause
// How many files oshrun may have open.
#pragma once

#include <sys/resource.h>

#include <cstddef>

namespace railshmem::oshrun {

class Descriptors {
 public:
  /// Raises the soft limit to the hard one.
  Descriptors() noexcept;
  /// Throws Error where the limit leaves no room for `per_pe` descriptors for each of `npes` PEs.
  void need(int npes, int per_pe) const;
  /// In a child: the limit that oshrun was started with.
  void restore() const noexcept;

 private:
  rlimit before_{};
  rlimit now_{};
};

/// Of this process, open now.
size_t open_descriptors();

}  // namespace railshmem::oshrun
