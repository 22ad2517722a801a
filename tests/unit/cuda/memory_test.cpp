// SPDX-License-Identifier: BSD-3-Clause
// Memory of a GPU, the arena in which it is mapped, and pinned host memory.
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>
#include <memory>
#include <vector>

#include "src/base/error.h"
#include "src/cuda/device_arena.h"
#include "src/cuda/dma_buf.h"
#include "src/cuda/numa_preference.h"
#include "src/cuda/pinned.h"
#include "src/cuda/pointer_info.h"
#include "src/cuda/user_memory.h"
#include "tests/gpu/fake_driver/fake_driver.h"

namespace railshmem::cuda {
namespace {

constexpr size_t kChunk = size_t{2} << 20;

template <class Body>
std::string error_of_cuda(Body&& body) {
  try {
    body();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

bool has_words(const std::string& text, const char* words) {
  return text.find(words) != std::string::npos;
}

TEST(PhysicalMemory, IsReleasedOnce) {
  FakeDriver fake;
  {
    const DeviceContext gpu = DeviceContext::primary(fake.driver(), 0);
    PhysicalMemory first = PhysicalMemory::create(gpu, 2 * kChunk);
    PhysicalMemory second(std::move(first));
    PhysicalMemory third = PhysicalMemory::create(gpu, kChunk);
    third = std::move(second);
    EXPECT_EQ(third.nbytes(), 2 * kChunk);
    EXPECT_TRUE(third.rdma_capable());
    EXPECT_FALSE(third.has_fabric_handle());
  }
  EXPECT_EQ(fake.calls("cuMemRelease"), 2);
  EXPECT_EQ(fake.leaks(), "");
}

TEST(PhysicalMemory, LacksAreToldWithWhatIsFree) {
  FakeDriver fake({.memory_nbytes = 4 * kChunk});
  const DeviceContext gpu = DeviceContext::primary(fake.driver(), 0);
  const PhysicalMemory most = PhysicalMemory::create(gpu, 3 * kChunk);
  EXPECT_EQ(error_of_cuda([&] { PhysicalMemory::create(gpu, 2 * kChunk); }),
            "no memory for 4194304 bytes on GPU 0 (Fake GPU, 0000:18:00.0): out of memory (2); 2097152 "
            "of its 8388608 bytes are free; allocate less, or lower SHMEM_SYMMETRIC_SIZE");
  EXPECT_EQ(fake.calls("cuMemCreate"), 2) << "asking for less would not help";
  EXPECT_TRUE(has_words(error_of_cuda([&] { PhysicalMemory::create(gpu, 1000); }), "multiple of 2097152"));
}

TEST(PhysicalMemory, FabricHandlesAndRdmaAreLeftOutWhereTheyFail) {
  FakeDriver fake({.attributes = {{Attribute::handle_type_fabric, 1}}});
  const DeviceContext gpu = DeviceContext::primary(fake.driver(), 0);
  EXPECT_TRUE(PhysicalMemory::create(gpu, kChunk).has_fabric_handle());
  fake.fail("cuMemCreate", 1, kNotPermitted);
  {
    const PhysicalMemory without_fabric = PhysicalMemory::create(gpu, kChunk);
    EXPECT_FALSE(without_fabric.has_fabric_handle());
    EXPECT_TRUE(without_fabric.rdma_capable());
  }
  fake.fail("cuMemCreate", 1, kNotSupported, true);
  EXPECT_TRUE(has_words(error_of_cuda([&] { PhysicalMemory::create(gpu, kChunk); }), "operation not supported (801)"));
  EXPECT_EQ(fake.calls("cuMemCreate"), 1 + 2 + 3);
}

TEST(PhysicalMemory, WhatIsNoGpusMemoryIsRefused) {
  FakeDriver fake;
  const DeviceContext gpu = DeviceContext::primary(fake.driver(), 0);
  EXPECT_TRUE(has_words(error_of_cuda([&] { PhysicalMemory::import(gpu, 0, kChunk, "PE 3"); }),
                        "2097152 bytes of GPU memory of PE 3 cannot be opened on GPU 0"));
}

TEST(PhysicalMemory, ADeviceThatCannotShareIsNamed) {
  FakeDriver fake({.attributes = {{Attribute::handle_type_posix_fd, 0}}});
  const DeviceContext gpu = DeviceContext::primary(fake.driver(), 0);
  const std::string error = error_of_cuda([&] { PhysicalMemory::create(gpu, kChunk); });
  EXPECT_TRUE(has_words(error, "GPU 0 (Fake GPU") && has_words(error, "SHMEM_HEAP_KIND")) << error;
}

TEST(DeviceArena, PeerAddressIsArithmetic) {
  FakeDriver fake({.devices = 2});
  {
    const DeviceContext gpu = DeviceContext::primary(fake.driver(), 0);
    const DeviceContext peer = DeviceContext::primary(fake.driver(), 1);
    const PhysicalMemory mine = PhysicalMemory::create(gpu, kChunk);
    const PhysicalMemory theirs = PhysicalMemory::create(peer, 2 * kChunk);
    DeviceArena arena(gpu, 3, 4 * kChunk);
    std::byte* const own = arena.map_own(1, 0, mine);
    std::byte* const seen = arena.map_peer(2, kChunk, theirs);
    EXPECT_EQ(own, arena.base() + 4 * kChunk);
    EXPECT_EQ(seen, arena.address(2, kChunk));
    EXPECT_EQ(arena.alignment(), 4 * kChunk);
    EXPECT_EQ(address_of(arena.base()) % arena.alignment(), 0u);
    own[5] = std::byte{42};
    DeviceArena other(peer, 1, 4 * kChunk);
    EXPECT_EQ(other.map_peer(0, 0, mine)[5], std::byte{42});
    EXPECT_EQ(fake.leaks(), "2 memory handles, 3 mappings, 2 reservations, 2 retained contexts");
  }
  EXPECT_EQ(fake.leaks(), "");
}

TEST(DeviceArena, MappingsKeepTheMemory) {
  FakeDriver fake({.memory_nbytes = kChunk});
  {
    const DeviceContext gpu = DeviceContext::primary(fake.driver(), 0);
    DeviceArena arena(gpu, 1, 2 * kChunk);
    std::byte* const at = arena.map_own(0, kChunk, PhysicalMemory::create(gpu, kChunk));
    at[0] = std::byte{7};
    EXPECT_THROW(PhysicalMemory::create(gpu, kChunk), Error);
    arena.unmap(0, kChunk);
    EXPECT_DEATH(*const_cast<volatile std::byte*>(at) = std::byte{1}, "");
    EXPECT_EQ(arena.map_own(0, 0, PhysicalMemory::create(gpu, kChunk))[0], std::byte{0});
    arena.unmap(0);
    EXPECT_NO_THROW(PhysicalMemory::create(gpu, kChunk));
    EXPECT_TRUE(has_words(error_of_cuda([&] { arena.unmap(0, 0); }), "nothing is mapped at 0 of slot 0"));
    EXPECT_THROW(arena.unmap(1), Error);
  }
  EXPECT_EQ(fake.leaks(), "");
}

TEST(DeviceArena, EveryGpuThatReachesGetsAccessAndTheOthersAreNamed) {
  FakeDriver fake({.devices = 3, .apart = {{0, 2}}});
  const DeviceContext gpu = DeviceContext::primary(fake.driver(), 0);
  DeviceArena arena(gpu, 2, kChunk);
  EXPECT_EQ(arena.without_access(), std::vector<std::string>{"GPU 2 (Fake GPU, 0000:1a:00.0)"});
  const PhysicalMemory memory = PhysicalMemory::create(gpu, kChunk);
  std::byte* const own = arena.map_own(0, 0, memory);
  std::byte from[8] = {};
  for (Device device = 0; device < 3; ++device) {
    const DeviceContext other = DeviceContext::primary(fake.driver(), device);
    fake.driver().set_context(other.context());
    EXPECT_EQ(fake.driver().copy(address_of(from), address_of(own), sizeof from),
              device == 2 ? kInvalidValue : kSuccess);
    fake.driver().set_context(nullptr);
  }
}

TEST(DeviceArena, APeerOutOfReachIsAnErrorAndTheSlotStaysEmpty) {
  FakeDriver fake({.devices = 2, .apart = {{0, 1}}});
  {
    const DeviceContext gpu = DeviceContext::primary(fake.driver(), 0);
    const DeviceContext peer = DeviceContext::primary(fake.driver(), 1);
    DeviceArena arena(gpu, 2, kChunk);
    const PhysicalMemory theirs = PhysicalMemory::create(peer, kChunk);
    const std::string error = error_of_cuda([&] { arena.map_peer(1, 0, theirs); });
    EXPECT_TRUE(has_words(error, "GPU 0 (Fake GPU, 0000:18:00.0) gets no access to 2097152 bytes")) << error;
    EXPECT_EQ(fake.calls("cuMemUnmap"), 1);
    EXPECT_NO_THROW(arena.map_own(1, 0, PhysicalMemory::create(gpu, kChunk)));
  }
  EXPECT_EQ(fake.leaks(), "");
}

TEST(DeviceArena, ADriverThatKeepsNoAlignmentIsHelped) {
  for (const bool says_so : {true, false}) {
    FakeDriver fake({.keeps_alignment = says_so});
    {
      const DeviceContext gpu = DeviceContext::primary(fake.driver(), 0);
      if (says_so) fake.fail("cuMemAddressReserve", 1, kNotSupported);
      DeviceArena arena(gpu, 2, 64 * kChunk);
      EXPECT_EQ(address_of(arena.base()) % (64 * kChunk), 0u);
      EXPECT_NO_THROW(arena.map_own(1, 63 * kChunk, PhysicalMemory::create(gpu, kChunk)));
    }
    EXPECT_EQ(fake.leaks(), "");
  }
}

TEST(DeviceArena, FailuresNameSizesAndVariables) {
  FakeDriver fake;
  const DeviceContext gpu = DeviceContext::primary(fake.driver(), 0);
  EXPECT_TRUE(has_words(error_of_cuda([&] { DeviceArena(gpu, 1, 4096); }), "multiple of 2097152"));
  EXPECT_THROW(DeviceArena(gpu, 0, kChunk), Error);
  const std::string much = error_of_cuda([&] { DeviceArena(gpu, size_t{1} << 50, size_t{1} << 30); });
  EXPECT_TRUE(has_words(much, "more than the machine can address") && has_words(much, "SHMEM_SYMMETRIC_SIZE")) << much;
  fake.fail("cuMemAddressReserve", 1, kOutOfMemory, true);
  EXPECT_TRUE(has_words(error_of_cuda([&] { DeviceArena(gpu, 2, kChunk); }),
                        "cannot reserve 2 slots of 2097152 bytes of addresses for device heaps: out of memory (2)"));
}

TEST(DeviceArena, WhatDoesNotFitIsRefused) {
  FakeDriver fake;
  const DeviceContext gpu = DeviceContext::primary(fake.driver(), 0);
  DeviceArena arena(gpu, 2, 2 * kChunk);
  const PhysicalMemory memory = PhysicalMemory::create(gpu, 2 * kChunk);
  EXPECT_THROW(arena.map_own(2, 0, memory), Error);
  EXPECT_THROW(arena.map_own(0, kChunk, memory), Error);
  EXPECT_NO_THROW(arena.map_own(1, 0, memory));
  EXPECT_TRUE(has_words(error_of_cuda([&] { arena.map_own(1, 0, memory); }), "cannot map 4194304 bytes"));
  EXPECT_EQ(DeviceArena::stride_for(3 * kChunk), 4 * kChunk);
  EXPECT_EQ(DeviceArena::stride_for(DeviceArena::kMaxAlign + 1), 2 * DeviceArena::kMaxAlign);
}

TEST(DmaBuf, IsThereWhereTheDeviceOffersIt) {
  FakeDriver fake;
  const DeviceContext gpu = DeviceContext::primary(fake.driver(), 0);
  DeviceArena arena(gpu, 1, kChunk);
  std::byte* const own = arena.map_own(0, 0, PhysicalMemory::create(gpu, kChunk));
  EXPECT_TRUE(dma_buf_of(gpu, own, kChunk));
  EXPECT_FALSE(dma_buf_of(gpu, own, 2 * kChunk));
  Driver old = fake.driver();
  old.range_handle = nullptr;
  EXPECT_FALSE(dma_buf_of(DeviceContext::primary(old, 0), own, kChunk));
}

TEST(PinnedMemory, IsZeroedAndFreedOnce) {
  FakeDriver fake;
  {
    const DeviceContext gpu = DeviceContext::primary(fake.driver(), 0);
    PinnedMemory first(gpu, 10000);
    EXPECT_EQ(first.host()[9999], std::byte{0});
    EXPECT_EQ(first.device(), first.host());
    PinnedMemory second(std::move(first));
    EXPECT_EQ(first.host(), nullptr);
    PinnedMemory third(gpu, 64);
    third = std::move(second);
    EXPECT_EQ(third.nbytes(), 10000u);
    fake.fail("cuMemHostAlloc", 1, kOutOfMemory);
    const std::string error = error_of_cuda([&] { PinnedMemory(gpu, 4096); });
    EXPECT_TRUE(has_words(error, "cannot pin 4096 bytes") && has_words(error, "ulimit -l")) << error;
    fake.fail("cuMemHostGetDevicePointer_v2", 1, kInvalidValue);
    EXPECT_THROW(PinnedMemory(gpu, 4096), Error);
  }
  EXPECT_EQ(fake.leaks(), "");
}

TEST(NumaPreference, GivesTheProgramsPolicyBack) {
  constexpr int kBind = 2;  // MPOL_BIND
  unsigned long mask = 1;
  int policy = -1;
  const auto ask = [&] { return syscall(SYS_get_mempolicy, &policy, nullptr, 0ul, nullptr, 0ul); };
  if (ask() != 0 || syscall(SYS_set_mempolicy, kBind, &mask, 64ul) != 0)
    GTEST_SKIP() << "this machine lets no process choose NUMA nodes";
  {
    const NumaPreference preference(0);
    ASSERT_EQ(ask(), 0);
    EXPECT_EQ(policy, 1) << "MPOL_PREFERRED";
  }
  ASSERT_EQ(ask(), 0);
  EXPECT_EQ(policy, kBind);
  {
    const NumaPreference none(-1);
    ASSERT_EQ(ask(), 0);
    EXPECT_EQ(policy, kBind);
  }
  syscall(SYS_set_mempolicy, 0, nullptr, 0ul);
}

TEST(HostRegistration, LeavesWhatTheProgramPinnedItself) {
  FakeDriver fake;
  {
    const DeviceContext gpu = DeviceContext::primary(fake.driver(), 0);
    std::vector<std::byte> memory(8192);
    {
      HostRegistration first(gpu, memory);
      const HostRegistration second(gpu, memory);
      const HostRegistration moved(std::move(first));
      EXPECT_EQ(moved.device(), memory.data());
      EXPECT_EQ(fake.leaks(), "1 pinned range, 1 retained context");
    }
    EXPECT_EQ(fake.calls("cuMemHostUnregister"), 1);
    fake.fail("cuMemHostRegister_v2", 1, kNotSupported);
    EXPECT_TRUE(has_words(error_of_cuda([&] { HostRegistration(gpu, memory); }), "cuMemHostRegister"));
  }
  EXPECT_EQ(fake.leaks(), "");
}

/// Memory of device 1, mapped in extents of 1 and 2 chunks.
struct UserExtents {
  explicit UserExtents(const DeviceContext& gpu, int handle_types = kHandlePosixFd)
      : driver(gpu.driver()), context(gpu.context()) {
    AllocationProperties properties;
    properties.location.id = gpu.device();
    properties.handle_types = handle_types;
    const AccessDescription access{{kAtDevice, gpu.device()}, kReadWrite};
    driver.set_context(context);
    EXPECT_EQ(driver.address_reserve(&address, 3 * kChunk, 0, 0, 0), kSuccess);
    for (size_t i = 0; i < 2; ++i) {
      EXPECT_EQ(driver.memory_create(&handles[i], (i + 1) * kChunk, &properties, 0), kSuccess);
      EXPECT_EQ(driver.memory_map(address + i * kChunk, (i + 1) * kChunk, 0, handles[i], 0), kSuccess);
    }
    EXPECT_EQ(driver.memory_set_access(address, 3 * kChunk, &access, 1), kSuccess);
  }
  ~UserExtents() {
    driver.set_context(context);
    EXPECT_EQ(driver.memory_unmap(address, 3 * kChunk), kSuccess);
    EXPECT_EQ(driver.address_free(address, 3 * kChunk), kSuccess);
    for (const MemoryHandle handle : handles) EXPECT_EQ(driver.memory_release(handle), kSuccess);
    driver.set_context(nullptr);
  }
  UserExtents(const UserExtents&) = delete;
  std::byte* at(size_t offset) const { return pointer_to(address) + offset; }
  const Driver& driver;
  const Context context;
  Address address = 0;
  MemoryHandle handles[2] = {};
};

TEST(UserMemory, IsFoundExtentByExtent) {
  FakeDriver fake({.devices = 2});
  {
    const DeviceContext gpu = DeviceContext::primary(fake.driver(), 1);
    const UserExtents mapped(gpu);
    const UserMemory both = find_user_memory(gpu, mapped.at(kChunk - 8), 16, true);
    EXPECT_EQ(both.offset, kChunk - 8);
    EXPECT_EQ(both.nbytes, 3 * kChunk);
    ASSERT_EQ(both.extents.size(), 2u);
    EXPECT_EQ(both.extents[1].nbytes(), 2 * kChunk);
    const UserMemory second = find_user_memory(gpu, mapped.at(kChunk), 2 * kChunk, true);
    EXPECT_EQ(second.offset, 0u);
    ASSERT_EQ(second.extents.size(), 1u);
    DeviceArena arena(gpu, 1, 8 * kChunk);
    std::byte* const again = arena.map_own(0, 0, second.extents[0]);
    *mapped.at(kChunk + 77) = std::byte{9};
    EXPECT_EQ(again[77], std::byte{9}) << "the same memory at both addresses";
  }
  EXPECT_EQ(fake.leaks(), "");
}

TEST(UserMemory, WhatCannotBeMappedAgainIsNamed) {
  FakeDriver fake({.devices = 2});
  const DeviceContext other = DeviceContext::primary(fake.driver(), 0);
  const DeviceContext gpu = DeviceContext::primary(fake.driver(), 1);
  const UserExtents mapped(gpu), hidden(gpu, 0);
  const auto error = [&](const DeviceContext& on, std::byte* address, size_t nbytes, bool to_share = true) {
    return error_of_cuda([&] { find_user_memory(on, address, nbytes, to_share); });
  };
  std::byte* const plain = fake.allocate(4096, 1);
  int host = 0;
  EXPECT_TRUE(has_words(error(gpu, plain, 16), "cudaMalloc"));
  EXPECT_TRUE(has_words(error(gpu, reinterpret_cast<std::byte*>(&host), 4), "is no device memory"));
  EXPECT_TRUE(has_words(error(gpu, mapped.at(0), 3 * kChunk + 1), "is no device memory"));
  EXPECT_TRUE(has_words(error(gpu, mapped.at(0), 0), "no buffer"));
  EXPECT_TRUE(has_words(error(gpu, mapped.at(8), ~size_t{0}), "no buffer"));
  EXPECT_TRUE(has_words(error(other, mapped.at(0), 8), "not in the memory of GPU 0"));
  EXPECT_TRUE(has_words(error(gpu, hidden.at(0), 8), "CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR"));
  EXPECT_EQ(error(gpu, hidden.at(0), 8, false), "no error");
  fake.release(plain);
}

TEST(PointerInfo, TellsKindsApart) {
  FakeDriver fake({.devices = 2});
  const Driver& driver = fake.driver();
  const DeviceContext gpu = DeviceContext::primary(driver, 1);
  driver.set_context(gpu.context());
  int plain = 0;
  EXPECT_EQ(inspect(driver, &plain).kind, MemoryOf::host);
  EXPECT_EQ(inspect(driver, &plain).device, -1);
  EXPECT_FALSE(is_device_memory(driver, &plain));
  const PinnedMemory pinned(gpu, 4096);
  EXPECT_EQ(inspect(driver, pinned.host() + 8).kind, MemoryOf::pinned_host);
  EXPECT_FALSE(is_device_memory(driver, pinned.host()));
  std::byte* const theirs = fake.allocate(8192, 1);
  const PointerInfo info = inspect(driver, theirs + 100);
  EXPECT_EQ(info.kind, MemoryOf::device);
  EXPECT_EQ(info.device, 1);
  EXPECT_EQ(info.range_start, address_of(theirs));
  EXPECT_EQ(info.range_nbytes, 8192u);
  EXPECT_TRUE(is_device_memory(driver, theirs));
  fake.release(theirs);
  EXPECT_EQ(inspect(driver, theirs).kind, MemoryOf::host);
  std::byte* const again = fake.allocate(8192, 1);
  EXPECT_NE(inspect(driver, again).buffer_id, info.buffer_id);
  fake.release(again);
  driver.set_context(nullptr);
}

}  // namespace
}  // namespace railshmem::cuda
