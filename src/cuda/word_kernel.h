// SPDX-License-Identifier: BSD-3-Clause
// Atomic operations on words of device memory by host threads, atomic to kernels of this GPU and of those that map it.
#pragma once

#include <cstdint>
#include <mutex>

#include "include/shmem/detail/amo.h"
#include "src/cuda/pinned.h"

namespace railshmem::cuda {

/// A kernel of one thread in a stream of its own and of high priority. It needs a place on a multiprocessor: one that
/// is full of waiting blocks makes it wait, until a deadline ends the job with a message. Any number of threads.
class WordKernel {
 public:
  /// Throws Error where the library has no kernels or the driver does not load them.
  explicit WordKernel(const DeviceContext& gpu);
  WordKernel(const WordKernel&) = delete;
  ~WordKernel();

  /// Returns the old value when the new one is there for everybody.
  uint64_t amo(void* word, uint8_t width, AmoOp op, uint64_t operand, uint64_t compare) noexcept;

 private:
  static constexpr uint64_t kPatienceNs = 20'000'000'000;

  const DeviceContext& gpu_;
  std::mutex mutex_;
  PinnedMemory old_;
  Module module_ = nullptr;
  Function function_ = nullptr;
  Stream stream_ = nullptr;
};

}  // namespace railshmem::cuda
