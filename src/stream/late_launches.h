// SPDX-License-Identifier: BSD-3-Clause
// Tells the user of a CUDA graph that is launched after shmem_finalize although it captured a collective of a node.
#pragma once

#include <atomic>
#include <cstdlib>
#include <memory>
#include <thread>

#include "include/shmem/detail/fault.h"
#include "src/cuda/pinned.h"

namespace railshmem {

/// A thread that looks at one record, and ends the process when a kernel has written there. Nothing here is the
/// driver's memory, since the thread lives on when a program resets its GPU or ends.
class LateLaunches {
 public:
  /// `pe`: for messages. Throws Error.
  LateLaunches(const cuda::DeviceContext& gpu, int pe);
  LateLaunches(const LateLaunches&) = delete;  // the thread holds its address
  ~LateLaunches();

  /// The record, as an address of kernels.
  FaultRecord* record() const noexcept { return reinterpret_cast<FaultRecord*>(pinned_.device()); }

 private:
  void run() noexcept;

  struct Free {
    void operator()(std::byte* page) const noexcept { std::free(page); }
  };
  const int pe_;
  const std::unique_ptr<std::byte, Free> page_;
  const cuda::HostRegistration pinned_;
  std::atomic<bool> stop_{false};
  std::thread thread_;  // last: it uses everything above
};

}  // namespace railshmem
