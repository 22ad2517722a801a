// SPDX-License-Identifier: BSD-3-Clause
// Memory without an address, the arena, and what the driver says of addresses.
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "src/cuda/check.h"
#include "src/cuda/context_guard.h"
#include "src/cuda/dma_buf.h"
#include "src/cuda/pointer_info.h"
#include "tests/gpu/one_gpu/memory/memory_gpu.h"

namespace railshmem::gpu_test {
namespace {

using namespace cuda;

__global__ void write_words(uint64_t* words, uint64_t count, uint64_t seed) {
  for (uint64_t i = thread_index(); i < count; i += uint64_t{gridDim.x} * blockDim.x) words[i] = seed + i;
}
__global__ void count_wrong(const uint64_t* words, uint64_t count, uint64_t seed, unsigned* wrong) {
  for (uint64_t i = thread_index(); i < count; i += uint64_t{gridDim.x} * blockDim.x)
    if (words[i] != seed + i) atomicAdd(wrong, 1u);
}

double ms_since(uint64_t began) {
  return static_cast<double>(now_ns() - began) / 1e6;
}

size_t free_memory(const DeviceContext& gpu) {
  const ContextGuard guard(gpu);
  size_t free = 0;
  size_t total = 0;
  gpu.check(gpu.driver().memory_info(&free, &total), "cuMemGetInfo");
  return free;
}

}  // namespace

void test_devices() {
  const Driver& driver = driver_here();
  int version = 0;
  driver.version(&version);
  std::printf("driver %s; functions beyond the core:", version_text(version).c_str());
  for (const auto& [group, name] :
       {std::pair(Calls::memory, "memory"), std::pair(Calls::copies, "copies"), std::pair(Calls::dma_buf, "dma_buf"),
        std::pair(Calls::batches, "batches"), std::pair(Calls::words, "words"), std::pair(Calls::flush, "flush"),
        std::pair(Calls::launch, "launch"), std::pair(Calls::library, "library")})
    std::printf(" %s%s", has(driver, group) ? "" : "no-", name);
  std::printf("\n");
  GPU_CHECK(has(driver, Calls::memory) && has(driver, Calls::copies), "the driver lacks what a device heap needs");
  const std::vector<LocalDevice> devices = local_devices(driver);
  for (const LocalDevice& from : devices) {
    const DeviceContext gpu = DeviceContext::primary(driver, from.device);
    const DeviceCapabilities& can = gpu.capabilities();
    std::printf(
        "%s: sm_%d, %d multiprocessors, granularity %zu KiB, NUMA node %d, fds %d, fabric %d, rdma %d, "
        "dma-buf %d, host atomics %d, stream flush %d, words of 64 bits %d\n",
        gpu.description().c_str(), can.compute_capability, can.multiprocessors, can.granularity / 1024,
        can.host_numa_node, can.posix_fds, can.fabric_handles, can.rdma_of_virtual_memory, can.dma_bufs,
        can.host_atomics, can.flushes_remote_writes, can.words_of_64_bits);
    for (const LocalDevice& to : devices)
      std::printf("  reaches GPU %d: %d, atomics %d\n", to.device, can_reach(driver, from.device, to.device),
                  has_native_atomics(driver, from.device, to.device));
    GPU_CHECK(find_device(devices, gpu.uuid()) == from.device, "%s: not found by its uuid", gpu.description().c_str());
    GPU_CHECK(access(("/sys/bus/pci/devices/" + gpu.pci()).c_str(), F_OK) == 0, "no PCI device %s in sysfs",
              gpu.pci().c_str());
  }
}

void test_mapping() {
  const GpuRig rig;  // with a context
  const DeviceContext& gpu = rig.gpu;
  const size_t before = free_memory(gpu);
  {
    uint64_t began = now_ns();
    DeviceArena arena(gpu, 8, 128 * kGiB);
    std::printf("mapping: 8 slots of 128 GiB reserved in %.2f ms at %p, aligned to %zu MiB\n", ms_since(began),
                static_cast<void*>(arena.base()), arena.alignment() / kMiB);
    GPU_CHECK(address_of(arena.base()) % arena.alignment() == 0, "base %p", static_cast<void*>(arena.base()));
    for (const std::string& other : arena.without_access())
      std::printf("mapping: %s does not reach %s\n", other.c_str(), gpu.description().c_str());
    size_t at = 0;
    for (const size_t nbytes : {64 * kMiB, 2 * kMiB, kGiB}) {
      began = now_ns();
      const PhysicalMemory memory = PhysicalMemory::create(gpu, nbytes);
      const double created = ms_since(began);
      began = now_ns();
      std::byte* const mapped = arena.map_own(3, at, memory);
      const double placed = ms_since(began);
      began = now_ns();
      const UniqueFd fd = memory.export_fd();
      std::printf("mapping: %zu MiB: created in %.2f ms (rdma %d, fabric %d), mapped in %.2f, exported in %.2f\n",
                  nbytes / kMiB, created, memory.rdma_capable(), memory.has_fabric_handle(), placed, ms_since(began));
      struct stat found {};
      GPU_CHECK(fstat(fd.get(), &found) == 0, "the exported file descriptor is not open");
      std::printf("mapping: exported as file type %o of device %lx, inode %lu\n", found.st_mode & S_IFMT,
                  static_cast<unsigned long>(found.st_rdev), static_cast<unsigned long>(found.st_ino));
      GPU_CHECK(mapped == arena.address(3, at), "mapped elsewhere");
      at += nbytes;
    }
    // One run of words over three chunks.
    const Pinned<unsigned> wrong(1);
    auto* const words = reinterpret_cast<uint64_t*>(arena.address(3));
    write_words<<<256, 256>>>(words, at / 8, 5);
    count_wrong<<<256, 256>>>(words, at / 8, 5, wrong.get());
    finish_kernel();
    GPU_CHECK(wrong[0] == 0, "%u words over three chunks are wrong", wrong[0]);
    const UniqueFd dma_buf = dma_buf_of(gpu, arena.address(3), 64 * kMiB);
    std::printf("mapping: dma-buf of 64 MiB: %s\n", dma_buf ? "yes" : "no");
    const UniqueFd across = dma_buf_of(gpu, arena.address(3), 66 * kMiB);
    std::printf("mapping: dma-buf across two chunks: %s\n", across ? "yes" : "no");
    arena.unmap(3, 64 * kMiB);
    arena.unmap(3);
    GPU_CHECK(arena.map_own(3, 0, PhysicalMemory::create(gpu, 2 * kMiB)) == arena.address(3), "not mapped again");
  }
  const size_t after = free_memory(gpu);
  std::printf("mapping: %zu MiB were free before, %zu MiB afterwards\n", before / kMiB, after / kMiB);
  GPU_CHECK(before - after < 64 * kMiB || after > before, "memory was not given back");
}

void test_pointers() {
  GpuRig rig;
  const Driver& driver = driver_here();
  const ContextGuard guard(rig.gpu);
  const auto show = [&](const char* what, const void* pointer, MemoryOf wanted) {
    const PointerInfo info = inspect(driver, pointer);
    std::printf("pointers: %-22s kind %d, device %d, buffer %llu, range %llx + %zu\n", what,
                static_cast<int>(info.kind), info.device, static_cast<unsigned long long>(info.buffer_id),
                static_cast<unsigned long long>(info.range_start), info.range_nbytes);
    GPU_CHECK(info.kind == wanted, "%s: kind %d", what, static_cast<int>(info.kind));
    GPU_CHECK(is_device_memory(driver, pointer) == (wanted == MemoryOf::device), "%s: is_device_memory", what);
    return info;
  };
  std::vector<std::byte> plain(4096);
  show("plain host memory", plain.data(), MemoryOf::host);
  show("pinned host memory", rig.bounce.host() + 100, MemoryOf::pinned_host);
  GPU_CHECK(rig.bounce.host() == rig.bounce.device(), "pinned memory has another address on the GPU");
  show("the heap", rig.heap + 100, MemoryOf::device);
  void* theirs = nullptr;
  CUDA_MUST(cudaMalloc(&theirs, 4 * kMiB));
  const PointerInfo first = show("cudaMalloc", static_cast<std::byte*>(theirs) + 100, MemoryOf::device);
  GPU_CHECK(first.range_start == address_of(theirs) && first.range_nbytes >= 4 * kMiB, "not the range of cudaMalloc");
  CUDA_MUST(cudaFree(theirs));
  void* again = nullptr;
  CUDA_MUST(cudaMalloc(&again, 4 * kMiB));
  const PointerInfo second = show("cudaMalloc once more", again, MemoryOf::device);
  GPU_CHECK(second.buffer_id != first.buffer_id, "a freed and new buffer has the old number");
  CUDA_MUST(cudaFree(again));
  {
    const HostRegistration registered(rig.gpu, plain);
    show("registered host memory", plain.data(), MemoryOf::pinned_host);
    GPU_CHECK(registered.device() == plain.data(), "registered memory has another address on the GPU");
  }
  const unsigned yes = 1;
  const Result ordered = driver.set_pointer_attribute(&yes, PointerAttribute::sync_memops, address_of(rig.heap));
  std::printf("pointers: SYNC_MEMOPS of the heap: %s\n", explain(driver, ordered).c_str());
  int node = -1;
  if (syscall(SYS_get_mempolicy, &node, nullptr, 0ul, rig.bounce.host(), 3ul /* MPOL_F_NODE | MPOL_F_ADDR */) == 0)
    std::printf("pointers: pinned memory lies on NUMA node %d; the GPU's is %d\n", node,
                rig.gpu.capabilities().host_numa_node);
}

}  // namespace railshmem::gpu_test
