// SPDX-License-Identifier: BSD-3-Clause
// Brings the device heap to the network's rails, extent by extent, where they reach GPU memory themselves.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "src/base/env.h"
#include "src/base/unique.h"
#include "src/cuda/rdma_flush.h"
#include "src/gpu/device_memory.h"
#include "src/plugin/bootstrap.h"
#include "src/plugin/flush.h"
#include "src/plugin/network.h"

namespace railshmem {

/// Where the rails of a PE cannot reach its GPU memory, all other PEs stage their transfers with it. Its own rails
/// still reach the GPU memory of other PEs.
class GpuRails {
 public:
  /// How rails are flushed until a GPU is attached. Until then rails write host memory only.
  static FlushChoice flush_at_start(const Env& env, bool device_heap);

  /// Collective. `memory` must be attached; all arguments outlive this. `flush_offset`: see Network::use_flush().
  /// Throws Error on all PEs where SHMEM_OFI_HMEM asks for something that one of them lacks.
  GpuRails(const Env& env, Network& network, Bootstrap& bootstrap, DeviceMemory& memory, size_t flush_offset,
           size_t pes_of_node);

  /// Collective: brings memory to the rails that is new since the last call. Throws Error.
  void expose();
  /// A line for SHMEM_INFO=1: how rails are flushed, and whether GPU memory needs it.
  std::string describe() const;

 private:
  bool prepare();
  std::vector<std::byte> expose(DeviceExtent& extent);
  bool is_asked_for() const noexcept;

  const Env& env_;
  Network& network_;
  Bootstrap& bootstrap_;
  DeviceMemory& memory_;
  const size_t flush_offset_;
  const size_t pes_of_node_;
  std::unique_ptr<cuda::RdmaFlush> device_flush_;
  FlushChoice flush_;
  bool mine_ = false;    ///< rails take this PE's extents
  bool active_ = false;  ///< the rails of some PE take its extents; all PEs agree
  std::string why_not_;
  std::vector<size_t> exposed_;  ///< begins of the extents that rails know
  std::vector<UniqueFd> dma_bufs_;
};

}  // namespace railshmem
