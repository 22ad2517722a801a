// SPDX-License-Identifier: BSD-3-Clause
// Windows through which the CPU reads and writes memory of the GPU: SHMEM_GDRCOPY=1.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "src/cuda/gdr_api.h"

namespace railshmem::cuda {

class DeviceCopies;

/// Of one piece of GPU memory. Addresses are the GPU's and lie in the window. Any thread.
class CpuWindow {
 public:
  bool has(const std::byte* place, size_t nbytes) const noexcept {
    const auto at = static_cast<size_t>(place - device_);
    return at < nbytes_ && nbytes <= nbytes_ - at;
  }
  /// Stores bytes of host memory; an aligned word of 4 or 8 bytes appears whole. Later stores come behind it.
  void store(std::byte* to, const std::byte* from, size_t nbytes) const noexcept;
  /// At most 8 bytes; an aligned word is read whole.
  void load(std::byte* to, const std::byte* from, size_t nbytes) const noexcept;
  /// Returns when everything stored before is in the GPU's memory: a read across PCIe comes behind earlier writes.
  void settle(const std::byte* place) const noexcept;

 private:
  friend class CpuWindows;
  std::byte* at(const std::byte* place) const noexcept { return cpu_ + (place - device_); }

  std::byte* device_ = nullptr;
  size_t nbytes_ = 0;
  std::byte* cpu_ = nullptr;
  GdrHandle handle_{};
  int (*copy_to_)(GdrHandle, void*, const void*, size_t) = nullptr;
};

/// One thread adds windows while others use them.
class CpuWindows {
 public:
  /// Throws Error where the kernel module is missing.
  explicit CpuWindows(const GdrApi& api);
  ~CpuWindows();
  CpuWindows(const CpuWindows&) = delete;

  /// Maps memory that nobody uses yet, and looks, by `copies`, whether the window shows it. Throws Error.
  void add(std::byte* device, size_t nbytes, DeviceCopies& copies);
  /// The window that has these bytes; null where none has.
  const CpuWindow* find(const std::byte* place, size_t nbytes) const noexcept {
    // acquire: pairs with add(), whose window must be seen whole.
    const size_t n = count_.load(std::memory_order_acquire);
    for (size_t i = 0; i < n; ++i)
      if (windows_[i].has(place, nbytes)) return &windows_[i];
    return nullptr;
  }
  size_t nbytes() const noexcept;

 private:
  static constexpr size_t kMost = 256;  // chunks of a heap; later ones go by copies

  void close(const CpuWindow& window) noexcept;
  void check(const CpuWindow& window, std::byte* word, DeviceCopies& copies) const;

  const GdrApi api_;
  void* session_;
  std::array<CpuWindow, kMost> windows_;
  std::atomic<size_t> count_{0};
};

}  // namespace railshmem::cuda
