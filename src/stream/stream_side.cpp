// SPDX-License-Identifier: BSD-3-Clause
#include "src/stream/stream_side.h"

#include <array>

#include "src/cuda/host_call.h"
#include "src/cuda/pointer_info.h"

namespace railshmem {

StreamSide::StreamSide(DeviceMemory& memory, const WorldView& view)
    : memory_(memory),
      gpu_(memory.gpu()),
      has_words_(cuda::has(gpu_.driver(), cuda::Calls::words)),
      kernels_(gpu_, memory.copies(), view) {}

void StreamSide::must(cuda::Result result, const char* call) noexcept {
  if (result != cuda::kSuccess) gpu_.die_of(result, call);
}

void StreamSide::copy(void* to, const void* from, size_t nbytes, cuda::Stream stream) noexcept {
  if (nbytes == 0 || to == from) return;
  const cuda::ContextGuard guard(gpu_);
  must(gpu_.driver().copy_async(cuda::address_of(to), cuda::address_of(from), nbytes, stream), "cuMemcpyAsync");
}

void StreamSide::give(const cuda::StreamCall& call, cuda::StreamWidth width, cuda::Stream stream) noexcept {
  const cuda::ContextGuard guard(gpu_);
  must(kernels_.give(call, width, stream), "cuLaunchKernel");
}

bool StreamSide::ask_host_by_words(cuda::CallWord* word, uint32_t number, cuda::Stream stream) noexcept {
  if (!has_words_.load(std::memory_order_relaxed)) return false;  // relaxed: a hint that saves a call of the driver
  std::array ops = cuda::ask_host_ops(word, number);
  const cuda::ContextGuard guard(gpu_);
  const cuda::Result result = gpu_.driver().stream_word_ops(stream, static_cast<unsigned>(ops.size()), ops.data(), 0);
  if (result == cuda::kNotSupported) {
    has_words_.store(false, std::memory_order_relaxed);
    return false;
  }
  must(result, "cuStreamBatchMemOp");
  return true;
}

void StreamSide::ask_host(cuda::CallWord* word, uint32_t number, cuda::Stream stream) noexcept {
  if (ask_host_by_words(word, number, stream)) return;
  cuda::StreamCall call{cuda::StreamStep::ask_host};
  call.dest = word;
  call.value = number;
  give(call, cuda::StreamWidth::warp, stream);
}

bool StreamSide::is_captured(cuda::Stream stream) noexcept {
  const cuda::ContextGuard guard(gpu_);
  int status = cuda::kCapturingNot;
  const cuda::Result result = gpu_.driver().stream_capturing(stream, &status);
  if (result == cuda::kCaptureImplicit) return true;
  must(result, "cuStreamIsCapturing");
  return status != cuda::kCapturingNot;
}

void StreamSide::wait_for(cuda::Stream stream) noexcept {
  const cuda::ContextGuard guard(gpu_);
  must(gpu_.driver().stream_synchronize(stream), "cuStreamSynchronize");
}

bool StreamSide::kernels_reach(const void* address) noexcept {
  if (memory_.contains(address)) return true;  // the driver takes tenths of a microsecond to say so
  const cuda::ContextGuard guard(gpu_);
  return cuda::inspect(gpu_.driver(), address).kind != cuda::MemoryOf::host;
}

bool StreamSide::is_here(const void* address) noexcept {
  const cuda::ContextGuard guard(gpu_);
  const cuda::PointerInfo found = cuda::inspect(gpu_.driver(), address);
  return found.kind == cuda::MemoryOf::device && found.device == gpu_.device();
}

}  // namespace railshmem
