// SPDX-License-Identifier: BSD-3-Clause
// Device memory that the program allocated itself: as source of puts and destination of gets, unregistered, and made
// symmetric. On the fake driver, whose cuMemAlloc gives memory where the CPU faults.
#include <dlfcn.h>
#include <shmemx.h>
#include <sys/mman.h>

#include <cstdio>
#include <cstring>
#include <vector>

#include "src/cuda/driver.h"
#include "tests/gpu/fake_driver/kernels.h"
#include "tests/gpu/fake_driver/unit_view.h"

using namespace railshmem;
using cuda::Address;

namespace {

constexpr size_t kMost = 300'000, kPiece = size_t{2} << 20;

int me, npes, right, left, failures = 0;
cuda::Driver driver;
cuda::Result (*cu_alloc)(Address*, size_t);
cuda::Result (*cu_free)(Address);

void expect(bool holds, const char* what, int line) {
  if (holds) return;
  std::printf("FAILED line %d: PE %d: %s\n", line, me, what);
  ++failures;
}
#define EXPECT(condition) expect(condition, #condition, __LINE__)

void load_driver() {
  void* const library = dlopen("libcuda.so.1", RTLD_NOW);
  if (library == nullptr) shmem_global_exit(2);
#define CALL(member, group, symbol, since, ...) \
  driver.member = reinterpret_cast<decltype(driver.member)>(dlsym(library, #symbol));
#include "src/cuda/driver_calls.inc"
#undef CALL
  cu_alloc = reinterpret_cast<decltype(cu_alloc)>(dlsym(library, "cuMemAlloc_v2"));
  cu_free = reinterpret_cast<decltype(cu_free)>(dlsym(library, "cuMemFree_v2"));
}

std::vector<unsigned char> pattern(int pe, size_t nbytes, int round) {
  std::vector<unsigned char> bytes(nbytes);
  for (size_t i = 0; i < nbytes; ++i)
    bytes[i] = static_cast<unsigned char>(static_cast<size_t>(pe * 53 + round * 17) + i * 7 + (i >> 8));
  return bytes;
}
std::vector<unsigned char> read_back(const void* device, size_t nbytes) {
  std::vector<unsigned char> bytes(nbytes);
  EXPECT(driver.copy(cuda::address_of(bytes.data()), cuda::address_of(device), nbytes) == cuda::kSuccess);
  return bytes;
}
void write(void* device, const std::vector<unsigned char>& bytes) {
  EXPECT(driver.copy(cuda::address_of(device), cuda::address_of(bytes.data()), bytes.size()) == cuda::kSuccess);
}
std::byte* allocate(size_t nbytes) {
  Address address = 0;
  EXPECT(cu_alloc(&address, nbytes) == cuda::kSuccess);
  return cuda::pointer_to(address);
}

/// Every size over each way: inside a message, in one piece, in several.
void move_unregistered(unsigned char* dest, uint64_t* signal, bool kernels, int rounds_before) {
  std::byte* const mine = allocate(kMost);
  EXPECT(shmemx_buffer_register(mine, kMost) == 0);
  int round = rounds_before;
  for (const size_t nbytes : {size_t{1}, size_t{8}, size_t{100}, size_t{4000}, size_t{9000}, kMost}) {
    ++round;
    write(mine, pattern(me, nbytes, round));
    if (round % 2 == 0) {
      shmem_putmem(dest, mine, nbytes, right);
    } else {
      shmem_putmem_signal_nbi(dest, mine, nbytes, signal, static_cast<uint64_t>(round), SHMEM_SIGNAL_SET, right);
    }
    shmem_barrier_all();
    EXPECT(read_back(dest, nbytes) == pattern(left, nbytes, round));
    if (round % 2 != 0) EXPECT(shmem_signal_wait_until(signal, SHMEM_CMP_EQ, static_cast<uint64_t>(round)) > 0);
    write(mine, pattern(npes, nbytes, round));
    shmem_getmem(mine, dest, nbytes, right);
    EXPECT(read_back(mine, nbytes) == pattern(me, nbytes, round));
    shmem_barrier_all();
    if (!kernels || nbytes <= 8) continue;
    write(mine, pattern(me, nbytes, round + 50));
    EXPECT(device_heap::put_from(view, dest, mine, nbytes, right) == 0);
    shmem_barrier_all();
    EXPECT(read_back(dest, nbytes) == pattern(left, nbytes, round + 50));
    EXPECT(device_heap::get_to(view, mine, dest, nbytes, right) == 0);
    EXPECT(read_back(mine, nbytes) == pattern(me, nbytes, round + 50));
    shmem_barrier_all();
  }
  EXPECT(shmemx_buffer_unregister(mine) == 0);
  EXPECT(cu_free(cuda::address_of(mine)) == cuda::kSuccess);
  // The address of the freed device memory becomes host memory.
  void* const again =
      mmap(mine, kMost, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  EXPECT(again == mine);
  std::memset(again, 100 + me, 4000);
  shmem_putmem(dest, again, 4000, right);
  shmem_barrier_all();
  EXPECT(read_back(dest, 4000) == std::vector<unsigned char>(4000, static_cast<unsigned char>(100 + left)));
  shmem_barrier_all();
  munmap(again, kMost);
}

/// Two pieces of memory, one behind the other, as growing allocators have it.
struct Mapped {
  explicit Mapped(int handle_types = cuda::kHandlePosixFd) {
    cuda::Device device = 0;
    EXPECT(driver.context_device(&device) == cuda::kSuccess);
    cuda::AllocationProperties properties;
    properties.location.id = device;
    properties.handle_types = handle_types;
    EXPECT(driver.address_reserve(&address, 3 * kPiece, 0, 0, 0) == cuda::kSuccess);
    for (size_t i = 0; i < 2; ++i) {
      EXPECT(driver.memory_create(&handles[i], (i + 1) * kPiece, &properties, 0) == cuda::kSuccess);
      EXPECT(driver.memory_map(address + i * kPiece, (i + 1) * kPiece, 0, handles[i], 0) == cuda::kSuccess);
    }
    const cuda::AccessDescription access{{cuda::kAtDevice, device}, cuda::kReadWrite};
    EXPECT(driver.memory_set_access(address, 3 * kPiece, &access, 1) == cuda::kSuccess);
  }
  ~Mapped() {
    EXPECT(driver.memory_unmap(address, 3 * kPiece) == cuda::kSuccess);
    EXPECT(driver.address_free(address, 3 * kPiece) == cuda::kSuccess);
    for (const cuda::MemoryHandle handle : handles) EXPECT(driver.memory_release(handle) == cuda::kSuccess);
  }
  Mapped(const Mapped&) = delete;
  std::byte* at(size_t offset) const { return cuda::pointer_to(address) + offset; }
  Address address = 0;
  cuda::MemoryHandle handles[2] = {};
};

void share(int round) {
  constexpr size_t kShift = 4096, kBytes = 3 * kPiece - kShift, kPart = 70'000;
  constexpr size_t kSeam = kPiece - kShift - 30'000;  // a part from here is in both pieces
  const Mapped memory;
  auto* const symmetric = static_cast<std::byte*>(shmemx_buffer_register_symmetric(memory.at(kShift), kBytes, 0));
  EXPECT(symmetric != nullptr);
  if (symmetric == nullptr) return;
  write(memory.at(kShift + kSeam), pattern(me, kPart, round));
  shmem_barrier_all();
  std::vector<unsigned char> bytes(kPart);
  shmem_getmem(bytes.data(), symmetric + kSeam, kPart, right);
  EXPECT(bytes == pattern(right, kPart, round));
  // Both ends symmetric buffers.
  EXPECT(device_heap::put_from(view, symmetric, symmetric + kSeam, kPart, right) == 0);
  shmem_barrier_all();
  EXPECT(read_back(memory.at(kShift), kPart) == pattern(left, kPart, round));
  auto* const word = reinterpret_cast<uint64_t*>(symmetric + kBytes - 8);
  write(word, std::vector<unsigned char>(8));
  shmem_barrier_all();
  shmem_uint64_atomic_add(word, 5, right);
  EXPECT(device_heap::add_to(view, word, 7, right) == 0);
  shmem_barrier_all();
  EXPECT(shmem_uint64_atomic_fetch(word, me) == 12);
  EXPECT((shmem_ptr(symmetric, right) != nullptr) == (shmem_ptr(symmetric + kBytes - 1, right) != nullptr));
  EXPECT(shmemx_buffer_unregister_symmetric(symmetric, kBytes - 1) != 0);
  EXPECT(shmemx_buffer_unregister_symmetric(symmetric + 64, kBytes) != 0);
  EXPECT(shmemx_buffer_unregister_symmetric(symmetric, kBytes) == 0);
  EXPECT(shmemx_buffer_unregister_symmetric(symmetric, kBytes) != 0);
}

/// What cannot be symmetric on one PE is so on none, and nothing is left behind.
void refuse(void* heap) {
  const Mapped memory, other(0);
  std::byte* const plain = allocate(kPiece);
  std::byte* const good = memory.at(0);
  const bool last = me == npes - 1;
  EXPECT(shmemx_buffer_register_symmetric(last ? plain : good, kPiece, 0) == nullptr);
  EXPECT(shmemx_buffer_register_symmetric(last ? static_cast<void*>(&failures) : good, 4, 0) == nullptr);
  EXPECT(shmemx_buffer_register_symmetric(last ? heap : good, 64, 0) == nullptr);
  EXPECT(shmemx_buffer_register_symmetric(good, last ? kPiece - 8 : kPiece, 0) == nullptr);
  EXPECT(shmemx_buffer_register_symmetric(last ? good + 8 : good, 64, 0) == nullptr);
  EXPECT(shmemx_buffer_register_symmetric(good, 0, 0) == nullptr);
  EXPECT(shmemx_buffer_register_symmetric(good, 4 * kPiece, 0) == nullptr);
  EXPECT(shmemx_buffer_register_symmetric(good, kPiece, 1) == nullptr);
  // Without another process on the node, memory that is private to this process is enough.
  void* const alone = shmemx_buffer_register_symmetric(other.at(0), kPiece, 0);
  const bool has_peers = shmem_team_n_pes(SHMEM_TEAM_SHARED) > 1;
  EXPECT((alone == nullptr) == has_peers);
  if (alone != nullptr) EXPECT(shmemx_buffer_unregister_symmetric(alone, kPiece) == 0);
  EXPECT(cu_free(cuda::address_of(plain)) == cuda::kSuccess);
}

}  // namespace

int main() {
  shmem_init();
  me = shmem_my_pe();
  npes = shmem_n_pes();
  right = (me + 1) % npes;
  left = (me + npes - 1) % npes;
  auto* const dest = static_cast<unsigned char*>(shmem_calloc(kMost, 1));
  auto* const on_host = static_cast<unsigned char*>(shmemx_malloc_host(kMost));
  auto* const signal = static_cast<uint64_t*>(shmem_calloc(1, 8));
  load_driver();
  bool all_by_network = true;
  for (int pe = 0; pe < npes; ++pe) all_by_network &= pe == me || shmem_ptr(dest, pe) == nullptr;
  move_unregistered(dest, signal, all_by_network, 0);
  move_unregistered(on_host, signal, false, 100);
  for (int round = 1; round <= 3; ++round) share(round);
  refuse(dest);
  share(4);
  std::printf("own_memory: PE %d of %d: %d failures\n", me, npes, failures);
  shmem_finalize();
  return failures == 0 ? 0 : 1;
}
