// SPDX-License-Identifier: BSD-3-Clause
// Where full buffers of events go until the end: a nameless file beside the timeline, up to a limit.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "src/base/unique.h"
#include "src/observe/kind.h"

namespace railshmem::observe {

/// Not thread-safe: the Observer's mutex guards it.
class Spool {
 public:
  /// `path` is the timeline's: the file is in its folder. Throws Error.
  Spool(const std::string& path, uint64_t limit_nbytes);

  /// False when the limit is reached or the disk is full; then the events are lost.
  bool append(int thread, std::span<const Event> events) noexcept;
  /// Calls `take` with every batch, in the order of append().
  void read(const std::function<void(int thread, std::span<const Event>)>& take) const;

 private:
  struct Header {
    int thread;
    uint32_t events;
  };
  UniqueFd fd_;
  const uint64_t limit_;
  uint64_t nbytes_ = 0;
};

}  // namespace railshmem::observe
