// SPDX-License-Identifier: BSD-3-Clause
// Owner of memory in which a collective's buffer is.
#pragma once

#include "perftest/device/coll/library.h"
#include "perftest/device/context.cuh"

namespace railshmem::perf::gpu::coll {

/// Construction and destruction are collective.
class Buffer {
 public:
  Buffer(Memory memory, size_t nbytes) : memory_(memory), held_(hold(memory, nbytes)) {}
  ~Buffer() {
    if (!giving_up()) let_go(memory_, held_);
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  /// Null where the library has no memory of this kind; missing() says why.
  char* at() const { return static_cast<char*>(held_.at); }
  const std::string& missing() const { return held_.missing; }

 private:
  Memory memory_;
  Held held_;
};

}  // namespace railshmem::perf::gpu::coll
