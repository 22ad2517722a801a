// SPDX-License-Identifier: BSD-3-Clause
// Puts and gets in stream order while a kernel of the program fills the GPU: to PEs that only the network reaches they
// need no multiprocessor, given call by call and by a graph.
#include <vector>

#include "tests/gpu/multi_gpu/gpu_pes.h"

using namespace railshmem::multi;

namespace {

constexpr int kLength = 50'000;  // 200 KB: by the host
constexpr int kRounds = 5;
constexpr unsigned kThreads = 1024;

struct Filler {
  unsigned begun;  ///< blocks
  unsigned may_end;
  unsigned too_long;  ///< blocks that were not told to end
};

/// Every block stays until the host says so.
__global__ void __launch_bounds__(kThreads) fill_gpu(Filler* filler) {
  if (threadIdx.x == 0) {
    atomicAdd(&filler->begun, 1u);
    unsigned long long began = 0, now = 0;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(began));
    while (atomicAdd(&filler->may_end, 0u) == 0) {
      asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
      if (now - began > 10'000'000'000ull) {
        atomicAdd(&filler->too_long, 1u);
        break;
      }
      __nanosleep(20'000);
    }
  }
  __syncthreads();
}

/// The GPU is full from begin() to end().
class FullGpu {
 public:
  explicit FullGpu(int device) {
    int per_multiprocessor = 0, multiprocessors = 0;
    CUDA_MUST(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_multiprocessor, fill_gpu, kThreads, 0));
    CUDA_MUST(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
    blocks_ = static_cast<unsigned>(per_multiprocessor * multiprocessors);
    CUDA_MUST(cudaMalloc(&filler_, sizeof(Filler)));
    CUDA_MUST(cudaHostAlloc(&seen_, sizeof(Filler), cudaHostAllocDefault));
    CUDA_MUST(cudaHostAlloc(&one_, sizeof(unsigned), cudaHostAllocDefault));
    *one_ = 1;
    for (cudaStream_t* const stream : {&work_, &control_})
      CUDA_MUST(cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking));
  }

  void begin() {
    CUDA_MUST(cudaMemsetAsync(filler_, 0, sizeof(Filler), work_));
    fill_gpu<<<blocks_, kThreads, 0, work_>>>(filler_);
    CUDA_MUST(cudaGetLastError());
    while (look().begun < blocks_) {
    }
  }
  /// Returns whether the kernel was there until now.
  bool end() {
    CUDA_MUST(cudaMemcpyAsync(&filler_->may_end, one_, sizeof(unsigned), cudaMemcpyHostToDevice, control_));
    CUDA_MUST(cudaStreamSynchronize(work_));
    return look().too_long == 0;
  }

 private:
  Filler look() {
    CUDA_MUST(cudaMemcpyAsync(seen_, filler_, sizeof(Filler), cudaMemcpyDeviceToHost, control_));
    CUDA_MUST(cudaStreamSynchronize(control_));
    return *seen_;
  }

  unsigned blocks_ = 0;
  Filler *filler_ = nullptr, *seen_ = nullptr;
  unsigned* one_ = nullptr;
  cudaStream_t work_ = nullptr, control_ = nullptr;
};

}  // namespace

int main() {
  Job job;
  const int right = (job.me + 1) % job.npes, left = (job.me + job.npes - 1) % job.npes;
  auto* const from = static_cast<int*>(shmem_malloc(kLength * sizeof(int)));
  auto* const to = static_cast<int*>(shmem_malloc(kLength * sizeof(int)));
  auto* const back = static_cast<int*>(shmem_malloc(kLength * sizeof(int)));
  auto* const words = static_cast<uint64_t*>(shmem_calloc(2, sizeof(uint64_t)));
  if (job.shares_gpu() || shmem_ptr(to, right) != nullptr) {
    if (job.me == 0) std::printf("skipped: needs a GPU for each PE, and PEs that only the network reaches\n");
    shmem_finalize();
    return 77;
  }
  FullGpu gpu(job.me % job.gpus);
  cudaStream_t stream = nullptr;
  CUDA_MUST(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t ready = nullptr;
  const auto give = [&](uint64_t signal) {
    shmemx_int_get_on_stream(back, from, kLength, right, stream);
    shmemx_int_put_on_stream(to, from, kLength, right, stream);
    shmemx_int_put_signal_on_stream(to, from, kLength, words, signal, SHMEM_SIGNAL_SET, right, stream);
  };
  constexpr uint64_t kOfGraph = 77;
  CUDA_MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  give(kOfGraph);
  CUDA_MUST(cudaStreamEndCapture(stream, &graph));
  CUDA_MUST(cudaGraphInstantiate(&ready, graph, 0));
  for (const bool by_graph : {false, true})
    for (int round = 1; round <= kRounds; ++round) {
      std::vector<int> mine(kLength), came(kLength), fetched(kLength);
      for (int i = 0; i < kLength; ++i) mine[i] = i * 16 + job.me + round;
      CUDA_MUST(cudaMemcpy(from, mine.data(), kLength * sizeof(int), cudaMemcpyHostToDevice));
      shmem_signal_set(words, 0, job.me);
      shmem_barrier_all();
      gpu.begin();
      shmem_barrier_all();
      const auto signal = by_graph ? kOfGraph : static_cast<uint64_t>(round);
      if (by_graph)
        CUDA_MUST(cudaGraphLaunch(ready, stream));
      else
        give(signal);
      shmem_signal_wait_until(words, SHMEM_CMP_EQ, signal);
      CUDA_MUST(cudaStreamSynchronize(stream));
      shmem_barrier_all();
      const bool was_full = gpu.end();
      CUDA_MUST(cudaMemcpy(came.data(), to, kLength * sizeof(int), cudaMemcpyDeviceToHost));
      CUDA_MUST(cudaMemcpy(fetched.data(), back, kLength * sizeof(int), cudaMemcpyDeviceToHost));
      int wrong = 0;
      for (int i = 0; i < kLength; ++i)
        wrong += came[i] != mine[i] - job.me + left || fetched[i] != mine[i] - job.me + right;
      if (wrong != 0 || !was_full) {
        std::printf("FAILED round %d %s: PE %d: %d wrong values%s\n", round, by_graph ? "of a graph" : "call by call",
                    job.me, wrong, was_full ? "" : ", the kernel did not wait so long");
        ++job.failures;
      }
      shmem_barrier_all();
    }
  CUDA_MUST(cudaGraphExecDestroy(ready));
  CUDA_MUST(cudaGraphDestroy(graph));
  if (job.me == 0)
    std::printf("%s puts and gets on streams beside a full GPU\n", job.failures == 0 ? "ok    " : "FAILED");
  return job.end();
}
