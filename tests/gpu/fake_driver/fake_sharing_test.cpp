// SPDX-License-Identifier: BSD-3-Clause
// Memory that processes share through the fake driver: CUDA IPC, pools, fabric handles, and what addresses tell.
#include <fcntl.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <string>

#include "src/base/unique.h"
#include "tests/gpu/fake_driver/fake_driver.h"
#include "tests/support/fake_program_calls.h"
#include "tests/support/forked.h"

namespace railshmem::cuda {

namespace {

using test::Forked;
using test::Pipe;

constexpr size_t kFakePiece = size_t{2} << 20;

/// A driver whose context of one device is current.
struct SharingRig {
  explicit SharingRig(Device device = 0, FakeOptions options = {.devices = 2}) : fake(options), driver(fake.driver()) {
    driver.primary_retain(&context, device);
    driver.set_context(context);
  }
  ~SharingRig() { driver.set_context(nullptr); }
  template <class T>
  T attribute(PointerAttribute which, Address at) const {
    T value{};
    void* const to = &value;
    EXPECT_EQ(driver.pointer_attributes(1, &which, const_cast<void**>(&to), at), kSuccess);
    return value;
  }
  std::string read(Address from, size_t nbytes) const {
    std::string bytes(nbytes, '\0');
    return driver.copy(address_of(bytes.data()), from, nbytes) == kSuccess ? bytes : "(not readable)";
  }
  Result write(Address to, const std::string& bytes) const {
    return driver.copy(to, address_of(bytes.data()), bytes.size());
  }
  FakeDriver fake;
  const Driver& driver;
  Context context = nullptr;
};

struct IpcNews {
  IpcHandle handle;
};

std::string open_twice(const Pipe& pipe) {
  SharingRig rig(1);
  IpcNews first{}, second{};
  Address here = 0, again = 0, other = 0;
  if (!pipe.hear(first)) return "nothing came";
  if (rig.driver.ipc_open(&here, first.handle, 0) != kInvalidValue) return "flags of 0 are taken";
  if (rig.driver.ipc_open(&here, first.handle, 1) != kSuccess) return "not opened";
  if (rig.driver.ipc_open(&again, first.handle, 1) != kSuccess || again != here) return "opened elsewhere";
  if (rig.read(here, 5) != "first") return "reads " + rig.read(here, 5);
  if (rig.write(here + 4096, "answer") != kSuccess) return "not writable";
  if (rig.attribute<int>(PointerAttribute::device, here) != 0) return "of another GPU";
  if (!pipe.meet() || !pipe.hear(second)) return "no second one";
  if (rig.read(here, 5) != "first") return "the memory went away under its opener";
  if (rig.driver.ipc_open(&other, second.handle, 1) != kAlreadyMapped) return "two blocks at one address of the owner";
  if (rig.driver.ipc_close(here) != kSuccess || rig.driver.ipc_close(here) != kSuccess) return "not closed";
  if (rig.driver.ipc_close(here) != kInvalidValue) return "closed three times";
  if (rig.driver.ipc_open(&other, second.handle, 1) != kSuccess || rig.read(other, 6) != "second")
    return "not the new one";
  if (rig.driver.ipc_close(other) != kSuccess) return "not closed";
  if (rig.driver.ipc_open(&other, first.handle, 1) != kMapFailed) return "freed memory is opened";
  rig.driver.primary_release(1);
  rig.driver.set_context(nullptr);
  return rig.fake.leaks();
}

TEST(FakeSharing, BlocksOfCudaMallocAreOpenedByOtherProcesses) {
  Forked child([](const Pipe& pipe) { return open_twice(pipe); });
  SharingRig rig;
  const Pipe pipe = child.pipe();
  Address block = 0, next = 0, mine = 0;
  IpcNews news{};
  ASSERT_EQ(cuMemAlloc_v2(&block, 10'000), kSuccess);
  EXPECT_EQ(rig.attribute<int>(PointerAttribute::ipc_capable, block), 1);
  ASSERT_EQ(rig.write(block, "first"), kSuccess);
  ASSERT_EQ(rig.driver.ipc_get(&news.handle, block + 100), kSuccess);
  EXPECT_EQ(rig.driver.ipc_open(&mine, news.handle, 1), kInvalidContext) << "the owner opens it";
  ASSERT_TRUE(pipe.tell(news) && pipe.meet());
  EXPECT_EQ(rig.read(block + 4096, 6), "answer");
  const auto id = rig.attribute<uint64_t>(PointerAttribute::buffer_id, block);
  ASSERT_EQ(rig.driver.memory_free(block), kSuccess);
  ASSERT_EQ(cuMemAlloc_v2(&next, 10'000), kSuccess);
  EXPECT_EQ(next, block) << "the address that was freed last is given out again";
  EXPECT_NE(rig.attribute<uint64_t>(PointerAttribute::buffer_id, next), id);
  ASSERT_EQ(rig.write(next, "second"), kSuccess);
  ASSERT_EQ(rig.driver.ipc_get(&news.handle, next), kSuccess);
  ASSERT_TRUE(pipe.tell(news));
  EXPECT_EQ(child.join(), "");
  EXPECT_EQ(rig.driver.memory_free(next), kSuccess);
  EXPECT_EQ(rig.driver.memory_free(next), kInvalidValue);
}

/// What a process tells of an allocation of its pool. The file of the pool stays open under its number.
struct PoolNews {
  int pid;
  int fd;
  PoolPointer pointer;
};

std::string import_pool(const Pipe& pipe) {
  SharingRig rig(1);
  PoolNews news{};
  if (!pipe.hear(news)) return "nothing came";
  const std::string path = "/proc/" + std::to_string(news.pid) + "/fd/" + std::to_string(news.fd);
  const UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  Pool pool = nullptr;
  Address here = 0;
  void* const shareable = reinterpret_cast<void*>(static_cast<intptr_t>(fd.get()));
  if (rig.driver.pool_import(&pool, shareable, kHandlePosixFd, 0) != kSuccess) return "no pool";
  if (rig.driver.pool_import_pointer(&here, pool, &news.pointer) != kSuccess) return "no memory";
  if (rig.read(here, 4) != "(not readable)") return "access by a GPU that was given none";
  const AccessDescription access{{kAtDevice, 1}, kReadWrite};
  if (rig.driver.pool_set_access(pool, &access, 1) != kSuccess) return "no access";
  if (rig.read(here, 4) != "pool") return "reads " + rig.read(here, 4);
  if (cuMemAllocFromPoolAsync(&here, 4096, pool, nullptr) != kInvalidValue) return "an imported pool allocates";
  if (rig.driver.pool_destroy(pool) != kInvalidValue) return "destroyed with memory in it";
  if (rig.driver.memory_free(here) != kSuccess || rig.driver.pool_destroy(pool) != kSuccess) return "not freed";
  rig.driver.primary_release(1);
  rig.driver.set_context(nullptr);
  return rig.fake.leaks();
}

TEST(FakeSharing, PoolsAreImportedByOtherProcesses) {
  Forked child([](const Pipe& pipe) { return import_pool(pipe); });
  SharingRig rig;
  Pool pool = nullptr;
  Address memory = 0, alone = 0;
  PoolNews news{static_cast<int>(getpid()), -1, {}};
  const PoolProperties properties;
  ASSERT_EQ(cuMemPoolCreate(&pool, &properties), kSuccess);
  ASSERT_EQ(cuMemAllocFromPoolAsync(&memory, 5000, pool, nullptr), kSuccess);
  EXPECT_EQ(rig.attribute<Pool>(PointerAttribute::pool, memory), pool);
  EXPECT_EQ(rig.attribute<int>(PointerAttribute::ipc_capable, memory), 0);
  ASSERT_EQ(rig.write(memory, "pool"), kSuccess);
  ASSERT_EQ(rig.driver.pool_export(&news.fd, pool, kHandlePosixFd, 0), kSuccess);
  ASSERT_EQ(rig.driver.pool_export_pointer(&news.pointer, memory), kSuccess);
  ASSERT_TRUE(child.pipe().tell(news));
  EXPECT_EQ(child.join(), "");
  close(news.fd);
  ASSERT_EQ(cuMemAllocAsync(&alone, 4096, nullptr), kSuccess);
  EXPECT_EQ(rig.driver.pool_export(&news.fd, rig.attribute<Pool>(PointerAttribute::pool, alone), kHandlePosixFd, 0),
            kInvalidValue)
      << "a pool that was not made for it";
  EXPECT_EQ(cuMemFreeAsync(alone, nullptr), kSuccess);
  EXPECT_EQ(cuMemFreeAsync(memory, nullptr), kSuccess);
  EXPECT_EQ(rig.driver.pool_destroy(pool), kSuccess);
}

TEST(FakeSharing, VirtualMemoryTellsItsReservationAndItsBlock) {
  SharingRig rig;
  const Driver& driver = rig.driver;
  AllocationProperties properties;
  properties.handle_types = kHandlePosixFd;
  std::array<MemoryHandle, 2> handles{};
  Address range = 0;
  ASSERT_EQ(driver.address_reserve(&range, 4 * kFakePiece, 0, 0, 0), kSuccess);
  for (MemoryHandle& handle : handles) ASSERT_EQ(driver.memory_create(&handle, kFakePiece, &properties, 0), kSuccess);
  ASSERT_EQ(driver.memory_map(range, kFakePiece, 0, handles[0], 0), kSuccess);
  ASSERT_EQ(driver.memory_map(range + kFakePiece, kFakePiece, 0, handles[1], 0), kSuccess);
  const Address inside = range + kFakePiece + 512;
  EXPECT_EQ(rig.attribute<Address>(PointerAttribute::range_start, inside), range);
  EXPECT_EQ(rig.attribute<size_t>(PointerAttribute::range_nbytes, inside), 4 * kFakePiece);
  EXPECT_EQ(rig.attribute<unsigned>(PointerAttribute::handle_types, inside), unsigned{kHandlePosixFd});
  EXPECT_EQ(rig.attribute<int>(PointerAttribute::ipc_capable, inside), 0);
  const auto block = rig.attribute<uint64_t>(PointerAttribute::memory_block_id, inside);
  EXPECT_NE(rig.attribute<uint64_t>(PointerAttribute::memory_block_id, range), block);
  ASSERT_EQ(driver.memory_unmap(range + kFakePiece, kFakePiece), kSuccess);
  EXPECT_EQ(rig.attribute<uint64_t>(PointerAttribute::buffer_id, inside), 0u);
  ASSERT_EQ(driver.memory_map(range + kFakePiece, kFakePiece, 0, handles[1], 0), kSuccess);
  EXPECT_EQ(rig.attribute<uint64_t>(PointerAttribute::memory_block_id, inside), block) << "mapped again";
  ASSERT_EQ(driver.memory_unmap(range, 2 * kFakePiece), kSuccess);
  for (const MemoryHandle handle : handles) EXPECT_EQ(driver.memory_release(handle), kSuccess);
  EXPECT_EQ(driver.address_free(range, 4 * kFakePiece), kSuccess);
}

TEST(FakeSharing, OldDriversKnowNoBlocks) {
  SharingRig rig(0, {.version = 12000});
  Address block = 0;
  ASSERT_EQ(cuMemAlloc_v2(&block, 64), kSuccess);
  uint64_t id = 0;
  void* to = &id;
  PointerAttribute which = PointerAttribute::memory_block_id;
  EXPECT_EQ(rig.driver.pointer_attributes(1, &which, &to, block), kInvalidValue);
  EXPECT_EQ(rig.driver.memory_free(block), kSuccess);
}

TEST(FakeSharing, FabricHandlesAreBytes) {
  Forked child([](const Pipe& pipe) -> std::string {
    SharingRig rig(1, {.devices = 2, .attributes = {{Attribute::handle_type_fabric, 1}}});
    FabricHandle fabric{};
    MemoryHandle handle = 0;
    Address range = 0;
    const AccessDescription access{{kAtDevice, 1}, kReadWrite};
    if (!pipe.hear(fabric)) return "nothing came";
    if (rig.driver.memory_import(&handle, &fabric, kHandleFabric) != kSuccess) return "not imported";
    if (rig.driver.address_reserve(&range, kFakePiece, 0, 0, 0) != kSuccess ||
        rig.driver.memory_map(range, kFakePiece, 0, handle, 0) != kSuccess ||
        rig.driver.memory_set_access(range, kFakePiece, &access, 1) != kSuccess)
      return "not mapped";
    if (rig.driver.stream_write_64(nullptr, range + 64, 1, 0) != kInvalidValue ||
        rig.driver.stream_wait_64(nullptr, range + 64, 1, kWordEquals) != kInvalidValue)
      return "words of streams in memory of another process";
    return rig.read(range, 6) == "fabric" ? "" : "reads " + rig.read(range, 6);
  });
  SharingRig rig(0, {.devices = 2, .attributes = {{Attribute::handle_type_fabric, 1}}});
  const Driver& driver = rig.driver;
  AllocationProperties properties;
  properties.handle_types = kHandleFabric;
  MemoryHandle handle = 0;
  Address range = 0;
  int fd = -1;
  FabricHandle fabric{};
  const AccessDescription access{{kAtDevice, 0}, kReadWrite};
  ASSERT_EQ(driver.memory_create(&handle, kFakePiece, &properties, 0), kSuccess);
  ASSERT_EQ(driver.address_reserve(&range, kFakePiece, 0, 0, 0), kSuccess);
  ASSERT_EQ(driver.memory_map(range, kFakePiece, 0, handle, 0), kSuccess);
  ASSERT_EQ(driver.memory_set_access(range, kFakePiece, &access, 1), kSuccess);
  ASSERT_EQ(rig.write(range, "fabric"), kSuccess);
  EXPECT_EQ(driver.memory_export(&fd, handle, kHandlePosixFd, 0), kInvalidValue) << "not made for it";
  ASSERT_EQ(driver.memory_export(&fabric, handle, kHandleFabric, 0), kSuccess);
  ASSERT_TRUE(child.pipe().tell(fabric));
  EXPECT_EQ(child.join(), "");
  ASSERT_EQ(driver.memory_unmap(range, kFakePiece), kSuccess);
  EXPECT_EQ(driver.address_free(range, kFakePiece), kSuccess);
  EXPECT_EQ(driver.memory_release(handle), kSuccess);
}

}  // namespace
}  // namespace railshmem::cuda
