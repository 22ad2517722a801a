// SPDX-License-Identifier: BSD-3-Clause
// Kernels of collectives among the members of a node.
#pragma once

#include "src/cuda/kernels/coll_call.h"
#include "src/cuda/loaded_kernels.h"

namespace railshmem::cuda {

/// Any number of threads. Launches may be captured into graphs. All members launch a call with equal blocks and threads.
class CollKernels {
 public:
  struct Grid {
    unsigned blocks, threads;
  };

  /// Throws Error where the library has no kernels or the driver does not load them.
  CollKernels(const DeviceContext& gpu, DeviceCopies& copies, const WorldView& view);

  /// Appends the call to a stream. The driver's word.
  Result give(const MoveCall& call, Grid grid, Stream stream) const noexcept;
  Result give(const MoveSizesCall& call, Grid grid, Stream stream) const noexcept;
  Result give(const CombineCall& call, Grid grid, Stream stream) const noexcept;
  Result give(const DirectMoveCall& call, Grid grid, Stream stream) const noexcept;
  Result give(const DirectCombineCall& call, Grid grid, Stream stream) const noexcept;
  /// The kernels before and behind the copies of engines.
  Result begin(const EngineMoveCall& call, Grid grid, Stream stream) const noexcept;
  Result end(const EngineMoveCall& call, Grid grid, Stream stream) const noexcept;

 private:
  const LoadedKernels kernels_;
  const Function move_, move_sizes_, combine_, direct_move_, direct_combine_, begin_, end_;
};

}  // namespace railshmem::cuda
