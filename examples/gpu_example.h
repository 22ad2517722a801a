// SPDX-License-Identifier: BSD-3-Clause
//
// The common part of the examples with kernels: options, the start with a GPU for each PE, the verdict at the end.
#ifndef EXAMPLES_GPU_EXAMPLE_H
#define EXAMPLES_GPU_EXAMPLE_H

#include <shmem.h>
#include <shmemx.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace example {

/// Ends the job when a call of CUDA fails.
inline void must(cudaError_t result, const char* call, int line) {
  if (result == cudaSuccess) return;
  std::fprintf(stderr, "PE %d: line %d: %s: %s\n", shmem_my_pe(), line, call, cudaGetErrorString(result));
  shmem_global_exit(2);
}
#define MUST(call) ::example::must((call), #call, __LINE__)

/// Symmetric memory of the GPU (shmem_malloc) or of the host; full of zeroes.
template <class T>
T* on_gpu(size_t n) {
  auto* const memory = static_cast<T*>(shmem_calloc(n, sizeof(T)));
  if (memory == nullptr) {
    std::fprintf(stderr, "PE %d: no %zu bytes of symmetric memory\n", shmem_my_pe(), n * sizeof(T));
    shmem_global_exit(2);
  }
  return memory;
}

/// The word that follows `name` on the command line; `otherwise` when it is not there.
inline const char* word(int argc, char** argv, const char* name, const char* otherwise) {
  for (int i = 1; i + 1 < argc; ++i)
    if (std::strcmp(argv[i], name) == 0) return argv[i + 1];
  return otherwise;
}

/// The number that follows `name` on the command line; `otherwise` when it is not there.
inline int option(int argc, char** argv, const char* name, int otherwise) {
  const char* const number = word(argc, argv, name, nullptr);
  return number == nullptr ? otherwise : std::atoi(number);
}

/// Whether `name` is on the command line.
inline bool flag(int argc, char** argv, const char* name) {
  for (int i = 1; i < argc; ++i)
    if (std::strcmp(argv[i], name) == 0) return true;
  return false;
}

/// Ends the program, on all PEs alike, where its options make no sense.
inline void demand(bool sense, const char* what) {
  if (sense) return;
  if (shmem_my_pe() == 0) std::fprintf(stderr, "this example needs %s\n", what);
  shmem_finalize();
  std::exit(2);
}

/// shmem_init, and the GPU of this PE: by turns among the PEs. Without a GPU the example ends here, with status 77.
inline void start() {
  setenv("SHMEM_WAIT_TIMEOUT", "60",
         0);  // seconds until a wait, also one of a kernel, is an error; the default is long
  shmem_init();
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    if (shmem_my_pe() == 0) std::printf("skipped: no GPU\n");
    shmem_finalize();
    std::exit(77);
  }
  MUST(cudaSetDevice(shmem_my_pe() % devices));
}

/// Multiprocessors of this PE's GPU: as many blocks run at once.
inline int multiprocessors() {
  int device = 0, count = 0;
  MUST(cudaGetDevice(&device));
  MUST(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device));
  return count;
}

/// Blocks of a kernel with at least that many threads.
inline int blocks(size_t threads, int of_block) {
  return static_cast<int>((threads + of_block - 1) / of_block);
}

/// A number from -1 to 1 that looks random; for a key all PEs get one number, on the host and in kernels.
__host__ __device__ inline float noise(uint32_t key) {
  key = (key ^ key >> 16) * 0x7feb352dU;
  key = (key ^ key >> 15) * 0x846ca68bU;
  key ^= key >> 16;
  return static_cast<float>(key >> 8) / static_cast<float>(1 << 23) - 1.0F;
}

inline double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// The largest value of all PEs. Collective.
inline double largest(double mine) {
  auto* const values = static_cast<double*>(shmemx_malloc_host(2 * sizeof(double)));
  values[0] = mine;
  shmem_double_max_reduce(SHMEM_TEAM_WORLD, values + 1, values, 1);
  const double result = values[1];
  shmem_free(values);
  return result;
}

/// The sum of the values of all PEs. Collective.
inline long sum(long mine) {
  auto* const values = static_cast<long*>(shmemx_malloc_host(2 * sizeof(long)));
  values[0] = mine;
  shmem_long_sum_reduce(SHMEM_TEAM_WORLD, values + 1, values, 1);
  const long result = values[1];
  shmem_free(values);
  return result;
}

/// The last line of the output, and the exit status of every PE: 0 when nothing was wrong anywhere. Collective.
inline int finish(const char* name, long wrong) {
  const long all = sum(wrong);
  if (shmem_my_pe() == 0) std::printf("%s: %ld values wrong: %s\n", name, all, all == 0 ? "passed" : "FAILED");
  shmem_finalize();
  return all == 0 ? 0 : 1;
}

}  // namespace example

#endif
