// SPDX-License-Identifier: BSD-3-Clause
// Memory of the device heap and of shmemx_mem_alloc as NCCL's windows: NCCL takes buffers of cuMemCreate whose every
// piece the driver shares, at offsets of 4096 bytes. Skipped (77) without NCCL, and where PEs share a GPU, which NCCL
// refuses.
//   nccl_window [LIBRARY]      default: libnccl.so.2, as the loader finds it
#include <shmem.h>
#include <shmemx.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "tests/gpu/multi_gpu/stream_driver.h"

namespace {

using railshmem::multi::StreamDriver;

constexpr int kSkipped = 77;
constexpr int kFloat = 7, kSum = 0;       // ncclFloat32, ncclSum
constexpr int kSymmetricWindow = 1;       // NCCL_WIN_COLL_SYMMETRIC
constexpr int kFirstWithWindows = 22700;  // NCCL 2.27
constexpr size_t kElements = size_t{3} << 20;
constexpr size_t kAlign = 4096;

using Communicator = struct CommunicatorObject*;
using Window = struct WindowObject*;
/// ncclUniqueId, which goes by value.
struct UniqueId {
  std::array<char, 128> bytes;
};

int me, npes, failures = 0;

/// The functions of libnccl.so.2 that the test calls.
struct Nccl {
  explicit Nccl(const char* path) : library(dlopen(path, RTLD_NOW)) {
    if (library == nullptr) return;
    find(version, "ncclGetVersion");
    find(unique_id, "ncclGetUniqueId");
    find(init, "ncclCommInitRank");
    find(destroy, "ncclCommDestroy");
    find(all_reduce, "ncclAllReduce");
    find(words, "ncclGetErrorString");
    find(register_buffer, "ncclCommRegister");
    find(deregister_buffer, "ncclCommDeregister");
    find(register_window, "ncclCommWindowRegister");
    find(deregister_window, "ncclCommWindowDeregister");
  }
  template <class Function>
  void find(Function& function, const char* symbol) {
    function = reinterpret_cast<Function>(dlsym(library, symbol));
  }
  bool check(int result, const char* call, const char* memory) const {
    if (result == 0) return true;
    std::printf("FAILED: PE %d: %s on %s: %s\n", me, call, memory, words(result));
    ++failures;
    return false;
  }

  void* library;
  int (*version)(int*) = nullptr;
  int (*unique_id)(UniqueId*) = nullptr;
  int (*init)(Communicator*, int nranks, UniqueId, int rank) = nullptr;
  int (*destroy)(Communicator) = nullptr;
  int (*all_reduce)(const void* from, void* to, size_t n, int type, int op, Communicator, shmemx_stream_t) = nullptr;
  const char* (*words)(int) = nullptr;
  int (*register_buffer)(Communicator, void*, size_t, void** handle) = nullptr;
  int (*deregister_buffer)(Communicator, void* handle) = nullptr;
  int (*register_window)(Communicator, void*, size_t, Window*, int flags) = nullptr;
  int (*deregister_window)(Communicator, Window) = nullptr;
};

bool one_gpu_each(const StreamDriver& driver) {
  auto* const mine = static_cast<unsigned char*>(shmemx_malloc_host(16));
  auto* const all = static_cast<unsigned char*>(shmemx_malloc_host(16 * static_cast<size_t>(npes)));
  int device = 0;
  driver.call("cuCtxGetDevice", &device);
  driver.call("cuDeviceGetUuid_v2", mine, device);
  shmem_fcollectmem(SHMEM_TEAM_WORLD, all, mine, 16);
  bool apart = true;
  for (int pe = 0; pe < npes; ++pe) apart &= pe == me || std::memcmp(all + 16 * pe, mine, 16) != 0;
  shmem_free(all);
  shmem_free(mine);
  return apart;
}

UniqueId agreed_id(const Nccl& nccl) {
  auto* const id = static_cast<UniqueId*>(shmemx_malloc_host(sizeof(UniqueId)));
  if (me == 0) nccl.check(nccl.unique_id(id), "ncclGetUniqueId", "no memory");
  shmem_broadcastmem(SHMEM_TEAM_WORLD, id, id, sizeof *id, 0);
  shmem_barrier_all();
  const UniqueId agreed = *id;
  shmem_barrier_all();
  shmem_free(id);
  return agreed;
}

/// NCCL adds the PEs' vectors in the very buffer.
void add_up(const Nccl& nccl, Communicator communicator, const StreamDriver& driver, float* buffer,
            const char* memory) {
  std::vector<float> values(kElements);
  for (size_t i = 0; i < kElements; ++i) values[i] = static_cast<float>(me + 1) * static_cast<float>(i % 1000);
  driver.upload(buffer, values.data(), kElements * 4);
  if (!nccl.check(nccl.all_reduce(buffer, buffer, kElements, kFloat, kSum, communicator, driver.stream),
                  "ncclAllReduce", memory))
    return;
  driver.synchronize();
  driver.download(values.data(), buffer, kElements * 4);
  const auto factor = static_cast<float>(npes * (npes + 1) / 2);
  for (size_t i = 0; i < kElements; ++i) {
    if (values[i] == factor * static_cast<float>(i % 1000)) continue;
    std::printf("FAILED: PE %d: the sum in %s is %g at %zu\n", me, memory, static_cast<double>(values[i]), i);
    ++failures;
    return;
  }
}

void try_buffer(const Nccl& nccl, Communicator communicator, const StreamDriver& driver, float* buffer,
                const char* memory) {
  if (nccl.register_window != nullptr) {
    Window window = nullptr;
    if (nccl.check(nccl.register_window(communicator, buffer, kElements * 4, &window, kSymmetricWindow),
                   "ncclCommWindowRegister", memory)) {
      if (me == 0)
        std::printf("nccl_window: %s: %s\n", memory,
                    window != nullptr ? "a window" : "taken, but this NCCL makes no windows here");
      add_up(nccl, communicator, driver, buffer, memory);
      if (window != nullptr)
        nccl.check(nccl.deregister_window(communicator, window), "ncclCommWindowDeregister", memory);
    }
  }
  if (nccl.register_buffer == nullptr) return;
  void* handle = nullptr;
  if (!nccl.check(nccl.register_buffer(communicator, buffer, kElements * 4, &handle), "ncclCommRegister", memory))
    return;
  add_up(nccl, communicator, driver, buffer, memory);
  if (handle != nullptr) nccl.check(nccl.deregister_buffer(communicator, handle), "ncclCommDeregister", memory);
}

int skip(const char* why) {
  if (me == 0) std::printf("nccl_window: SKIPPED: %s\n", why);
  shmem_finalize();
  return kSkipped;
}

}  // namespace

int main(int argc, char** argv) {
  setenv("NCCL_NVLS_ENABLE", "0", 1);  // this test makes no multicast objects
  shmem_init();
  me = shmem_my_pe();
  npes = shmem_n_pes();
  const Nccl nccl(argc > 1 ? argv[1] : "libnccl.so.2");
  if (nccl.library == nullptr) return skip("no libnccl.so.2 (PyTorch's wheel has one; pass its path)");
  if (shmemx_attach_device() != 0) return skip("no GPU");
  {
    const StreamDriver driver;
    if (!one_gpu_each(driver)) return skip("PEs share a GPU, which NCCL refuses");
    int version = 0;
    nccl.check(nccl.version(&version), "ncclGetVersion", "no memory");
    if (me == 0)
      std::printf("nccl_window: NCCL %d%s\n", version, version < kFirstWithWindows ? ", which has no windows" : "");
    Communicator communicator = nullptr;
    if (nccl.check(nccl.init(&communicator, npes, agreed_id(nccl), me), "ncclCommInitRank", "no memory")) {
      auto* const heap = static_cast<float*>(shmem_align(kAlign, kElements * 4));
      auto* const before = shmem_malloc(12345);  // so that the next object begins in the middle of a chunk
      auto* const inside = static_cast<float*>(shmem_align(kAlign, kElements * 4));
      auto* const own = static_cast<float*>(shmemx_mem_alloc(kElements * 4));
      try_buffer(nccl, communicator, driver, heap, "heap memory");
      try_buffer(nccl, communicator, driver, inside, "heap memory inside a chunk");
      try_buffer(nccl, communicator, driver, own, "memory of shmemx_mem_alloc");
      nccl.check(nccl.destroy(communicator), "ncclCommDestroy", "no memory");
      failures += shmemx_mem_free(own) != 0;
      shmem_free(inside);
      shmem_free(before);
      shmem_free(heap);
    }
  }
  if (me == 0) std::printf("%s windows of NCCL, %d PEs\n", failures == 0 ? "ok    " : "FAILED", npes);
  shmem_finalize();
  return failures == 0 ? 0 : 1;
}
