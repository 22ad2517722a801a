// SPDX-License-Identifier: BSD-3-Clause
// The names of the standard in a kernel, with the view of this unit filled as the library fills it: PE 0 calls, PE 1 is
// mapped or only reached through the proxy.
#include <shmem.h>

#include <numeric>

#include "src/api/device_views.h"
#include "tests/gpu/one_gpu/gpu_job.h"

namespace railshmem::gpu_test {
namespace {

constexpr unsigned kThreads = 64, kBlocks = 2, kAll = kBlocks * kThreads;
constexpr uint64_t kRegion = 2048;  // of each thread, in the source and the target half

struct Mine {
  unsigned char *source, *target;  ///< target as a symmetric address
  unsigned char* seen;             ///< and at PE 1
};

__device__ bool same(const unsigned char* a, const unsigned char* b, uint64_t nbytes) {
  for (uint64_t i = 0; i < nbytes; ++i) {
    if (*const_cast<const volatile unsigned char*>(a + i) != *const_cast<const volatile unsigned char*>(b + i))
      return false;
  }
  return true;
}

__device__ int blocks(const Mine& at) {
  for (uint64_t nbytes = 0; nbytes < 200; nbytes += nbytes < 40 ? 1 : 13) {
    for (uint64_t shift = 0; shift < 17; shift += 3) {
      shmem_putmem_nbi(at.target + shift, at.source + 5, nbytes, 1);
      shmem_quiet();
      LINE_UNLESS(same(at.seen + shift, at.source + 5, nbytes));
      shmem_getmem(at.source + 1024, at.target + shift, nbytes, 1);
      LINE_UNLESS(same(at.source + 1024, at.source + 5, nbytes));
    }
  }
  unsigned char local[48];
  shmem_get8(local, at.target, 45, 1);
  LINE_UNLESS(same(local, at.seen, 45));
  local[44] = 77;
  shmem_put8(at.target + 256, local, 45, 1);
  shmem_quiet();
  LINE_UNLESS(same(at.seen + 256, local, 45));
  return 0;
}

__device__ int values_and_strides(const Mine& at) {
  auto* const doubles = reinterpret_cast<double*>(at.target + 512);
  shmem_double_p(doubles, 2.5, 1);
  shmem_p(reinterpret_cast<short*>(at.target + 520), static_cast<short>(-3), 1);
  shmem_quiet();
  LINE_UNLESS(shmem_g(doubles, 1) == 2.5 && shmem_short_g(reinterpret_cast<short*>(at.target + 520), 1) == -3);
  shmem_int_iput(reinterpret_cast<int*>(at.target + 640), reinterpret_cast<int*>(at.source), 2, 3, 5, 1);
  shmem_quiet();
  for (int i = 0; i < 5; ++i) LINE_UNLESS(same(at.seen + 640 + 8 * i, at.source + 12 * i, 4));
  shmem_ibget16(at.source + 1200, at.target + 640, 4, 6, 3, 2, 1);
  LINE_UNLESS(same(at.source + 1200, at.seen + 640, 6) && same(at.source + 1208, at.seen + 652, 6));
  return 0;
}

__device__ int signals_and_atomics(const Mine& at) {
  auto* const signal = reinterpret_cast<uint64_t*>(at.target + 960);
  auto* const seen = reinterpret_cast<uint64_t*>(at.seen + 960);
  shmem_putmem_signal_nbi(at.target + 300, at.source, 100, signal, 5, SHMEM_SIGNAL_SET, 1);
  shmem_fence();
  shmem_signal_add(signal, 2, 1);
  LINE_UNLESS(shmem_signal_wait_until(seen, SHMEM_CMP_EQ, 7) == 7);
  LINE_UNLESS(same(at.seen + 300, at.source, 100));
  auto* const word = reinterpret_cast<unsigned*>(at.target + 976);
  shmem_atomic_set(word, 12u, 1);
  shmem_quiet();
  LINE_UNLESS(shmem_atomic_fetch_add(word, 3u, 1) == 12 && shmem_atomic_fetch_xor(word, 1u, 1) == 15);
  LINE_UNLESS(shmem_atomic_compare_swap(word, 14u, 20u, 1) == 14 && shmem_atomic_swap(word, 1u, 1) == 20);
  auto* const real = reinterpret_cast<double*>(at.target + 984);
  shmem_double_atomic_set(real, 1.25, 1);
  shmem_quiet();
  LINE_UNLESS(shmem_double_atomic_fetch(real, 1) == 1.25);
  shmem_uint_wait_until(reinterpret_cast<unsigned*>(at.seen + 976), SHMEM_CMP_LT, 2);
  return 0;
}

/// All threads of the block together; sizes and shifts that meet every width of vector.
__device__ int by_scopes(unsigned char* source, unsigned char* target, unsigned char* seen) {
  for (const uint64_t nbytes : {0, 1, 15, 16, 100, 1000, 33333}) {
    for (const uint64_t shift : {0, 1, 2, 4, 8, 11}) {
      shmemx_putmem_block(target + shift, source, nbytes, 1);
      __syncthreads();
      if (threadIdx.x == 0) shmem_quiet();
      __syncthreads();
      LINE_UNLESS(same(seen + shift, source, nbytes));
      __syncthreads();
      if (threadIdx.x < 32) {
        shmemx_getmem_warp(source + 40000, target + shift, nbytes, 1);
        LINE_UNLESS(same(source + 40000, source, nbytes));
        __syncwarp();
        for (uint64_t i = threadIdx.x; i < nbytes; i += 32) source[40000 + i] = 0;
        shmemx_put8_nbi_warp(target + shift, source + 40000, nbytes, 1);
        __syncwarp();
        if (threadIdx.x == 0) shmem_quiet();
      }
      __syncthreads();
    }
  }
  return 0;
}

__global__ void call_names(unsigned char* objects, unsigned char* theirs, bool atomics, uint64_t* lines) {
  const uint64_t mine = thread_index() * kRegion;
  const Mine at{objects + mine, objects + kAll * kRegion + mine, theirs + kAll * kRegion + mine};
  int line = shmem_my_pe() == 0 && shmem_n_pes() == 2 && shmem_team_n_pes(SHMEM_TEAM_WORLD) == 2 ? 0 : __LINE__;
  if (line == 0) line = blocks(at);
  if (line == 0) line = values_and_strides(at);
  if (line == 0 && atomics) line = signals_and_atomics(at);
  __syncthreads();
  const uint64_t scoped = 2 * kAll * kRegion + blockIdx.x * 262144;
  const int together = by_scopes(objects + scoped, objects + scoped + 131072, theirs + scoped + 131072);
  lines[thread_index()] = static_cast<uint64_t>(line != 0 ? line : together);
}

__global__ void before_the_start(long* word, uint64_t* lines) {
  shmem_long_p(word, 1, 0);
  shmem_long_wait_until(word, SHMEM_CMP_EQ, 1);
  shmem_quiet();
  lines[0] = shmem_my_pe() == -1 && shmem_n_pes() == 0 && *word == 0 ? 0 : __LINE__;
}

__global__ void bad_pe(int* object) {
  shmem_int_p(object, 1, 77);
}

__global__ void wait_in_vain(long* word) {
  shmem_long_wait_until(word, SHMEM_CMP_EQ, 1);
}

void run(const char* name, int pes_a_node) {
  GpuJob job(2, pes_a_node, uint64_t{4} << 20);
  std::vector<unsigned char> initial(2 * kAll * kRegion + kBlocks * 262144);
  for (size_t i = 0; i < initial.size(); ++i) initial[i] = static_cast<unsigned char>(i * 7 + i / 251);
  CUDA_MUST(cudaMemcpy(job.object(0), initial.data(), initial.size(), cudaMemcpyDefault));
  DeviceViews::instance().set(job.views[0]);
  Pinned<uint64_t> lines(kAll);
  // On pinned memory the GPU's own atomics are none for the CPU, but these all go through the proxy.
  call_names<<<kBlocks, kThreads>>>(job.object(0), job.object(1), true, lines.get());
  finish_kernel();
  for (unsigned t = 0; t < kAll; ++t) {
    GPU_CHECK(lines[t] == 0, "%s: thread %u failed %s:%llu", name, t, __FILE__,
              static_cast<unsigned long long>(lines[t]));
  }
  job.check_faults(name);
  std::printf("api: %-26s %llu commands\n", name, static_cast<unsigned long long>(job.commands.load()));
  DeviceViews::instance().clear();
}

void faults() {
  GpuJob job(2, 2, uint64_t{4} << 20, 50 * kMillisecond);
  DeviceViews::instance().set(job.views[0]);
  bad_pe<<<4, 32>>>(reinterpret_cast<int*>(job.object(0)));
  finish_kernel();
  const FaultRecord& f = job.faults[0];
  GPU_CHECK(f.ready == 1 && f.status == static_cast<uint64_t>(ChannelStatus::bad_pe) && f.pe == 77 &&
                f.call == DeviceCall::p && f.address == reinterpret_cast<uintptr_t>(job.object(0)),
            "record: ready %llu status %llu pe %d call %s", static_cast<unsigned long long>(f.ready),
            static_cast<unsigned long long>(f.status), f.pe, name_of(f.call));
  std::memset(&job.faults[0], 0, sizeof f);
  CUDA_MUST(cudaMemset(job.fault_taken.get(), 0, sizeof(uint32_t)));
  const uint64_t start = portable::clock_ns();
  wait_in_vain<<<1, 1>>>(reinterpret_cast<long*>(job.object(0)));
  finish_kernel();
  const double ms = static_cast<double>(portable::clock_ns() - start) * 1e-6;
  GPU_CHECK(f.status == static_cast<uint64_t>(ChannelStatus::timeout) && ms < 5000, "status %llu after %.1f ms",
            static_cast<unsigned long long>(f.status), ms);
  std::printf("api: a bad PE is recorded, a wait of 50 ms in vain ends after %.1f ms\n", ms);
  DeviceViews::instance().clear();
}

}  // namespace

void test_api() {
  Pinned<uint64_t> lines(1);
  const ChannelMemory::Block word = allocate(8, Place::gpu);
  before_the_start<<<1, 1>>>(static_cast<long*>(word.get()), lines.get());
  finish_kernel();
  GPU_CHECK(lines[0] == 0, "a kernel before the start failed line %llu", static_cast<unsigned long long>(lines[0]));
  run("mapped PE, GPU memory", 2);
  run("far PE, by the proxy", 1);
  faults();
}

}  // namespace railshmem::gpu_test
