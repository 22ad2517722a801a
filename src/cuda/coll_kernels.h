// SPDX-License-Identifier: BSD-3-Clause
// Kernels of collectives among the members of a node.
#pragma once

#include <string>

#include "src/cuda/kernels/coll_call.h"
#include "src/cuda/loaded_kernels.h"

namespace railshmem::cuda {

/// Any number of threads. Launches may be captured into graphs. All members launch a call with equal blocks and
/// threads.
class CollKernels {
 public:
  struct Grid {
    unsigned blocks, threads;
  };

  /// Throws Error where the library has no kernels or the driver does not load them.
  CollKernels(const DeviceContext& gpu, DeviceCopies& copies, const WorldView& view);

  /// Gives the kernels another view of the job. Throws Error.
  void show(DeviceCopies& copies, const WorldView& view) const { kernels_.show(copies, view); }

  /// Appends the call to a stream. The driver's word. Those of even blocks: `units` is how many a thread handles at a
  /// time, one or cuda::kUnitsOfThread; a kernel with several is slower to start, and sends fewer packets.
  Result give(const EvenMoveCall& call, uint32_t units, Grid grid, Stream stream) const noexcept;
  Result give(const MoveCall& call, Grid grid, Stream stream) const noexcept;
  Result give(const MoveSizesCall& call, Grid grid, Stream stream) const noexcept;
  /// Whether there is a kernel for these calls alone.
  static bool has_own_kernel(TypeKind kind, ReduceOp op) noexcept;
  Result give(const EvenCombineCall& call, uint32_t units, Grid grid, Stream stream) const noexcept;
  Result give(const CombineCall& call, Grid grid, Stream stream) const noexcept;
  Result give(const DirectMoveCall& call, Grid grid, Stream stream) const noexcept;
  Result give(const DirectCombineCall& call, Grid grid, Stream stream) const noexcept;
  /// In chunks, through scratch memory of the receivers.
  Result give_staged(const MoveCall& call, Grid grid, Stream stream) const noexcept;
  Result give_staged(const CombineCall& call, Grid grid, Stream stream) const noexcept;
  Result give(const PieceCombineCall& call, Grid grid, Stream stream) const noexcept;
  /// Members need not launch it with equal blocks.
  Result give(const OwnBlockCall& call, Grid grid, Stream stream) const noexcept;
  /// The kernels before and behind the copies of engines.
  Result begin(const EngineMoveCall& call, Grid grid, Stream stream) const noexcept;
  Result end(const EngineMoveCall& call, Grid grid, Stream stream) const noexcept;

 private:
  /// Of one type; by packets in one step, in one step of several units a thread, and in two steps; and staged.
  struct Sums {
    Sums(const LoadedKernels& kernels, const std::string& type)
        : whole(kernels.find(("railshmem_coll_sum_" + type).c_str())),
          whole_long(kernels.find(("railshmem_coll_sum_" + type + "_long").c_str())),
          parts(kernels.find(("railshmem_coll_sum_" + type + "_parts").c_str())),
          staged(kernels.find(("railshmem_coll_staged_sum_" + type).c_str())) {}
    Function whole, whole_long, parts, staged;
  };
  const Sums& sums_of(TypeKind kind) const noexcept {
    return kind == TypeKind::f32 ? float_ : kind == TypeKind::f16 ? half_ : bfloat16_;
  }

  const LoadedKernels kernels_;
  const Sums float_, half_, bfloat16_;
  const Function move_even_, move_even_long_, move_, move_sizes_, combine_, direct_move_, direct_combine_, staged_move_,
      staged_combine_, begin_, end_, own_block_, pieces_;
};

}  // namespace railshmem::cuda
