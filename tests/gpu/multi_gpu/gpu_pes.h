// SPDX-License-Identifier: BSD-3-Clause
// What programs with kernels on several PEs share: one GPU a PE, and checks that count on the GPU.
#pragma once

#include <cuda_runtime.h>
#include <shmem.h>
#include <shmemx.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace railshmem::multi {

inline void must(cudaError_t result, const char* call, int line) {
  if (result == cudaSuccess) return;
  std::fprintf(stderr, "PE %d: line %d: %s: %s\n", shmem_my_pe(), line, call, cudaGetErrorString(result));
  shmem_global_exit(1);
}
#define CUDA_MUST(call) ::railshmem::multi::must(call, #call, __LINE__)

/// What kernels found wrong, in memory that the CPU reads.
struct Findings {
  unsigned long long wrong;
  int line;
  long long seen, expected;
};

__device__ inline void expect(Findings* findings, long long seen, long long expected, int line) {
  if (seen == expected) return;
  if (atomicAdd(&findings->wrong, 1ull) == 0) {
    findings->line = line;
    findings->seen = seen;
    findings->expected = expected;
  }
}
#define EXPECT_EQ(seen, expected) \
  ::railshmem::multi::expect(findings, static_cast<long long>(seen), static_cast<long long>(expected), __LINE__)

/// shmem_init, and the GPU of this PE: by turns among the PEs of the host.
class Job {
 public:
  Job() {
    shmem_init();
    me = shmem_my_pe();
    npes = shmem_n_pes();
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
      if (me == 0) std::printf("skipped: no GPU\n");
      shmem_finalize();
      std::exit(77);
    }
    CUDA_MUST(cudaSetDevice(me % devices));
    gpus = devices;
    CUDA_MUST(cudaHostAlloc(reinterpret_cast<void**>(&findings), sizeof(Findings), cudaHostAllocMapped));
    *findings = {};
  }

  bool shares_gpu() const { return npes > gpus; }

  /// Runs a kernel on every PE: `launch(findings)`. Collective. Says what went wrong; true when nothing did.
  template <class Launch>
  void run(const char* name, Launch&& launch) {
    shmem_barrier_all();
    const auto began = std::chrono::steady_clock::now();
    launch(findings);
    CUDA_MUST(cudaGetLastError());
    CUDA_MUST(cudaDeviceSynchronize());
    shmem_barrier_all();
    const double ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - began).count();
    if (findings->wrong != 0)
      std::printf("FAILED %s: PE %d: %llu times, first in line %d: %lld, expected %lld\n", name, me, findings->wrong,
                  findings->line, findings->seen, findings->expected);
    else if (me == 0)
      std::printf("ok     %s, %.0f ms\n", name, ms);
    failures += findings->wrong != 0;
    *findings = {};
  }

  /// The exit status.
  int end() {
    CUDA_MUST(cudaFreeHost(findings));
    shmem_finalize();
    return failures == 0 ? 0 : 1;
  }

  int me = 0, npes = 0, gpus = 0, failures = 0;
  Findings* findings = nullptr;
};

}  // namespace railshmem::multi
