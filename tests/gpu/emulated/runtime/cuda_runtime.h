// SPDX-License-Identifier: BSD-3-Clause
// CUDA programs as programs of the host: what our examples and tests take from the CUDA runtime, over host threads.
// Every thread of a kernel is a thread, so grids are to be small. launches.py turns kernel<<<grid, block, shared,
// stream>>>(...) into a call of launcher(), and variables that are __shared__ into references to memory of the block.
#pragma once

#include <shmem.h>
#include <shmemx.h>

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

/// launcher(kernel, grid, block, shared, stream)(arguments...)
template <class... Parameters>
auto launcher(void (*kernel)(Parameters...), dim3 grid, dim3 block, size_t shared = 0, CUstream_st* stream = nullptr) {
  return [=](std::type_identity_t<Parameters>... arguments) {
    enqueue(stream, [=] { emulation::run({{&view, grid, block, [=] { kernel(arguments...); }, shared}}); });
  };
}

/// An event of the driver's, and the time at which its stream came to it.
struct Event {
  void* handle = nullptr;
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
  railshmem::emulation::pause(255);
}
template <class T>
T atomicAdd(T* at, std::type_identity_t<T> operand) {
  return __atomic_fetch_add(at, operand, __ATOMIC_RELAXED);
}

using cudaError_t = int;
using cudaStream_t = CUstream_st*;
using cudaGraph_t = struct CUgraph_st*;
using cudaGraphExec_t = struct CUgraphExec_st*;
using cudaEvent_t = railshmem::emulated_cuda::Event*;
enum cudaMemcpyKind { cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice, cudaMemcpyDefault };
enum cudaDeviceAttr { cudaDevAttrMultiProcessorCount };
inline constexpr cudaError_t cudaSuccess = 0;
inline constexpr unsigned cudaHostAllocMapped = 2, cudaStreamNonBlocking = 1;
enum cudaStreamCaptureMode {
  cudaStreamCaptureModeGlobal,
  cudaStreamCaptureModeThreadLocal,
  cudaStreamCaptureModeRelaxed
};

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
inline cudaError_t cudaSetDevice(int device) {
  return railshmem::emulated_cuda::set_device(device);
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
  railshmem::emulated_cuda::need_context();
  return railshmem::emulated_cuda::driver("cuCtxSynchronize");
}

template <class T>
cudaError_t cudaMalloc(T** memory, size_t nbytes) {
  *memory = static_cast<T*>(std::malloc(nbytes));
  return *memory == nullptr;
}
inline cudaError_t cudaFree(void* memory) {
  cudaDeviceSynchronize();
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
  railshmem::emulated_cuda::enqueue(stream, [=] { std::memcpy(to, from, nbytes); });
  return cudaSuccess;
}
inline cudaError_t cudaMemsetAsync(void* to, int value, size_t nbytes, cudaStream_t stream = nullptr) {
  railshmem::emulated_cuda::enqueue(stream, [=] { std::memset(to, value, nbytes); });
  return cudaSuccess;
}
inline cudaError_t cudaMemcpy(void* to, const void* from, size_t nbytes, cudaMemcpyKind kind) {
  cudaMemcpyAsync(to, from, nbytes, kind);
  return railshmem::emulated_cuda::synchronize(nullptr);
}
inline cudaError_t cudaMemset(void* to, int value, size_t nbytes) {
  return cudaMemsetAsync(to, value, nbytes);
}

inline cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  railshmem::emulated_cuda::need_context();
  return railshmem::emulated_cuda::driver("cuStreamCreateWithPriority", stream, flags, 0);
}
inline cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return cudaStreamCreateWithFlags(stream, 0);
}
inline cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return railshmem::emulated_cuda::synchronize(stream);
}
inline cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return railshmem::emulated_cuda::driver("cuStreamDestroy_v2", stream);
}

inline cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  return railshmem::emulated_cuda::driver("cuStreamBeginCapture_v2", stream, static_cast<int>(mode));
}
inline cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  return railshmem::emulated_cuda::driver("cuStreamEndCapture", stream, graph);
}
inline cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* ready, cudaGraph_t graph, unsigned long long flags) {
  return railshmem::emulated_cuda::driver("cuGraphInstantiateWithFlags", ready, graph, flags);
}
inline cudaError_t cudaGraphLaunch(cudaGraphExec_t ready, cudaStream_t stream) {
  return railshmem::emulated_cuda::driver("cuGraphLaunch", ready, stream);
}
inline cudaError_t cudaGraphExecDestroy(cudaGraphExec_t ready) {
  return railshmem::emulated_cuda::driver("cuGraphExecDestroy", ready);
}
inline cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  return railshmem::emulated_cuda::driver("cuGraphDestroy", graph);
}

inline cudaError_t cudaEventCreate(cudaEvent_t* event) {
  railshmem::emulated_cuda::need_context();
  *event = new railshmem::emulated_cuda::Event;
  return railshmem::emulated_cuda::driver("cuEventCreate", &(*event)->handle, 0U);
}
inline cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream = nullptr) {
  railshmem::emulated_cuda::enqueue(stream, [=] { event->at_ns = railshmem::portable::clock_ns(); });
  return railshmem::emulated_cuda::driver("cuEventRecord", event->handle, stream);
}
inline cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return railshmem::emulated_cuda::driver("cuEventSynchronize", event->handle);
}
inline cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t from, cudaEvent_t to) {
  *ms = static_cast<float>(static_cast<double>(to->at_ns - from->at_ns) * 1e-6);
  return cudaSuccess;
}
inline cudaError_t cudaEventDestroy(cudaEvent_t event) {
  const int result = railshmem::emulated_cuda::driver("cuEventDestroy_v2", event->handle);
  delete event;
  return result;
}
