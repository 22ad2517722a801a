// SPDX-License-Identifier: BSD-3-Clause
// Host calls on memory of the GPUs (DeviceAccess).
#pragma once

#include <memory>
#include <mutex>
#include <optional>

#include "src/cuda/plain_copies.h"
#include "src/cuda/reduce_kernel.h"
#include "src/cuda/word_kernel.h"
#include "src/gpu/device_memory.h"
#include "src/plugin/device_access.h"

namespace railshmem {

class DeviceSide final : public DeviceAccess {
 public:
  /// `memory` must be attached, and outlive this.
  /// Loads the library's kernels: loading them later could wait for kernels that wait for this PE. Throws Error.
  explicit DeviceSide(DeviceMemory& memory);

  bool is_device(const void* address) noexcept override;
  void copy(void* to, const void* from, size_t nbytes) noexcept override;
  void copy_all(std::span<const DeviceCopy> copies) noexcept override;
  bool reduce(const DeviceReduction& reduction) noexcept override;
  bool has_reducer() noexcept override;
  std::unique_ptr<DeviceQueue> make_queue() override;
  bool updates_directly(const void* symmetric) noexcept override {
    return memory_.updates_of(symmetric) == Updates::node_only;
  }
  uint64_t amo(void* word, uint8_t width, AmoOp op, uint64_t operand, uint64_t compare) noexcept override;

 private:
  void load_words();
  void load_reducer() noexcept;
  bool in_heaps(const void* address) const noexcept;
  void work_beside_program();

  DeviceMemory& memory_;
  std::once_flag words_made_;
  std::unique_ptr<cuda::WordKernel> words_;  ///< made at first use
  std::once_flag reducer_made_;
  std::unique_ptr<cuda::ReduceKernel> reducer_;  ///< made at first use
  std::optional<cuda::PlainCopies> plain_;       ///< where the library has a context of its own, and kernels
  std::unique_ptr<cuda::DeviceCopies> beside_;   ///< in that context; null if none exists
  cuda::DeviceCopies* copies_;                   ///< whichever there is
};

}  // namespace railshmem
