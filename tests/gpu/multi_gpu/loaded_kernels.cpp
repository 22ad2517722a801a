// SPDX-License-Identifier: BSD-3-Clause
//
// loaded_kernels INCLUDE FILE: a program without any CUDA unit compiles FILE (loaded_kernels.cu) with NVRTC, loads it
// as a module and as a library, and its kernels put, signal, add and reduce between PEs. INCLUDE: where shmem.h is.
// Exit 77: no GPU.
#include <shmem.h>
#include <shmemx.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "tests/gpu/multi_gpu/stream_driver.h"
#include "tests/headers/nvrtc_compile.h"

using railshmem::multi::StreamDriver;

namespace {

constexpr size_t kMost = 3000;
constexpr uint64_t kRounds = 20;

int me = 0, npes = 0, failures = 0;

void check(bool right, const char* what, uint64_t round, uint64_t seen, uint64_t expected) {
  if (right) return;
  if (failures++ < 10)
    std::printf("FAILED %s, round %llu: PE %d sees %llu, expected %llu\n", what, static_cast<unsigned long long>(round),
                me, static_cast<unsigned long long>(seen), static_cast<unsigned long long>(expected));
}

struct Heap {
  uint64_t *words, *signal, *seen;
  int64_t *dest, *source;
};

template <class T>
T* zeroed(size_t n) {
  return static_cast<T*>(shmem_calloc(n, sizeof(T)));
}

template <class T>
std::vector<T> read(const T* from, size_t n) {
  std::vector<T> values(n);
  shmem_getmem(values.data(), from, n * sizeof(T), me);
  return values;
}

/// Runs the kernel: one block.
template <class... Arguments>
void launch(const StreamDriver& driver, void* kernel, unsigned threads, Arguments... arguments) {
  void* pointers[] = {&arguments...};
  driver.call("cuLaunchKernel", kernel, 1u, 1u, 1u, threads, 1u, 1u, 0u, driver.stream, +pointers,
              static_cast<void**>(nullptr));
  driver.synchronize();
}

/// `before` rounds have run on this memory.
void exercise(const StreamDriver& driver, void* ring, void* sum, const Heap& heap, uint64_t before) {
  const int right = (me + 1) % npes, left = (me + npes - 1) % npes;
  for (uint64_t round = before + 1; round <= before + kRounds; ++round) {
    launch(driver, ring, 1, heap.words, heap.signal, heap.seen, right, round);
    const std::vector<uint64_t> seen = read(heap.seen, 2);
    const uint64_t put = static_cast<uint64_t>(left) * 1000 + round;
    check(seen[0] == put, "put and signal", round, seen[0], put);
    check(seen[1] == round - 1, "fetched value", round, seen[1], round - 1);
    shmem_barrier_all();  // the next round writes what this one reads
  }
  for (const size_t n : {size_t{1}, size_t{100}, kMost}) {
    std::vector<int64_t> mine(n);
    for (size_t i = 0; i < n; ++i) mine[i] = static_cast<int64_t>(i) * (me + 1);
    shmem_putmem(heap.source, mine.data(), n * sizeof(int64_t), me);
    launch(driver, sum, 256, heap.dest, heap.source, n);
    const std::vector<int64_t> sums = read(heap.dest, n);
    for (size_t i = 0; i < n; ++i) {
      const auto expected = i * static_cast<uint64_t>(npes) * static_cast<uint64_t>(npes + 1) / 2;
      check(static_cast<uint64_t>(sums[i]) == expected, "sum", i, static_cast<uint64_t>(sums[i]), expected);
    }
    shmem_barrier_all();
  }
}

std::string architecture(const StreamDriver& driver) {
  int device = 0, major = 0, minor = 0;
  driver.call("cuCtxGetDevice", &device);
  driver.call("cuDeviceGetAttribute", &major, 75, device);  // CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR
  driver.call("cuDeviceGetAttribute", &minor, 76, device);
  return "sm_" + std::to_string(major) + std::to_string(minor);
}

/// A module that stays, a library beside it, a module that came back.
void run(const StreamDriver& driver, const std::string& code, const Heap& heap) {
  shmemx_cumodule_t module = nullptr;
  void *ring = nullptr, *sum = nullptr;
  const auto load = [&] {
    driver.call("cuModuleLoadData", &module, code.data());
    driver.call("cuModuleGetFunction", &ring, module, "ring");
    driver.call("cuModuleGetFunction", &sum, module, "sum");
    check(shmemx_cumodule_init(module) == 0, "shmemx_cumodule_init", 0, 1, 0);
  };
  load();
  exercise(driver, ring, sum, heap, 0);

  shmemx_culibrary_t library = nullptr;
  void *library_ring = nullptr, *library_sum = nullptr;
  driver.call("cuLibraryLoadData", &library, code.data(), static_cast<void*>(nullptr), static_cast<void*>(nullptr), 0u,
              static_cast<void*>(nullptr), static_cast<void*>(nullptr), 0u);
  driver.call("cuLibraryGetKernel", &library_ring, library, "ring");
  driver.call("cuLibraryGetKernel", &library_sum, library, "sum");
  check(shmemx_culibrary_init(library) == 0, "shmemx_culibrary_init", 0, 1, 0);
  exercise(driver, library_ring, library_sum, heap, kRounds);

  check(shmemx_cumodule_finalize(module) == 0, "shmemx_cumodule_finalize", 0, 1, 0);
  driver.call("cuModuleUnload", module);
  load();
  exercise(driver, ring, sum, heap, 2 * kRounds);
  check(shmemx_culibrary_finalize(library) == 0, "shmemx_culibrary_finalize", 0, 1, 0);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: loaded_kernels INCLUDE FILE\n");
    return 2;
  }
  setenv("CUDA_MODULE_LOADING", "EAGER", 0);
  shmem_init();
  me = shmem_my_pe();
  npes = shmem_n_pes();
  if (shmemx_attach_device() != 0) {
    if (me == 0) std::printf("skipped: no GPU\n");
    shmem_finalize();
    return 77;
  }
  const StreamDriver driver;
  const Heap heap{zeroed<uint64_t>(4), zeroed<uint64_t>(1), zeroed<uint64_t>(2), zeroed<int64_t>(kMost),
                  zeroed<int64_t>(kMost)};
  const std::string code = railshmem::headers::nvrtc_compile(argv[1], argv[2], architecture(driver));
  check(!code.empty(), "NVRTC", 0, 0, 1);
  if (code.empty()) shmem_global_exit(1);
  run(driver, code, heap);
  if (me == 0) std::printf("%s loaded kernels, %d PEs\n", failures == 0 ? "ok    " : "FAILED", npes);
  shmem_finalize();
  return failures == 0 ? 0 : 1;
}
