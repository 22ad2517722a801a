// SPDX-License-Identifier: BSD-3-Clause
// Copies and atomics of the host while kernels fill the GPU and wait for them.
#include <thread>

#include "src/cuda/context_guard.h"
#include "src/cuda/device_copies.h"
#include "tests/gpu/one_gpu/memory/memory_gpu.h"

namespace railshmem::gpu_test {

using namespace cuda;

namespace {

/// Waits until *word reaches `wanted`. Blocks count themselves in `started`, and in `late` when it never does.
__global__ void wait_for_word(const uint64_t* word, uint64_t wanted, uint64_t limit, unsigned* started,
                              unsigned* late) {
  if (threadIdx.x == 0) {
    atomicAdd_system(started, 1u);
    const uint64_t end = portable::clock_ns() + limit;
    while (portable::load_acquire(word) < wanted) {
      if (portable::clock_ns() < end) continue;
      atomicAdd_system(late, 1u);
      break;
    }
  }
  __syncthreads();
}

/// Blocks of 1024 threads that fill all multiprocessors of the current device.
unsigned blocks_that_fill(const void* kernel) {
  cudaDeviceProp properties{};
  int device = 0;
  int each = 0;
  CUDA_MUST(cudaGetDevice(&device));
  CUDA_MUST(cudaGetDeviceProperties(&properties, device));
  CUDA_MUST(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, kernel, 1024, 0));
  return static_cast<unsigned>(properties.multiProcessorCount * each);
}

/// Halves that differ were never written together.
__global__ void look_for_torn_words(const uint64_t* word, const uint64_t* stop, uint64_t limit, unsigned* torn,
                                    unsigned* changes) {
  const uint64_t end = portable::clock_ns() + limit;
  uint64_t last = 0;
  while (portable::load_relaxed(stop) == 0 && portable::clock_ns() < end) {
    const uint64_t seen = portable::load_relaxed(word);
    if ((seen >> 32) != (seen & 0xffffffffu)) atomicAdd_system(torn, 1u);
    if (seen != last) atomicAdd_system(changes, 1u);
    last = seen;
  }
}

/// A kernel that fills the GPU and waits for *word >= wanted, on a stream of the program's.
class FullGpu {
 public:
  FullGpu(const uint64_t* word, uint64_t wanted, uint64_t limit, cudaStream_t stream)
      : stream_(stream), blocks_(blocks_that_fill(reinterpret_cast<const void*>(wait_for_word))) {
    wait_for_word<<<blocks_, 1024, 0, stream>>>(word, wanted, limit, counts_.get(), counts_.get() + 1);
    CUDA_MUST(cudaGetLastError());
    within(20 * kSecond, "all blocks start", [&] { return seen(0) == blocks_; });
  }
  unsigned blocks() const { return blocks_; }
  void finish(const char* what) {
    CUDA_MUST(cudaStreamSynchronize(stream_));
    GPU_CHECK(seen(1) == 0, "%s: %u of %u blocks waited in vain", what, seen(1), blocks_);
  }

 private:
  unsigned seen(size_t i) const { return *static_cast<volatile unsigned*>(counts_.get() + i); }
  const Pinned<unsigned> counts_{2};
  const cudaStream_t stream_;
  const unsigned blocks_;
};

}  // namespace

void test_words_by_copier() {
  GpuRig rig;
  const Pinned<unsigned> counts(2);
  const Pinned<uint64_t> stop(1);
  auto* const word = reinterpret_cast<uint64_t*>(rig.heap + 4096 + 8);
  look_for_torn_words<<<8, 64>>>(word, stop.get(), kLong, counts.get(), counts.get() + 1);
  CUDA_MUST(cudaGetLastError());
  auto* const source = reinterpret_cast<uint64_t*>(rig.bounce.host());
  constexpr uint64_t kTimes = 5000;
  for (uint64_t i = 1; i <= kTimes; ++i) {
    const uint64_t value = i % 2 == 0 ? 0 : ~uint64_t{0};  // every bit changes
    *source = value;
    if (!finish(rig.copier, rig.copier.start(reinterpret_cast<std::byte*>(word), rig.bounce.host(), 8))) break;
    rig.copier.amo(reinterpret_cast<std::byte*>(word), 8, AmoOp::set, ~value, 0);
    rig.copier.amo(reinterpret_cast<std::byte*>(word), 8, AmoOp::fetch_xor, ~uint64_t{0}, 0);
  }
  __atomic_store_n(stop.get(), 1, __ATOMIC_RELEASE);
  finish_kernel();
  std::printf("words: %llu writes by copies, %u changes seen, %u torn\n", static_cast<unsigned long long>(3 * kTimes),
              counts[1], counts[0]);
  GPU_CHECK(counts[0] == 0, "%u torn words", counts[0]);
  GPU_CHECK(counts[1] > kTimes / 2, "only %u changes seen", counts[1]);
}

void test_amo_on_a_full_gpu() {
  GpuRig rig;
  constexpr uint64_t kAdds = 2000;
  cudaStream_t stream = nullptr;
  CUDA_MUST(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  FullGpu full(reinterpret_cast<uint64_t*>(rig.heap), kAdds, kLong, stream);
  uint64_t wrong = 0;
  const uint64_t began = now_ns();
  for (uint64_t i = 0; i < kAdds; ++i) wrong += rig.copier.amo(rig.heap, 8, AmoOp::fetch_add, 1, 0) != i;
  const double each = static_cast<double>(now_ns() - began) / 1000 / kAdds;
  full.finish("amo");
  CUDA_MUST(cudaStreamDestroy(stream));
  GPU_CHECK(wrong == 0, "%llu of %llu AMOs fetched another value than the one before",
            static_cast<unsigned long long>(wrong), static_cast<unsigned long long>(kAdds));
  std::printf("amo: %u blocks of 1024 threads wait on the word that the host adds to: %.2f us each\n", full.blocks(),
              each);
}

void test_copies_beside_waiting_kernels() {
  GpuRig rig;
  DeviceCopies blocking(rig.gpu);
  std::vector<std::byte> pageable(4 * kMiB, std::byte{6});
  auto* const word = reinterpret_cast<uint64_t*>(rig.heap);
  const uint64_t one = 1;
  {
    // The legacy default stream: cuMemcpy would wait for this kernel forever.
    FullGpu full(word, 1, kLong, nullptr);
    blocking.copy(rig.heap + kMiB, pageable.data(), pageable.size());
    blocking.copy(pageable.data(), rig.heap + kMiB, pageable.size());
    blocking.copy(word, &one, sizeof one);
    full.finish("blocking copies");
  }
  std::printf("progress: blocking copies end while a kernel of the default stream waits for them\n");
  const uint64_t zero = 0;
  blocking.copy(word, &zero, sizeof zero);
  // Whether filling memory needs a multiprocessor is the driver's business; what we learn here is printed.
  cudaStream_t stream = nullptr;
  CUDA_MUST(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  for (const size_t nbytes : {size_t{64}, 64 * kMiB}) {
    FullGpu full(word, 1, 20 * kSecond, stream);
    const ContextGuard guard(rig.gpu);
    CopyLane lane(rig.gpu);
    const uint64_t number = lane.fill(rig.heap + 64 * kMiB, 7, nbytes);
    const uint64_t began = now_ns();
    bool filled = false;
    while (!filled && now_ns() - began < kSecond) filled = lane.reached(number);
    std::printf("progress: a fill of %zu bytes %s on a full GPU (%.1f us)\n", nbytes,
                filled ? "ends" : "DOES NOT END within 1 s", static_cast<double>(now_ns() - began) / 1000);
    blocking.copy(word, &one, sizeof one);
    full.finish("fill");
    blocking.copy(word, &zero, sizeof zero);
  }
  CUDA_MUST(cudaStreamDestroy(stream));
}

void test_copies_beside_a_capture() {
  GpuRig rig;
  DeviceCopies blocking(rig.gpu);
  for (const bool adopted : {false, true}) {
    cudaStream_t stream = nullptr;
    cudaGraph_t graph = nullptr;
    CUDA_MUST(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CUDA_MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    CUDA_MUST(cudaMemsetAsync(rig.heap + kMiB, 1, 64, stream));
    std::thread([&] {
      if (adopted) adopt_thread(rig.gpu);
      uint64_t value = 3;
      finish(rig.copier, rig.copier.start(rig.heap, rig.bounce.host(), 4096));
      finish(rig.copier, rig.copier.start(rig.bounce.host(), rig.heap, 8 * kMiB));
      rig.copier.amo(rig.heap, 8, AmoOp::fetch_add, 1, 0);
      blocking.copy(rig.heap, &value, sizeof value);
      blocking.copy(&value, rig.heap, sizeof value);
      const PinnedMemory more(rig.gpu, 4096);
    }).join();
    const cudaError_t ended = cudaStreamEndCapture(stream, &graph);
    GPU_CHECK(ended == cudaSuccess, "a capture beside copies of %s thread: %s", adopted ? "an adopted" : "another",
              cudaGetErrorString(ended));
    if (graph != nullptr) CUDA_MUST(cudaGraphDestroy(graph));
    cudaGetLastError();
    CUDA_MUST(cudaStreamDestroy(stream));
  }
  std::printf("capture: copies of other threads leave a graph that is being captured alone\n");
}

}  // namespace railshmem::gpu_test
