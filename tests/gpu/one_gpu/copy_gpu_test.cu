// SPDX-License-Identifier: BSD-3-Clause
// Copies by threads, warps and blocks: every alignment against the CPU, then what each variant costs.
#include <algorithm>

#include "include/shmem/detail/copy.h"
#include "include/shmem/device/order.h"
#include "tests/gpu/one_gpu/gpu_support.h"

namespace railshmem::gpu_test {
namespace {

__global__ void copy_all(unsigned char* to, const unsigned char* from, uint64_t nbytes) {
  copy_together<4>(threadIdx.x, blockDim.x, to, from, nbytes);
}
__global__ void copy_one(unsigned char* to, const unsigned char* from, uint64_t nbytes) {
  copy_bytes(to, from, nbytes);
}

void every_alignment() {
  constexpr uint64_t kBytes = 4096;
  const ChannelMemory::Block a = allocate(kBytes, Place::gpu), b = allocate(kBytes, Place::gpu);
  auto* const from = static_cast<unsigned char*>(a.get());
  auto* const to = static_cast<unsigned char*>(b.get());
  std::vector<unsigned char> source(kBytes), got(kBytes);
  for (uint64_t i = 0; i < kBytes; ++i) source[i] = static_cast<unsigned char>(i * 13 + i / 256);
  CUDA_MUST(cudaMemcpy(from, source.data(), kBytes, cudaMemcpyDefault));
  int cases = 0;
  for (const uint64_t nbytes : {1, 7, 15, 16, 17, 31, 64, 127, 500, 2049}) {
    for (uint64_t out = 0; out < 16; out += 1 + small_counts) {
      for (uint64_t in = 0; in < 16; in += 1 + 2 * small_counts) {
        for (const unsigned threads : {1u, 3u, 32u, 256u}) {
          CUDA_MUST(cudaMemsetAsync(to, 0xee, kBytes));
          if (threads == 1) {
            copy_one<<<1, 1>>>(to + 16 + out, from + in, nbytes);
          } else {
            copy_all<<<1, threads>>>(to + 16 + out, from + in, nbytes);
          }
          CUDA_MUST(cudaMemcpy(got.data(), to, kBytes, cudaMemcpyDefault));
          const bool whole = std::equal(source.begin() + static_cast<ptrdiff_t>(in),
                                        source.begin() + static_cast<ptrdiff_t>(in + nbytes),
                                        got.begin() + static_cast<ptrdiff_t>(16 + out));
          GPU_CHECK(whole && got[15 + out] == 0xee && got[16 + out + nbytes] == 0xee,
                    "%llu bytes from +%llu to +%llu by %u threads", static_cast<unsigned long long>(nbytes),
                    static_cast<unsigned long long>(in), static_cast<unsigned long long>(out), threads);
          ++cases;
        }
      }
    }
  }
  std::printf("copy: %d cases of size, alignment and threads\n", cases);
}

/// The copy and what completes it, as put_nbi and quiet do it; the loop of before for comparison.
template <int kUnroll>
__global__ void timed(unsigned char* to, const unsigned char* from, uint64_t nbytes, int repeats, uint64_t* ns) {
  const uint64_t start = portable::clock_ns();
  for (int i = 0; i < repeats; ++i) {
    if (kUnroll == 0) {
      for (uint64_t k = threadIdx.x; k < nbytes / 16; k += blockDim.x) {
        reinterpret_cast<uint4*>(to)[k] = reinterpret_cast<const uint4*>(from)[k];
      }
    } else {
      copy_share<kUnroll == 0 ? 1 : kUnroll>(blockDim.x == 1 ? 0 : threadIdx.x, blockDim.x, to, from, nbytes);
    }
    __syncthreads();
    if (threadIdx.x == 0) portable::full_fence();
    __syncthreads();
  }
  if (threadIdx.x == 0) *ns = (portable::clock_ns() - start) / static_cast<uint64_t>(repeats);
}

using Timed = void (*)(unsigned char*, const unsigned char*, uint64_t, int, uint64_t*);
struct Variant {
  const char* name;
  Timed kernel;
};

void measure_copies() {
  const Variant variants[] = {{"loop", timed<0>}, {"1", timed<1>}, {"4", timed<4>}, {"8", timed<8>}, {"16", timed<16>}};
  for (const Variant& v : variants) {
    cudaFuncAttributes attributes{};
    CUDA_MUST(cudaFuncGetAttributes(&attributes, v.kernel));
    std::printf("copy: loads in flight %-4s: %d registers\n", v.name, attributes.numRegs);
  }
  constexpr uint64_t kBytes = uint64_t{4} << 20;
  int devices = 0;
  CUDA_MUST(cudaGetDeviceCount(&devices));
  int peer = 0;
  if (devices > 1) CUDA_MUST(cudaDeviceCanAccessPeer(&peer, 0, 1));
  const ChannelMemory::Block a = allocate(kBytes, Place::gpu);
  ChannelMemory::Block b = allocate(kBytes, Place::gpu);
  void* there = b.get();
  if (peer != 0) {
    CUDA_MUST(cudaDeviceEnablePeerAccess(1, 0));
    CUDA_MUST(cudaSetDevice(1));
    CUDA_MUST(cudaMalloc(&there, kBytes));
    CUDA_MUST(cudaSetDevice(0));
  }
  Pinned<uint64_t> ns(1);
  std::printf("copy: us of a copy and its fence, to %s\n", peer != 0 ? "a peer GPU" : "the same GPU");
  for (const unsigned threads : {1u, 32u, 256u, 1024u}) {
    for (const uint64_t nbytes : {uint64_t{8}, uint64_t{512}, uint64_t{4096}, uint64_t{32768}, uint64_t{1} << 20}) {
      if (nbytes > 32768 && threads == 1) continue;
      for (const uint64_t shift : {0, 4}) {
        std::printf("copy: %4u threads %8llu bytes, %llu off:", threads, static_cast<unsigned long long>(nbytes),
                    static_cast<unsigned long long>(shift));
        for (const Variant& v : variants) {
          if (v.kernel == static_cast<Timed>(timed<0>) && shift != 0) continue;
          cudaFuncAttributes attributes{};
          CUDA_MUST(cudaFuncGetAttributes(&attributes, v.kernel));
          if (static_cast<unsigned>(attributes.maxThreadsPerBlock) < threads) continue;
          for (const int repeats : {2, static_cast<int>(scaled(40))}) {
            v.kernel<<<1, threads>>>(static_cast<unsigned char*>(there) + shift, static_cast<unsigned char*>(a.get()),
                                     nbytes, repeats, ns.get());
            finish_kernel();
          }
          std::printf("  %s %.2f", v.name, static_cast<double>(ns[0]) * 1e-3);
        }
        std::printf("\n");
      }
    }
  }
  if (peer != 0) {
    CUDA_MUST(cudaSetDevice(1));
    CUDA_MUST(cudaFree(there));
    CUDA_MUST(cudaSetDevice(0));
  }
}

}  // namespace

void test_copies() {
  every_alignment();
  measure_copies();
}

}  // namespace railshmem::gpu_test
