// SPDX-License-Identifier: BSD-3-Clause
// What the tests of src/cuda on a real GPU share.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "src/base/cpu.h"
#include "src/base/error.h"
#include "src/cuda/cuda_copier.h"
#include "src/cuda/device_arena.h"
#include "src/cuda/pinned.h"
#include "tests/gpu/one_gpu/gpu_support.h"

namespace railshmem::gpu_test {

constexpr size_t kMiB = size_t{1} << 20;
constexpr size_t kGiB = size_t{1} << 30;

/// The driver of this machine; nothing without a GPU.
inline const cuda::Driver& driver_here() {
  static const std::optional<cuda::Driver> driver = cuda::load_driver();
  if (!driver) {
    std::printf("FAILED: the driver that was there a moment ago is not\n");
    std::_Exit(1);
  }
  return *driver;
}

/// A device in the runtime's context, with a heap of one slot.
struct GpuRig {
  explicit GpuRig(int device = 0, size_t nbytes = 256 * kMiB)
      : gpu([device] {
          CUDA_MUST(cudaSetDevice(device));
          CUDA_MUST(cudaFree(nullptr));
          return cuda::DeviceContext::current(driver_here());
        }()),
        arena(gpu, 1, cuda::DeviceArena::stride_for(nbytes)),
        heap(arena.map_own(0, 0, cuda::PhysicalMemory::create(gpu, nbytes))),
        bounce(gpu, 64 * kMiB),
        nbytes(nbytes),
        copier(gpu, {heap, nbytes}, nullptr) {
    CUDA_MUST(cudaMemset(heap, 0, nbytes));
    CUDA_MUST(cudaDeviceSynchronize());
  }
  cuda::DeviceContext gpu;
  cuda::DeviceArena arena;
  std::byte* heap;
  cuda::PinnedMemory bounce;
  size_t nbytes;
  cuda::CudaCopier copier;
};

/// Polls until `done`; a check that fails when it is not within `limit`.
template <class Done>
bool within(uint64_t limit, const char* what, Done&& done) {
  const uint64_t began = now_ns();
  while (!done()) {
    if (now_ns() - began < limit) continue;
    GPU_CHECK(false, "%s: not within %.1f s", what, static_cast<double>(limit) / 1e9);
    return false;
  }
  return true;
}
inline bool finish(Copier& copier, Copier::Ticket ticket, const char* what = "a copy") {
  return within(20 * kSecond, what, [&] { return copier.finished(ticket); });
}

/// Microseconds of `body`, repeated: median, 99th percentile.
struct Spread {
  double median, high;
};
inline Spread measure_us(int times, const std::function<void()>& body) {
  std::vector<double> spent;
  for (int i = 0; i < times + times / 10; ++i) {
    const uint64_t began = now_ns();
    body();
    if (i >= times / 10) spent.push_back(static_cast<double>(now_ns() - began) / 1000);
  }
  std::sort(spent.begin(), spent.end());
  return {spent[spent.size() / 2], spent[spent.size() * 99 / 100]};
}

void test_devices();
void test_mapping();
void test_pointers();
void test_copies();
void test_words_by_copier();
void test_amo_on_a_full_gpu();
void test_copies_beside_waiting_kernels();
void test_copies_beside_a_capture();
void test_processes(int devices);
void measure_copies();

}  // namespace railshmem::gpu_test
