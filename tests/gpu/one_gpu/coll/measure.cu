// SPDX-License-Identifier: BSD-3-Clause
// What a collective's kernel costs without a link: two members on one GPU, as two chains of kernels in one graph,
// beside a sketch of the least that such a kernel must do, and empty kernels. Prints a table in us a call. No test: it
// measures.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "src/cuda/kernels/coll_engines.h"

namespace railshmem::cuda {
namespace {

#define MUST(call)                                                                              \
  do {                                                                                          \
    const cudaError_t result = (call);                                                          \
    if (result != cudaSuccess) {                                                                \
      std::fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(result));                      \
      std::exit(result == cudaErrorNoDevice || result == cudaErrorInsufficientDriver ? 77 : 1); \
    }                                                                                           \
  } while (false)

__global__ void empty() {}
__global__ void __launch_bounds__(kCollThreads, 2) move(const __grid_constant__ EvenMoveCall call) {
  kernels::run_move<1>(call);
}
__global__ void __launch_bounds__(kCollThreads, 2) sum(const __grid_constant__ EvenCombineCall call) {
  kernels::run_sum<1, float, false>(call);
}
__global__ void __launch_bounds__(kCollThreads, 2) direct_move(const __grid_constant__ DirectMoveCall call) {
  __shared__ kernels::Found found;
  __shared__ kernels::Halves halves;
  kernels::run_direct_move(call, found, halves);
}
__global__ void __launch_bounds__(kCollThreads, 2) move_long(const __grid_constant__ EvenMoveCall call) {
  kernels::run_move<kUnitsOfThread>(call);
}
__global__ void __launch_bounds__(kCollThreads, 1) direct_sum(const __grid_constant__ DirectCombineCall call) {
  __shared__ kernels::Found found;
  __shared__ kernels::Halves halves;
  kernels::run_direct_combine(call, found, halves);
}

/// The least: 16 bytes carry two values and two numbers of the call; the number is in memory, by block.
struct Sketch {
  const float4* source;
  float4* dest;
  uint4* outbox;
  const uint4* inbox;
  unsigned* numbers;
  int n;
};
__device__ void store_line(uint4* to, float a, float b, unsigned number) {
  asm volatile("st.volatile.global.v4.u32 [%0], {%1, %2, %3, %2};" ::"l"(to), "r"(__float_as_uint(a)), "r"(number),
               "r"(__float_as_uint(b)));
}
__device__ float2 load_line(const uint4* from, unsigned number) {
  uint4 line;
  do {
    asm volatile("ld.volatile.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(line.x), "=r"(line.y), "=r"(line.z), "=r"(line.w)
                 : "l"(from));
  } while (line.y != number || line.w != number);
  return {__uint_as_float(line.x), __uint_as_float(line.z)};
}
__global__ void __launch_bounds__(kCollThreads) sketch(const __grid_constant__ Sketch s) {
  const unsigned number = s.numbers[blockIdx.x] + 1;
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < s.n) {
    const float4 own = s.source[i];
    const int set = static_cast<int>(number & 1) * 2 * s.n;
    store_line(s.outbox + set + i, own.x, own.y, number);
    store_line(s.outbox + set + s.n + i, own.z, own.w, number);
    const float2 a = load_line(s.inbox + set + i, number), b = load_line(s.inbox + set + s.n + i, number);
    s.dest[i] = {own.x + a.x, own.y + a.y, own.z + b.x, own.w + b.y};
  }
  __syncthreads();
  if (threadIdx.x == 0) s.numbers[blockIdx.x] = number;
}

template <class T>
T* zeroed(size_t nbytes) {
  T* memory = nullptr;
  MUST(cudaMalloc(&memory, nbytes));
  MUST(cudaMemset(memory, 0, nbytes));
  return memory;
}

/// Median of us a call, of `give(member, stream)` for both members.
template <class Give>
double time_of(Give&& give) {
  constexpr int kCalls = 100, kTimes = 11;
  cudaStream_t streams[2];
  cudaEvent_t fork, join, begin, end;
  for (cudaStream_t& stream : streams) MUST(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  for (cudaEvent_t* const event : {&fork, &join, &begin, &end}) MUST(cudaEventCreate(event));
  cudaGraph_t graph;
  cudaGraphExec_t ready;
  MUST(cudaStreamBeginCapture(streams[0], cudaStreamCaptureModeRelaxed));
  MUST(cudaEventRecord(fork, streams[0]));
  MUST(cudaStreamWaitEvent(streams[1], fork, 0));
  for (int i = 0; i < kCalls; ++i)
    for (int member = 0; member < 2; ++member) give(member, streams[member]);
  MUST(cudaEventRecord(join, streams[1]));
  MUST(cudaStreamWaitEvent(streams[0], join, 0));
  MUST(cudaStreamEndCapture(streams[0], &graph));
  MUST(cudaGraphInstantiate(&ready, graph, 0));
  std::vector<float> times;
  for (int i = 0; i <= kTimes; ++i) {
    float ms = 0;
    MUST(cudaEventRecord(begin, streams[0]));
    MUST(cudaGraphLaunch(ready, streams[0]));
    MUST(cudaEventRecord(end, streams[0]));
    MUST(cudaStreamSynchronize(streams[0]));
    MUST(cudaEventElapsedTime(&ms, begin, end));
    if (i > 0) times.push_back(ms);
  }
  MUST(cudaGraphExecDestroy(ready));
  MUST(cudaGraphDestroy(graph));
  for (const cudaEvent_t event : {fork, join, begin, end}) MUST(cudaEventDestroy(event));
  for (const cudaStream_t stream : streams) MUST(cudaStreamDestroy(stream));
  std::nth_element(times.begin(), times.begin() + kTimes / 2, times.end());
  return 1000.0 * static_cast<double>(times[kTimes / 2]) / kCalls;
}

/// Memory of both members.
struct Bench {
  static constexpr size_t kLargest = size_t{4} << 20;
  const uint64_t stride = (ScratchLayout(2).nbytes() + 4095) / 4096 * 4096;
  unsigned char* const scratch = zeroed<unsigned char>(2 * stride);
  unsigned char* const source[2] = {zeroed<unsigned char>(kLargest), zeroed<unsigned char>(kLargest)};
  unsigned char* const dest[2] = {zeroed<unsigned char>(kLargest), zeroed<unsigned char>(kLargest)};
  uint4* const box[2] = {zeroed<uint4>(4 * kLargest), zeroed<uint4>(4 * kLargest)};
  unsigned* const numbers[2] = {zeroed<unsigned>(4096), zeroed<unsigned>(4096)};

  CollMembers members(int me) const {
    return {scratch, stride, 2, me, ScratchLayout(2).packet_blocks(), ScratchLayout(2).chunk_nbytes()};
  }
  static dim3 grid(size_t nbytes, unsigned* threads) {
    const size_t units = nbytes / kUnit;
    *threads = units <= 4096 ? 128 : 512;
    return dim3(static_cast<unsigned>(std::min<size_t>(128, (units + *threads - 1) / *threads)));
  }

  double gather(size_t total) const {
    return time_of([&](int me, cudaStream_t stream) {
      unsigned threads = 0;
      const dim3 blocks = grid(total / 2, &threads);
      move<<<blocks, threads, 0, stream>>>({members(me), total / 2, {source[me], 0}, {dest[me], total / 2}});
    });
  }
  /// Several units a thread: as many blocks as all units need, or kMostBlocks.
  double gather_long(size_t total) const {
    return time_of([&](int me, cudaStream_t stream) {
      const size_t units = total / 2 / kUnit;
      const auto blocks =
          static_cast<unsigned>(std::clamp<size_t>(units / kCollThreads, 1, ScratchLayout::kMostBlocks));
      move_long<<<blocks, kCollThreads, 0, stream>>>({members(me), total / 2, {source[me], 0}, {dest[me], total / 2}});
    });
  }
  double reduce(size_t total) const {
    return time_of([&](int me, cudaStream_t stream) {
      unsigned threads = 0;
      const dim3 blocks = grid(total, &threads);
      sum<<<blocks, threads, 0, stream>>>(
          {members(me), ReduceOp::sum, TypeKind::f32, Scaling::none, 0, 1, total, total, dest[me], {source[me], 0}});
    });
  }
  double least(size_t total) const {
    return time_of([&](int me, cudaStream_t stream) {
      unsigned threads = 0;
      const dim3 blocks = grid(total, &threads);
      sketch<<<blocks, threads, 0, stream>>>({reinterpret_cast<const float4*>(source[me]),
                                              reinterpret_cast<float4*>(dest[me]), box[1 - me], box[me], numbers[me],
                                              static_cast<int>(total / kUnit)});
    });
  }
  double gather_directly(size_t total) const {
    return time_of([&](int me, cudaStream_t stream) {
      DirectMoveCall call{{members(me), total / 2, {}, {}}, {}};
      for (int k = 0; k < 2; ++k) {
        call.move.source.at[k] = source[me];
        call.move.dest.at[k] = dest[me] + static_cast<size_t>(k) * total / 2;
        call.where.source[k] = Whereabouts::kForAll;
        call.where.dest[k] = reinterpret_cast<uintptr_t>(call.move.dest.at[k]);
      }
      direct_move<<<32, 512, 0, stream>>>(call);
    });
  }
  double reduce_directly(size_t total) const {
    return time_of([&](int me, cudaStream_t stream) {
      DirectCombineCall call{};
      call.combine.members = members(me);
      call.combine.op = ReduceOp::sum;
      call.combine.kind = TypeKind::f32;
      call.combine.two_steps = 1;
      call.combine.nbytes = total / 2;
      call.combine.whole = total;
      call.combine.dest = dest[me];
      for (int k = 0; k < 2; ++k) {
        call.combine.source.at[k] = source[me] + static_cast<size_t>(k) * total / 2;
        call.where.source[k] = reinterpret_cast<uintptr_t>(source[me]) | Whereabouts::kForAll;
        call.where.dest[k] = reinterpret_cast<uintptr_t>(dest[me]);
      }
      direct_sum<<<64, 512, 0, stream>>>(call);
    });
  }
};

}  // namespace
}  // namespace railshmem::cuda

int main() {
  using railshmem::cuda::Bench;
  cudaDeviceProp about;
  MUST(cudaGetDeviceProperties(&about, 0));
  const Bench bench;
  std::printf(
      "two members on one %s, us a call in a graph; an empty kernel takes %.2f\n\n", about.name,
      railshmem::cuda::time_of([](int, cudaStream_t stream) { railshmem::cuda::empty<<<1, 32, 0, stream>>>(); }));
  std::printf(
      "| total bytes | all-gather by packets | all-reduce by packets | sketch | all-gather direct | all-reduce direct "
      "| all-gather by packets of several units |\n");
  std::printf("| ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n");
  for (size_t total = 8 << 10; total <= Bench::kLargest; total *= 4)
    std::printf("| %zu | %.2f | %.2f | %.2f | %.2f | %.2f | %.2f |\n", total, bench.gather(total), bench.reduce(total),
                total <= size_t{1} << 20 ? bench.least(total) : 0.0, bench.gather_directly(total),
                bench.reduce_directly(total), bench.gather_long(total));
  return 0;
}
