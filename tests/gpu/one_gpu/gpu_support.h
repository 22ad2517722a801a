// SPDX-License-Identifier: BSD-3-Clause
// What the GPU tests share: checks that count, memory that a kernel and a CPU thread both see, a channel in it.
#pragma once

#include <cuda_runtime.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "include/shmem/detail/portable.h"
#include "src/channel/channel.h"

namespace railshmem::gpu_test {

constexpr uint64_t kMillisecond = 1'000'000, kSecond = 1'000'000'000;
/// Every wait of a kernel here ends by then: a bug is a failed check, never a hung GPU.
constexpr uint64_t kLong = 40 * kSecond;

inline std::atomic<int> failures{0};
inline bool small_counts = false;  ///< --small: for compute-sanitizer, which makes a kernel 100 times slower

inline uint64_t scaled(uint64_t count) {
  return small_counts ? (count >= 6400 ? count / 200 : count >= 10 ? count / 10 : count) : count;
}

// The first 20 failures are printed: one wrong lap would fill the screen.
#define GPU_CHECK(condition, ...)                                        \
  do {                                                                   \
    if (!(condition) && ::railshmem::gpu_test::failures++ < 20) {        \
      std::printf("FAILED %s:%d: %s: ", __FILE__, __LINE__, #condition); \
      std::printf(__VA_ARGS__);                                          \
      std::printf("\n");                                                 \
    }                                                                    \
  } while (false)

inline void must(cudaError_t result, const char* call) {
  if (result == cudaSuccess) return;
  std::printf("FAILED %s: %s\n", call, cudaGetErrorString(result));
  std::fflush(stdout);
  std::_Exit(1);  // consumer threads may be running; nothing after this means anything
}
#define CUDA_MUST(call) ::railshmem::gpu_test::must(call, #call)

/// After a launch: the kernel's end, or what stopped it.
inline void finish_kernel() {
  CUDA_MUST(cudaGetLastError());
  CUDA_MUST(cudaDeviceSynchronize());
}

inline void free_pinned(void* p) {
  cudaFreeHost(p);
}
inline void free_gpu(void* p) {
  cudaFree(p);
}

enum class Place : uint8_t { pinned, gpu };
inline const char* name_of(Place place) {
  return place == Place::gpu ? "GPU" : "pinned";
}

/// Zeroed; its address is valid in kernels, and on the CPU when pinned.
inline ChannelMemory::Block allocate(size_t nbytes, Place place) {
  void* at = nullptr;
  if (place == Place::gpu) {
    CUDA_MUST(cudaMalloc(&at, nbytes));
    CUDA_MUST(cudaMemset(at, 0, nbytes));
    return {at, free_gpu};
  }
  CUDA_MUST(cudaHostAlloc(&at, nbytes, cudaHostAllocMapped | cudaHostAllocPortable));
  std::memset(at, 0, nbytes);
  return {at, free_pinned};
}

/// An array in pinned memory.
template <class T>
class Pinned {
 public:
  explicit Pinned(size_t n) : block_(allocate(n * sizeof(T), Place::pinned)), size_(n) {}
  T* get() const { return static_cast<T*>(block_.get()); }
  T& operator[](size_t i) const { return get()[i]; }
  T* begin() const { return get(); }
  T* end() const { return get() + size_; }

 private:
  ChannelMemory::Block block_;
  size_t size_;
};

/// Slots and the consumer's line in pinned memory; the producers' line where asked.
inline ChannelMemory kernel_channel_memory(uint32_t log2_slots, Place producers) {
  ChannelMemory::Block slots = allocate(sizeof(Slot) << log2_slots, Place::pinned);
  ChannelMemory::Block producer = allocate(sizeof(ProducerLine), producers);
  ChannelMemory::Block consumer = allocate(sizeof(ConsumerLine), Place::pinned);
  auto* const s = static_cast<Slot*>(slots.get());
  auto* const p = static_cast<ProducerLine*>(producer.get());
  auto* const c = static_cast<ConsumerLine*>(consumer.get());
  return {std::move(slots), std::move(producer), std::move(consumer), s, p, c, log2_slots};
}

/// The view a kernel gets: it cannot ring a doorbell.
inline ChannelView kernel_view(Channel& channel) {
  ChannelView view = channel.view();
  view.ring.doorbell = nullptr;
  return view;
}

/// Whether a kernel's atomics on pinned memory are atomic to the CPU too; behind PCIe they are not.
inline bool has_host_atomics() {
  int supported = 0;
  CUDA_MUST(cudaDeviceGetAttribute(&supported, cudaDevAttrHostNativeAtomicSupported, 0));
  return supported != 0;
}

/// Statuses that the threads of a kernel left behind.
inline void check_statuses(const Pinned<uint64_t>& statuses, ChannelStatus expected, const char* what) {
  for (const uint64_t& status : statuses) {
    GPU_CHECK(status == static_cast<uint64_t>(expected), "%s: thread %zu ended with status %llu, expected %llu", what,
              static_cast<size_t>(&status - statuses.begin()), static_cast<unsigned long long>(status),
              static_cast<unsigned long long>(expected));
  }
}

__device__ inline uint32_t thread_index() {
  return blockIdx.x * blockDim.x + threadIdx.x;
}

// The cases, in the order in which they run; a broken ring makes the later ones meaningless.
void test_words();
void test_ring();
void test_waits();
void test_rma();
void test_slots();
void test_copies();
void test_api();
void test_teams();
void measure();
void measure_engine();

}  // namespace railshmem::gpu_test
