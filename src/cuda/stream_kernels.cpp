// SPDX-License-Identifier: BSD-3-Clause
#include "src/cuda/stream_kernels.h"

#include "src/cuda/context_guard.h"
#include "src/cuda/kernel_images.h"

namespace railshmem::cuda {
namespace {

constexpr unsigned kStepThreads = 32;  // the launch bounds of stream.cu
constexpr unsigned kStridedThreads = 256;

}  // namespace

StreamKernels::StreamKernels(const DeviceContext& gpu, DeviceCopies& copies, const WorldView& view)
    : kernels_(gpu, copies, stream_kernels(), view),
      step_(kernels_.find("railshmem_stream_step")),
      block_(kernels_.find("railshmem_stream_block")),
      cluster_(kernels_.find("railshmem_stream_cluster")),
      strided_(kernels_.find("railshmem_stream_strided")),
      words_(kernels_.find("railshmem_stream_words")) {
  const ContextGuard guard(gpu);
  int blocks = 0;
  if (gpu.driver().function_attribute(&blocks, FunctionAttribute::required_cluster_width, cluster_) == kSuccess &&
      blocks > 0)
    cluster_blocks_ = static_cast<unsigned>(blocks);
}

Result StreamKernels::give(const StreamCall& call, StreamWidth width, Stream stream) noexcept {
  switch (width) {
    case StreamWidth::warp:
      return kernels_.launch(step_, 1, kStepThreads, call, stream);
    case StreamWidth::block:
      return kernels_.launch(block_, 1, kStreamBlockThreads, call, stream);
    case StreamWidth::cluster:
      break;
  }
  return kernels_.launch(cluster_, cluster_blocks_, kStreamBlockThreads, call, stream);
}

Result StreamKernels::give(const StreamStrides& strides, Stream stream) noexcept {
  return kernels_.launch(strided_, strides.nblocks, kStridedThreads, strides, stream);
}

Result StreamKernels::give(const StreamWords& words, Stream stream) noexcept {
  return kernels_.launch(words_, 1, kStepThreads, words, stream);
}

}  // namespace railshmem::cuda
