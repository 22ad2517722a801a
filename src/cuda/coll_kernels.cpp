// SPDX-License-Identifier: BSD-3-Clause
#include "src/cuda/coll_kernels.h"

#include "src/cuda/kernel_images.h"

namespace railshmem::cuda {

CollKernels::CollKernels(const DeviceContext& gpu, DeviceCopies& copies, const WorldView& view)
    : kernels_(gpu, copies, coll_kernels(), view),
      move_(kernels_.find("railshmem_coll_move")),
      move_sizes_(kernels_.find("railshmem_coll_move_sizes")),
      combine_(kernels_.find("railshmem_coll_combine")),
      direct_move_(kernels_.find("railshmem_coll_direct_move")),
      direct_combine_(kernels_.find("railshmem_coll_direct_combine")),
      begin_(kernels_.find("railshmem_coll_begin")),
      end_(kernels_.find("railshmem_coll_end")) {}

Result CollKernels::give(const MoveCall& call, Grid grid, Stream stream) const noexcept {
  return kernels_.launch(move_, grid.blocks, grid.threads, call, stream);
}
Result CollKernels::give(const MoveSizesCall& call, Grid grid, Stream stream) const noexcept {
  return kernels_.launch(move_sizes_, grid.blocks, grid.threads, call, stream);
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

Result CollKernels::begin(const EngineMoveCall& call, Grid grid, Stream stream) const noexcept {
  return kernels_.launch(begin_, grid.blocks, grid.threads, call, stream);
}
Result CollKernels::end(const EngineMoveCall& call, Grid grid, Stream stream) const noexcept {
  return kernels_.launch(end_, grid.blocks, grid.threads, call, stream);
}

}  // namespace railshmem::cuda
