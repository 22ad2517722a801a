// SPDX-License-Identifier: BSD-3-Clause
// CUDA programs as programs of the host: what our examples and tests take from the CUDA runtime, over host threads.
// Every thread of a kernel is a thread, so grids are to be small. launches.py turns kernel<<<grid, block, shared,
// stream>>>(...) into a call of launcher(), and variables that are __shared__ into references to memory of the block.
#pragma once

#include <shmem.h>

#include <cstring>
#include <tuple>
#include <type_traits>
#include <utility>

#include "include/shmem/device/view.h"
#include "tests/gpu/emulated/emulation.h"
#include "tests/gpu/emulated/runtime/streams.h"

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __launch_bounds__(...)

using dim3 = railshmem::emulation::Dim;

struct int2 {
  int x, y;
};

namespace railshmem::emulated_cuda {

/// What the library fills for kernels of this program.
inline WorldView view;
inline int fill_view(const void* from, size_t nbytes) {
  std::memcpy(&view, from, nbytes);
  return 0;
}
inline const bool registered = [] {
  shmemx_device_view_register(fill_view, sizeof view, kWorldViewVersion);
  return true;
}();

/// Waits for all streams.
inline int synchronize() {
  for (Stream* const stream : Stream::all()) stream->synchronize();
  return 0;
}

/// launcher(kernel, grid, block, shared, stream)(arguments...)
template <class... Parameters>
auto launcher(void (*kernel)(Parameters...), dim3 grid, dim3 block, size_t shared = 0, Stream* stream = nullptr) {
  return [=](std::type_identity_t<Parameters>... arguments) {
    Stream::of(stream).enqueue([=] { emulation::run({{&view, grid, block, [=] { kernel(arguments...); }, shared}}); });
  };
}

/// An event is the time at which its stream came to it.
struct Event {
  std::shared_future<void> passed;
  uint64_t at_ns = 0;
};

}  // namespace railshmem::emulated_cuda

#define threadIdx (::railshmem::threads::threadIdx)
#define blockIdx (::railshmem::threads::blockIdx)
#define blockDim (::railshmem::threads::blockDim)
#define gridDim (::railshmem::threads::gridDim)

inline void __syncthreads() {
  railshmem::emulation::sync_block();
}
inline void __syncwarp() {
  railshmem::emulation::sync_warp();
}
inline void __threadfence() {
  railshmem::portable::full_fence();
}
inline void __nanosleep(unsigned) {
  sched_yield();
}
template <class T>
T atomicAdd(T* at, std::type_identity_t<T> operand) {
  return __atomic_fetch_add(at, operand, __ATOMIC_RELAXED);
}

using cudaError_t = int;
using cudaStream_t = railshmem::emulated_cuda::Stream*;
using cudaEvent_t = railshmem::emulated_cuda::Event*;
enum cudaMemcpyKind { cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice, cudaMemcpyDefault };
enum cudaDeviceAttr { cudaDevAttrMultiProcessorCount };
inline constexpr cudaError_t cudaSuccess = 0;
inline constexpr unsigned cudaHostAllocMapped = 2;

inline const char* cudaGetErrorString(cudaError_t) {
  return "emulated CUDA: an error";
}
inline cudaError_t cudaGetLastError() {
  return cudaSuccess;
}
inline cudaError_t cudaGetDeviceCount(int* count) {
  const char* const gpus = std::getenv("RAILSHMEM_FAKE_GPUS");
  *count = gpus == nullptr ? 0 : std::atoi(gpus);
  return cudaSuccess;
}
inline cudaError_t cudaSetDevice(int) {
  return cudaSuccess;
}
inline cudaError_t cudaGetDevice(int* device) {
  *device = 0;
  return cudaSuccess;
}
inline cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr, int) {
  *value = 2;
  return cudaSuccess;
}
inline cudaError_t cudaDeviceSynchronize() {
  return railshmem::emulated_cuda::synchronize();
}

template <class T>
cudaError_t cudaMalloc(T** memory, size_t nbytes) {
  *memory = static_cast<T*>(std::malloc(nbytes));
  return *memory == nullptr;
}
inline cudaError_t cudaFree(void* memory) {
  railshmem::emulated_cuda::synchronize();
  std::free(memory);
  return cudaSuccess;
}
template <class T>
cudaError_t cudaHostAlloc(T** memory, size_t nbytes, unsigned) {
  return cudaMalloc(memory, nbytes);
}
inline cudaError_t cudaFreeHost(void* memory) {
  return cudaFree(memory);
}
inline cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t nbytes, cudaMemcpyKind,
                                   cudaStream_t stream = nullptr) {
  railshmem::emulated_cuda::Stream::of(stream).enqueue([=] { std::memcpy(to, from, nbytes); });
  return cudaSuccess;
}
inline cudaError_t cudaMemsetAsync(void* to, int value, size_t nbytes, cudaStream_t stream = nullptr) {
  railshmem::emulated_cuda::Stream::of(stream).enqueue([=] { std::memset(to, value, nbytes); });
  return cudaSuccess;
}
inline cudaError_t cudaMemcpy(void* to, const void* from, size_t nbytes, cudaMemcpyKind) {
  railshmem::emulated_cuda::synchronize();
  std::memcpy(to, from, nbytes);
  return cudaSuccess;
}
inline cudaError_t cudaMemset(void* to, int value, size_t nbytes) {
  return cudaMemsetAsync(to, value, nbytes);
}

inline cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  *stream = new railshmem::emulated_cuda::Stream;
  return cudaSuccess;
}
inline cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  railshmem::emulated_cuda::Stream::of(stream).synchronize();
  return cudaSuccess;
}
inline cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  delete stream;
  return cudaSuccess;
}

inline cudaError_t cudaEventCreate(cudaEvent_t* event) {
  *event = new railshmem::emulated_cuda::Event;
  return cudaSuccess;
}
inline cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream = nullptr) {
  event->passed =
      railshmem::emulated_cuda::Stream::of(stream).enqueue([=] { event->at_ns = railshmem::portable::clock_ns(); });
  return cudaSuccess;
}
inline cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  event->passed.wait();
  return cudaSuccess;
}
inline cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t from, cudaEvent_t to) {
  *ms = static_cast<float>(static_cast<double>(to->at_ns - from->at_ns) * 1e-6);
  return cudaSuccess;
}
inline cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete event;
  return cudaSuccess;
}
