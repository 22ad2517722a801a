// SPDX-License-Identifier: BSD-3-Clause
// Memory of this PE's GPU that other processes, NICs and NCCL can use: what shmemx_mem_alloc gives.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>

#include "src/cuda/mapped_range.h"

namespace railshmem {

/// Any number of threads.
class LocalMemory {
 public:
  explicit LocalMemory(const cuda::DeviceContext& gpu) noexcept : gpu_(gpu) {}
  LocalMemory(const LocalMemory&) = delete;

  /// `nbytes` rounded up to whole granules of the GPU, and of 2 MiB, which multicast objects ask for. Throws Error.
  static size_t rounded(const cuda::DeviceContext& gpu, size_t nbytes);
  /// New memory of rounded() bytes at an address that is a multiple of 2 MiB. Its bytes are undefined. Throws Error.
  std::byte* allocate(size_t nbytes);
  /// Throws Error where allocate() did not return `address`.
  void require(const void* address) const;
  /// Kernels and copies that use it must be over.
  void release(const void* address);

 private:
  const cuda::DeviceContext& gpu_;
  mutable std::mutex mutex_;
  std::map<const std::byte*, std::unique_ptr<cuda::MappedRange>> ranges_;
};

}  // namespace railshmem
