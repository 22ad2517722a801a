// SPDX-License-Identifier: BSD-3-Clause
// One turn of a loop: the descriptors that are open now, and what to do when one of them is ready.
#pragma once

#include <poll.h>

#include <functional>
#include <vector>

#include "bootstrap/common/stream.h"

namespace railshmem::oshrun {

class Poll {
 public:
  void add(int fd, short events, std::function<void()> ready);
  /// A stream's input, and its output where something waits to be written.
  void add(const Stream& stream, const std::function<void()>& ready);
  /// Calls what belongs to the ready descriptors, in the order in which they were added. Throws Error where the system
  /// refuses: that would repeat forever.
  void wait(int timeout_ms);

 private:
  std::vector<pollfd> fds_;
  std::vector<std::function<void()>> ready_;
};

}  // namespace railshmem::oshrun
