// SPDX-License-Identifier: BSD-3-Clause
// Device memory that the program allocated itself: cudaMalloc memory as source of puts and destination of gets of host
// and kernels, and memory of cuMemCreate made symmetric. Every PE works on its right neighbour.
#include <cuda.h>

#include <vector>

#include "tests/gpu/multi_gpu/gpu_pes.h"

using namespace railshmem::multi;

namespace {

constexpr size_t kMost = size_t{1} << 20, kPiece = size_t{2} << 20;

__device__ __host__ unsigned char value_of(int pe, size_t i, int round) {
  return static_cast<unsigned char>(static_cast<size_t>(pe * 53 + round * 17) + i * 7 + (i >> 8));
}

__global__ void fill(unsigned char* bytes, size_t n, int pe, int round) {
  for (size_t i = threadIdx.x; i < n; i += blockDim.x) bytes[i] = value_of(pe, i, round);
}
__global__ void compare(Findings* findings, const unsigned char* bytes, size_t n, int pe, int round) {
  for (size_t i = threadIdx.x; i < n; i += blockDim.x) EXPECT_EQ(bytes[i], value_of(pe, i, round));
}

enum class By { thread, warp, block };

template <By kBy>
__global__ void put_and_get(unsigned char* dest, const unsigned char* source, unsigned char* back, size_t n,
                            int right) {
  if constexpr (kBy == By::block) {
    shmemx_putmem_nbi_block(dest, source, n, right);
    __syncthreads();
    shmem_quiet();
    __syncthreads();
    shmemx_getmem_block(back, dest, n, right);
  } else if constexpr (kBy == By::warp) {
    if (threadIdx.x >= 32) return;
    shmemx_putmem_nbi_warp(dest, source, n, right);
    __syncwarp();
    shmem_quiet();
    __syncwarp();
    shmemx_getmem_warp(back, dest, n, right);
  } else {
    if (threadIdx.x != 0) return;
    shmem_putmem(dest, source, n, right);
    shmem_quiet();
    shmem_getmem_nbi(back, dest, n, right);
    shmem_quiet();
  }
}

__global__ void put_signal(Findings* findings, unsigned char* dest, const unsigned char* source, size_t n,
                           uint64_t* signal, uint64_t round, int right) {
  if (threadIdx.x == 0) shmem_putmem_signal_nbi(dest, source, n, signal, round, SHMEM_SIGNAL_SET, right);
  if (threadIdx.x == 0) EXPECT_EQ(shmem_signal_wait_until(signal, SHMEM_CMP_GE, round), round);
  __syncthreads();
  if (threadIdx.x == 0) shmem_quiet();
}

__global__ void add(uint64_t* word, uint64_t value, int right) {
  shmem_uint64_atomic_add(word, value, right);
  shmem_quiet();
}
__global__ void check_word(Findings* findings, uint64_t* word, uint64_t value, int me) {
  EXPECT_EQ(shmem_uint64_atomic_fetch(word, me), value);
}

unsigned char* allocate(size_t n) {
  void* memory = nullptr;
  CUDA_MUST(cudaMalloc(&memory, n));
  return static_cast<unsigned char*>(memory);
}

struct Ring {
  Job& job;
  int me, right, left;
};

void host_calls(const Ring& at, unsigned char* dest, unsigned char* source, unsigned char* back, size_t n, int round) {
  fill<<<1, 256>>>(source, n, at.me, round);
  CUDA_MUST(cudaDeviceSynchronize());
  shmem_putmem(dest, source, n, at.right);
  at.job.run("host put from cudaMalloc memory", [&](Findings* f) { compare<<<1, 256>>>(f, dest, n, at.left, round); });
  shmem_getmem(back, dest, n, at.right);
  at.job.run("host get to cudaMalloc memory", [&](Findings* f) { compare<<<1, 256>>>(f, back, n, at.me, round); });
}

template <By kBy>
void kernels(const Ring& at, const char* name, unsigned char* dest, unsigned char* source, unsigned char* back,
             size_t n, int round) {
  fill<<<1, 256>>>(source, n, at.me, round);
  at.job.run(name, [&](Findings*) { put_and_get<kBy><<<1, 256>>>(dest, source, back, n, at.right); });
  at.job.run(name, [&](Findings* f) {
    compare<<<1, 256>>>(f, dest, n, at.left, round);
    compare<<<1, 256>>>(f, back, n, at.me, round);
  });
}

void unregistered(const Ring& at) {
  auto* const dest = static_cast<unsigned char*>(shmem_malloc(kMost));
  auto* const signal = static_cast<uint64_t*>(shmem_calloc(1, 8));
  int round = 0;
  for (const size_t n : {size_t{1}, size_t{8}, size_t{100}, size_t{4000}, size_t{30000}, kMost}) {
    // Anew for each size: an address may come back as another allocation's.
    unsigned char* const source = allocate(n);
    unsigned char* const back = allocate(n);
    host_calls(at, dest, source, back, n, ++round);
    kernels<By::thread>(at, "put and get of cudaMalloc memory by a thread", dest, source, back, n, ++round);
    kernels<By::warp>(at, "put and get of cudaMalloc memory by a warp", dest, source, back, n, ++round);
    kernels<By::block>(at, "put and get of cudaMalloc memory by a block", dest, source, back, n, ++round);
    fill<<<1, 256>>>(source, n, at.me, ++round);
    const auto number = static_cast<uint64_t>(round);
    at.job.run("put_signal of cudaMalloc memory", [&](Findings* f) {
      put_signal<<<1, 32>>>(f, dest, source, n, signal, number, at.right);
      compare<<<1, 256>>>(f, dest, n, at.left, round);
    });
    CUDA_MUST(cudaFree(source));
    CUDA_MUST(cudaFree(back));
  }
  shmem_free(signal);
  shmem_free(dest);
}

/// The driver's function of this name, without linking the driver.
template <class Function>
Function* entry(const char* name) {
  void* found = nullptr;
  CUDA_MUST(cudaGetDriverEntryPointByVersion(name, &found, 12000, cudaEnableDefault));
  return reinterpret_cast<Function*>(found);
}
void must_be(CUresult result, const char* call) {
  if (result == CUDA_SUCCESS) return;
  std::fprintf(stderr, "PE %d: %s: error %d\n", shmem_my_pe(), call, static_cast<int>(result));
  shmem_global_exit(1);
}
#define DRIVER_MUST(function, ...) must_be(entry<decltype(function)>(#function)(__VA_ARGS__), #function)

/// Two pieces of memory, one behind the other, as growing allocators have it.
struct Mapped {
  explicit Mapped(CUmemAllocationHandleType type) {
    int device = 0;
    CUDA_MUST(cudaGetDevice(&device));
    CUmemAllocationProp properties = {};
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    properties.location.id = device;
    properties.requestedHandleTypes = type;
    DRIVER_MUST(cuMemAddressReserve, &address, 3 * kPiece, 0, 0, 0);
    for (size_t i = 0; i < 2; ++i) {
      DRIVER_MUST(cuMemCreate, &handles[i], (i + 1) * kPiece, &properties, 0);
      DRIVER_MUST(cuMemMap, address + i * kPiece, (i + 1) * kPiece, 0, handles[i], 0);
    }
    CUmemAccessDesc access = {};
    access.location = properties.location;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    DRIVER_MUST(cuMemSetAccess, address, 3 * kPiece, &access, 1);
  }
  ~Mapped() {
    DRIVER_MUST(cuMemUnmap, address, kPiece);
    DRIVER_MUST(cuMemUnmap, address + kPiece, 2 * kPiece);
    DRIVER_MUST(cuMemAddressFree, address, 3 * kPiece);
    for (const CUmemGenericAllocationHandle handle : handles) DRIVER_MUST(cuMemRelease, handle);
  }
  Mapped(const Mapped&) = delete;
  unsigned char* at(size_t offset) const { return reinterpret_cast<unsigned char*>(address) + offset; }
  CUdeviceptr address = 0;
  CUmemGenericAllocationHandle handles[2] = {};
};

bool check(Job& job, bool holds, const char* what) {
  if (!holds) std::printf("FAILED PE %d: %s\n", job.me, what);
  job.failures += !holds;
  return holds;
}

void symmetric(const Ring& at, int round) {
  constexpr size_t kShift = 4096, kBytes = 3 * kPiece - kShift, kPart = 300000;
  constexpr size_t kSeam = kPiece - kShift - 100000;  // a part from here is in both pieces
  const Mapped memory(CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
  auto* const shared = static_cast<unsigned char*>(shmemx_buffer_register_symmetric(memory.at(kShift), kBytes, 0));
  if (!check(at.job, shared != nullptr, "shmemx_buffer_register_symmetric")) return;
  fill<<<1, 256>>>(memory.at(kShift + kSeam), kPart, at.me, round);
  at.job.run("fill by the program's own address",
             [&](Findings* f) { compare<<<1, 256>>>(f, shared + kSeam, kPart, at.me, round); });
  at.job.run("put from a registered buffer into one", [&](Findings*) {
    put_and_get<By::block><<<1, 256>>>(shared, shared + kSeam, shared + kPiece + 1000000, kPart, at.right);
  });
  at.job.run("what came, by the program's own address", [&](Findings* f) {
    compare<<<1, 256>>>(f, memory.at(kShift), kPart, at.left, round);
    compare<<<1, 256>>>(f, memory.at(kShift) + kPiece + 1000000, kPart, at.me, round);
  });
  unsigned char* const plain = allocate(kPart);
  shmem_getmem(plain, shared + kSeam, kPart, at.right);
  at.job.run("host get from a registered buffer",
             [&](Findings* f) { compare<<<1, 256>>>(f, plain, kPart, at.right, round); });
  CUDA_MUST(cudaFree(plain));
  auto* const word = reinterpret_cast<uint64_t*>(shared + kBytes - 8);
  CUDA_MUST(cudaMemset(word, 0, 8));
  CUDA_MUST(cudaDeviceSynchronize());
  at.job.run("atomics on a registered buffer", [&](Findings*) { add<<<4, 32>>>(word, 3, at.right); });
  shmem_uint64_atomic_add(word, 5, at.right);
  at.job.run("their sum", [&](Findings* f) { check_word<<<1, 1>>>(f, word, 4 * 32 * 3 + 5, at.me); });
  check(at.job, shmemx_buffer_unregister_symmetric(shared, kBytes) == 0, "shmemx_buffer_unregister_symmetric");
}

void refused(const Ring& at) {
  unsigned char* const plain = allocate(kPiece);
  check(at.job, shmemx_buffer_register_symmetric(plain, kPiece, 0) == nullptr, "cudaMalloc memory was not refused");
  CUDA_MUST(cudaFree(plain));
  if (shmem_team_n_pes(SHMEM_TEAM_SHARED) == 1) return;
  const Mapped memory(CU_MEM_HANDLE_TYPE_NONE);
  check(at.job, shmemx_buffer_register_symmetric(memory.at(0), kPiece, 0) == nullptr,
        "memory that cannot be shared was not refused");
}

}  // namespace

int main() {
  Job job;
  const Ring at{job, job.me, (job.me + 1) % job.npes, (job.me + job.npes - 1) % job.npes};
  unregistered(at);
  symmetric(at, 1);
  refused(at);
  for (int round = 2; round <= 4; ++round) symmetric(at, round);
  if (job.me == 0) std::printf("own memory: %d PEs, PE 0: %d failures\n", job.npes, job.failures);
  return job.end();
}
