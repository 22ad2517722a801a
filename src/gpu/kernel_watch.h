// SPDX-License-Identifier: BSD-3-Clause
// Looks after kernels for the host: ends their waits when a peer has died, and the job when an operation of theirs
// failed.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "src/gpu/kernel_channels.h"

namespace railshmem {

/// "shmem_put in a kernel (block 3, thread 0): PE 9 does not exist; this job has PEs 0 to 3"
std::string describe(const FaultRecord& fault, int npes, const std::string& death);

/// Kernels cannot tell anybody themselves, and the program's threads may be waiting for a kernel.
class KernelWatch {
 public:
  /// A peer that died, as a sentence; empty while all live.
  using Death = std::function<std::optional<std::string>()>;

  KernelWatch(KernelChannels& channels, int pe, int npes, Death death);
  KernelWatch(const KernelWatch&) = delete;  // the thread holds its address
  ~KernelWatch();

 private:
  void run() noexcept;
  void look();

  KernelChannels& channels_;
  const int pe_;
  const int npes_;
  const Death death_;
  std::string dead_;  ///< that sentence, once
  int looks_ = 0;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stop_ = false;
  std::thread thread_;  // last: it uses everything above
};

}  // namespace railshmem
