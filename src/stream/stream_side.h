// SPDX-License-Identifier: BSD-3-Clause
// What stream-ordered calls put into a stream of the program: copies by copy engines, and kernels.
#pragma once

#include <atomic>

#include "src/cuda/context_guard.h"
#include "src/cuda/stream_kernels.h"
#include "src/gpu/device_memory.h"

namespace railshmem {

/// Any number of threads; nothing waits but wait_for(). A refusal by the driver ends the job with its words. What is
/// given may be captured into graphs: nothing that counts calls is in it.
class StreamSide {
 public:
  /// `memory` must be attached, and outlive this. Throws Error.
  StreamSide(DeviceMemory& memory, const WorldView& view);

  void copy(void* to, const void* from, size_t nbytes, cuda::Stream stream) noexcept;
  void give(const cuda::StreamCall& call, cuda::StreamWidth width, cuda::Stream stream) noexcept;
  /// What has a kernel of its own.
  template <class Call>
  void give(const Call& call, cuda::Stream stream) noexcept {
    const cuda::ContextGuard guard(gpu_);
    must(kernels_.give(call, stream), "cuLaunchKernel");
  }
  /// Has the host run call `number` when the stream gets there, and the stream go on when it has run. `word` is an
  /// address of kernels. By operations of the stream, where the driver has them, which take no multiprocessor.
  void ask_host(cuda::CallWord* word, uint32_t number, cuda::Stream stream) noexcept;
  /// The same by operations of the stream only. False: the driver has none, and nothing happened.
  bool ask_host_by_words(cuda::CallWord* word, uint32_t number, cuda::Stream stream) noexcept;
  /// Whether ask_host_by_words() may find operations of the stream, as far as known.
  bool has_words() const noexcept { return has_words_.load(std::memory_order_relaxed); }
  /// Whether what the stream is given becomes part of a graph, and does not run.
  bool is_captured(cuda::Stream stream) noexcept;
  /// Returns when the stream has done all that it was given.
  void wait_for(cuda::Stream stream) noexcept;
  /// Whether kernels can use the address, as far as the driver knows it: not where it is plain host memory.
  bool kernels_reach(const void* address) noexcept;
  /// Whether it is in the memory of this PE's GPU.
  bool is_here(const void* address) noexcept;

 private:
  void must(cuda::Result result, const char* call) noexcept;

  const DeviceMemory& memory_;
  const cuda::DeviceContext& gpu_;
  std::atomic<bool> has_words_;  ///< the driver's streams wait for and write words, as far as known
  cuda::StreamKernels kernels_;
};

}  // namespace railshmem
