// SPDX-License-Identifier: BSD-3-Clause
#include "src/cuda/coll_kernels.h"

#include "src/cuda/kernel_images.h"

namespace railshmem::cuda {

CollKernels::CollKernels(const DeviceContext& gpu, DeviceCopies& copies, const WorldView& view)
    : kernels_(gpu, copies, coll_kernels(), view),
      float_(kernels_, "float"),
      half_(kernels_, "half"),
      bfloat16_(kernels_, "bfloat16"),
      move_even_(kernels_.find("railshmem_coll_move_even")),
      move_even_long_(kernels_.find("railshmem_coll_move_even_long")),
      move_(kernels_.find("railshmem_coll_move")),
      move_sizes_(kernels_.find("railshmem_coll_move_sizes")),
      combine_(kernels_.find("railshmem_coll_combine")),
      direct_move_(kernels_.find("railshmem_coll_direct_move")),
      direct_combine_(kernels_.find("railshmem_coll_direct_combine")),
      staged_move_(kernels_.find("railshmem_coll_staged_move")),
      staged_combine_(kernels_.find("railshmem_coll_staged_combine")),
      begin_(kernels_.find("railshmem_coll_begin")),
      end_(kernels_.find("railshmem_coll_end")),
      own_block_(kernels_.find("railshmem_coll_own_block")),
      pieces_(kernels_.find("railshmem_coll_pieces")) {}

Result CollKernels::give(const EvenMoveCall& call, uint32_t units, Grid grid, Stream stream) const noexcept {
  return kernels_.launch(units == 1 ? move_even_ : move_even_long_, grid.blocks, grid.threads, call, stream);
}
Result CollKernels::give(const MoveCall& call, Grid grid, Stream stream) const noexcept {
  return kernels_.launch(move_, grid.blocks, grid.threads, call, stream);
}
Result CollKernels::give(const MoveSizesCall& call, Grid grid, Stream stream) const noexcept {
  return kernels_.launch(move_sizes_, grid.blocks, grid.threads, call, stream);
}
bool CollKernels::has_own_kernel(TypeKind kind, ReduceOp op) noexcept {
  return op == ReduceOp::sum && (kind == TypeKind::f32 || kind == TypeKind::f16 || kind == TypeKind::bf16);
}
Result CollKernels::give(const EvenCombineCall& call, uint32_t units, Grid grid, Stream stream) const noexcept {
  const Sums& sums = sums_of(call.kind);
  const Function one_step = units == 1 ? sums.whole : sums.whole_long;
  return kernels_.launch(call.two_steps != 0 ? sums.parts : one_step, grid.blocks, grid.threads, call, stream);
}
Result CollKernels::give(const CombineCall& call, Grid grid, Stream stream) const noexcept {
  return kernels_.launch(combine_, grid.blocks, grid.threads, call, stream);
}
Result CollKernels::give(const DirectMoveCall& call, Grid grid, Stream stream) const noexcept {
  return kernels_.launch(direct_move_, grid.blocks, grid.threads, call, stream);
}
Result CollKernels::give(const DirectCombineCall& call, Grid grid, Stream stream) const noexcept {
  return kernels_.launch(direct_combine_, grid.blocks, grid.threads, call, stream);
}
Result CollKernels::give_staged(const MoveCall& call, Grid grid, Stream stream) const noexcept {
  return kernels_.launch(staged_move_, grid.blocks, grid.threads, call, stream);
}
Result CollKernels::give_staged(const CombineCall& call, Grid grid, Stream stream) const noexcept {
  const Function kernel = has_own_kernel(call.kind, call.op) ? sums_of(call.kind).staged : staged_combine_;
  return kernels_.launch(kernel, grid.blocks, grid.threads, call, stream);
}

Result CollKernels::give(const PieceCombineCall& call, Grid grid, Stream stream) const noexcept {
  return kernels_.launch(pieces_, grid.blocks, grid.threads, call, stream);
}
Result CollKernels::give(const OwnBlockCall& call, Grid grid, Stream stream) const noexcept {
  return kernels_.launch(own_block_, grid.blocks, grid.threads, call, stream);
}
Result CollKernels::begin(const EngineMoveCall& call, Grid grid, Stream stream) const noexcept {
  return kernels_.launch(begin_, grid.blocks, grid.threads, call, stream);
}
Result CollKernels::end(const EngineMoveCall& call, Grid grid, Stream stream) const noexcept {
  return kernels_.launch(end_, grid.blocks, grid.threads, call, stream);
}

}  // namespace railshmem::cuda
