// SPDX-License-Identifier: BSD-3-Clause
// Copies and reductions in the background, in streams of the library.
#pragma once

#include <array>

#include "src/cuda/copy_lane.h"
#include "src/cuda/pinned.h"
#include "src/cuda/plain_copies.h"
#include "src/cuda/reduce_kernel.h"
#include "src/plugin/device_access.h"

namespace railshmem {

/// The program's streams neither wait for these streams nor keep them waiting.
class LaneQueue final : public DeviceQueue {
 public:
  /// `reducer` is null where the library has no kernel; `plain` is null where copy engines copy everything. All
  /// arguments outlive this. Throws Error.
  LaneQueue(const cuda::DeviceContext& gpu, cuda::ReduceKernel* reducer, const cuda::PlainCopies* plain,
            DeviceAccess& access);

  Ticket copy(const DeviceCopy& copy, size_t lane) noexcept override;
  Ticket reduce(const DeviceReduction& reduction) noexcept override;
  bool finished(Ticket ticket) noexcept override;
  uint64_t& word() noexcept override { return *reinterpret_cast<uint64_t*>(word_.host()); }

 private:
  static constexpr size_t kKernels = kLanes;  // the lane of reductions
  static constexpr unsigned kLaneBits = 3;
  static Ticket ticket_of(size_t lane, uint64_t number) noexcept { return number << kLaneBits | lane; }

  const cuda::DeviceContext& gpu_;
  cuda::ReduceKernel* const reducer_;
  const cuda::PlainCopies* const plain_;
  DeviceAccess& access_;
  cuda::PinnedMemory word_;  // before the lanes, whose destructors wait for copies
  std::array<cuda::CopyLane, kLanes + 1> lanes_;
};

}  // namespace railshmem
