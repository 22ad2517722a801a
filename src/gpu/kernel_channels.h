// SPDX-License-Identifier: BSD-3-Clause
// The channels of one GPU's kernels: commands lie in pinned host memory, the producers' shared state in GPU memory.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "include/shmem/detail/fault.h"
#include "include/shmem/detail/world.h"
#include "src/channel/channel.h"
#include "src/cuda/device_copies.h"
#include "src/cuda/pinned.h"

namespace railshmem {

/// Memory for the data of kernels' puts: PayloadMemory::nbytes(log2_large) for each channel.
struct KernelPayloads {
  std::span<std::byte> memory = {};  ///< pinned, zero, and kept by the network for as long as channels are served
  uint32_t log2_large = 0;
};

/// Lives as long as kernels may run. Where all PEs are mapped there are no channels; then this only lets kernels and
/// host tell each other of failures.
class KernelChannels {
 public:
  /// Bytes of the GPU's memory that `n` channels need.
  static size_t device_nbytes(size_t n, uint32_t log2_slots) noexcept;

  /// `device` is zeroed memory of the GPU, aligned to a cache line, of device_nbytes(). Throws Error.
  KernelChannels(const cuda::DeviceContext& gpu, cuda::DeviceCopies& copies, std::byte* device, size_t n,
                 uint32_t log2_slots, const KernelPayloads& payloads = {});
  KernelChannels(const KernelChannels&) = delete;

  std::span<Channel* const> channels() const noexcept { return pointers_; }
  /// Tells kernels of the channels.
  void add_to(WorldView& view) const noexcept;
  /// Ends all waits of kernels with `why`, now and later.
  void fail(ChannelStatus why) noexcept;
  /// Returns the record of the first kernel that failed, once; otherwise null.
  const FaultRecord* take_fault() noexcept;

 private:
  struct Layout;

  cuda::PinnedMemory pinned_;  ///< slots, consumers' lines, reply cells, the fault record
  std::vector<std::unique_ptr<Channel>> channels_;
  std::vector<Channel*> pointers_;
  FaultRecord* fault_ = nullptr;
  uint64_t* error_ = nullptr;           ///< ChannelStatus of the job, in each line
  const ChannelView* views_ = nullptr;  ///< in the GPU's memory
  uint32_t* fault_taken_ = nullptr;     ///< in the GPU's memory
};

}  // namespace railshmem
