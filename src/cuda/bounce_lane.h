// SPDX-License-Identifier: BSD-3-Clause
// Copies that may go from or to pageable host memory, without the driver's own way of doing so.
#pragma once

#include <array>
#include <cstddef>

#include "src/cuda/copy_lane.h"
#include "src/cuda/pinned.h"
#include "src/cuda/plain_copies.h"
#include "src/plugin/device_access.h"

namespace railshmem::cuda {

/// Up to kMost bytes of pageable memory go by way of pinned memory of the lane. The driver would do that itself, but
/// under a lock of the process: a program's thread that copies to pageable memory holds it until the stream before that
/// copy is over, and the stream may wait for a copy of this lane. So the library's threads copy no more than kMost
/// bytes of pageable memory at once. More is of the program's own calls and goes the driver's way, which is faster
/// then.
///
///     lane.add(to, from, nbytes);   // any number, in any order
///     lane.finish();                // all are over
///
/// One thread at a time. Needs the device's context.
class BounceLane {
 public:
  /// `plain` may be null: copy engines copy everything. Throws Error.
  explicit BounceLane(const DeviceContext& gpu, const PlainCopies* plain = nullptr);

  /// Starts a copy, one side of which is the GPU's. An aligned word appears whole. Ends the job when the driver
  /// refuses.
  void add(void* to, const void* from, size_t nbytes) noexcept;
  void fill(void* to, unsigned char value, size_t nbytes) noexcept { lane_.fill(to, value, nbytes); }
  void finish() noexcept;

  /// On an H200 the driver needs 0.9 to 1.4 times as long up to 256 KiB, and 0.6 to 1.1 times as long from 1 MiB on.
  static constexpr size_t kMost = 256 << 10;

 private:
  static constexpr size_t kMostOut = 32;

  bool is_pageable(const void* address) const noexcept;
  std::byte* take(size_t nbytes) noexcept;
  void start(void* to, const void* from, size_t nbytes) noexcept;

  const DeviceContext& gpu_;
  const PlainCopies* const plain_;
  PinnedMemory pinned_;  // before the lane, whose destructor waits for copies
  CopyLane lane_;
  size_t used_ = 0;                         ///< of the pinned memory, by copies under way
  std::array<DeviceCopy, kMostOut> out_{};  ///< copies to pageable memory that finish() makes
  size_t outs_ = 0;
};

}  // namespace railshmem::cuda
