// SPDX-License-Identifier: BSD-3-Clause
// Memory of the program's, from one process to another, whatever it is.
#include "src/cuda/shareable_memory.h"

#include <gtest/gtest.h>

#include <optional>

#include "src/cuda/imported_memory.h"
#include "tests/support/fake_program_calls.h"
#include "tests/support/forked.h"

namespace railshmem::cuda {
namespace {

using test::fake_program_calls;
using test::Forked;
using test::Pipe;
using test::ProgramMemory;
using Kind = test::Allocator;

constexpr size_t kShareExtent = ProgramMemory::kExtent;

/// A process with a GPU that is current.
struct ShareRig {
  explicit ShareRig(Device device = 0, const FakeOptions& options = {.devices = 2})
      : fake(options), gpu(DeviceContext::primary(fake.driver(), device)) {
    fake.driver().set_context(gpu.context());
  }
  ~ShareRig() { fake.driver().set_context(nullptr); }
  std::string read(const std::byte* from, size_t nbytes) const {
    std::string bytes(nbytes, '\0');
    const Result result = fake.driver().copy(address_of(bytes.data()), address_of(from), nbytes);
    return result == kSuccess ? bytes : text("(not readable: %d)", result);
  }
  void write(std::byte* to, const std::string& bytes) const {
    EXPECT_EQ(fake.driver().copy(address_of(to), address_of(bytes.data()), bytes.size()), kSuccess);
  }
  ProgramMemory memory(Kind kind, size_t nbytes, int handle_types = kHandlePosixFd) const {
    return {fake.driver(), fake_program_calls(), kind, nbytes, handle_types};
  }
  FakeDriver fake;
  DeviceContext gpu;
};

std::string error_of_find(const ShareRig& rig, const void* address, size_t nbytes) {
  try {
    ShareableMemory::find(rig.gpu, address, nbytes);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

struct ShareNews {
  ShareBy by;
  size_t nbytes;
  size_t nextents;
};

/// Maps what the other process tells of, reads its first and last words, and answers in its memory.
std::string import_it(const Pipe& pipe) {
  ShareRig rig(1);
  {
    Importer importer(rig.gpu);
    ShareNews news{};
    if (!pipe.hear(news)) return "nothing came";
    const auto imported = importer.begin(news.by, news.nbytes, "PE 3");
    for (size_t i = 0; i < news.nextents; ++i) {
      ShareDescriptor descriptor;
      if (!pipe.hear(descriptor)) return "a descriptor is missing";
      imported->add(descriptor);
    }
    std::byte* const base = imported->base();
    if (rig.read(base, 5) != "begin") return "reads " + rig.read(base, 5);
    if (rig.read(base + news.nbytes - 3, 3) != "end") return "reads " + rig.read(base + news.nbytes - 3, 3);
    rig.write(base + news.nbytes / 2 - 4, "answered");
    if (!pipe.meet()) return "the owner is gone";
  }
  const std::string leaks = rig.fake.leaks();
  return leaks == "1 retained context, 1 context of this thread" ? "" : leaks;
}

void share(Kind kind, size_t nbytes, ShareBy by, int handle_types = kHandlePosixFd) {
  Forked child([](const Pipe& pipe) { return import_it(pipe); });
  ShareRig rig;
  const ProgramMemory memory = rig.memory(kind, nbytes, handle_types);
  const ShareableMemory shared = ShareableMemory::find(rig.gpu, memory.at(5000), nbytes - 6000);
  EXPECT_EQ(shared.by(), by);
  EXPECT_EQ(shared.start(), address_of(memory.at()));
  ASSERT_GE(shared.nbytes(), nbytes);
  rig.write(memory.at(), "begin");
  rig.write(memory.at(shared.nbytes() - 3), "end");
  FdOffers offers;
  std::vector<FdOffer> offered;
  const Pipe pipe = child.pipe();
  ASSERT_TRUE(pipe.tell(ShareNews{by, shared.nbytes(), shared.nextents()}));
  for (const ShareDescriptor& descriptor : shared.descriptors(0, shared.nextents(), offers, offered))
    ASSERT_TRUE(pipe.tell(descriptor));
  ASSERT_TRUE(pipe.meet());
  EXPECT_EQ(rig.read(memory.at(shared.nbytes() / 2 - 4), 8), "answered");
  EXPECT_EQ(child.join(), "");
}

TEST(ShareableMemory, ABlockOfCudaMallocGoesByIpc) {
  share(Kind::block, 100'000, ShareBy::ipc);
}
TEST(ShareableMemory, ExtentsOfCuMemCreateGoByDescriptors) {
  share(Kind::extents, 3 * kShareExtent, ShareBy::fd);
}
TEST(ShareableMemory, ExtentsWithFabricHandlesOnlyGoByThose) {
  share(Kind::extents, 2 * kShareExtent, ShareBy::fabric, kHandleFabric);
}
TEST(ShareableMemory, AnAllocationOfAPoolGoesByItsPool) {
  share(Kind::pool, 50'000, ShareBy::pool);
}

TEST(ShareableMemory, OnlyTheExtentsOfTheRangeAreTaken) {
  ShareRig rig;
  const ProgramMemory memory = rig.memory(Kind::extents, 4 * kShareExtent);
  const ShareableMemory shared = ShareableMemory::find(rig.gpu, memory.at(kShareExtent + 8), kShareExtent);
  EXPECT_EQ(shared.start(), address_of(memory.at(kShareExtent)));
  EXPECT_EQ(shared.nextents(), 2u);
  EXPECT_TRUE(shared.holds(address_of(memory.at(kShareExtent)), 2 * kShareExtent));
  EXPECT_FALSE(shared.holds(address_of(memory.at(kShareExtent)) - 1, 1));
  EXPECT_FALSE(shared.holds(address_of(memory.at(2 * kShareExtent)), kShareExtent + 1));
  EXPECT_FALSE(shared.holds(address_of(memory.at(2 * kShareExtent)), ~size_t{0}));
}

TEST(ShareableMemory, AFreedBlockIsNoticedWhenItsAddressIsGivenOutAgain) {
  ShareRig rig;
  std::optional<ProgramMemory> memory(std::in_place, rig.fake.driver(), fake_program_calls(), Kind::block, 8192);
  const Address at = address_of(memory->at());
  const ShareableMemory shared = ShareableMemory::find(rig.gpu, memory->at(), 8192);
  EXPECT_TRUE(shared.intact(at, 8192));
  memory.reset();
  EXPECT_FALSE(shared.intact(at, 8192)) << "freed";
  const ProgramMemory next = rig.memory(Kind::block, 8192);
  ASSERT_EQ(address_of(next.at()), at);
  EXPECT_FALSE(shared.intact(at, 8192)) << "freed and given out again";
}

TEST(ShareableMemory, AnExtentInTheMiddleThatIsOtherMemoryNowIsNoticed) {
  for (const int version : {13000, 12000}) {
    ShareRig rig(0, {.version = version});
    ProgramMemory memory = rig.memory(Kind::extents, 3 * kShareExtent);
    const Address at = address_of(memory.at());
    const ShareableMemory shared = ShareableMemory::find(rig.gpu, memory.at(), 3 * kShareExtent);
    EXPECT_TRUE(shared.intact(at, 3 * kShareExtent));
    memory.replace(1);
    EXPECT_FALSE(shared.intact(at, 3 * kShareExtent));
    EXPECT_FALSE(shared.intact(at + kShareExtent - 1, 2));
    EXPECT_TRUE(shared.intact(at, kShareExtent)) << "the other extents are what they were";
    EXPECT_TRUE(shared.intact(at + 2 * kShareExtent, 100));
  }
}

TEST(ShareableMemory, VirtualMemoryLivesAsLongAsItIsShared) {
  ShareRig rig;
  std::optional<ShareableMemory> shared;
  {
    const ProgramMemory memory = rig.memory(Kind::extents, kShareExtent);
    shared = ShareableMemory::find(rig.gpu, memory.at(), kShareExtent);
  }
  EXPECT_EQ(rig.fake.leaks().find("1 memory handle"), 0u) << rig.fake.leaks();
  shared.reset();
  EXPECT_EQ(rig.fake.leaks().find("memory handle"), std::string::npos) << rig.fake.leaks();
}

TEST(ShareableMemory, WhatCannotBeSharedSaysWhatToAllocate) {
  ShareRig rig;
  const Driver& driver = rig.fake.driver();
  int on_host = 0;
  void* pinned = nullptr;
  ASSERT_EQ(driver.host_alloc(&pinned, 4096, 0), kSuccess);
  EXPECT_NE(error_of_find(rig, &on_host, 4).find("is no memory of a GPU: host memory, or freed"), std::string::npos);
  EXPECT_NE(error_of_find(rig, pinned, 4).find("is pinned host memory"), std::string::npos);
  EXPECT_EQ(error_of_find(rig, nullptr, 4), "the address is NULL");
  driver.host_free(pinned);
  const ProgramMemory block = rig.memory(Kind::block, 8192);
  EXPECT_NE(error_of_find(rig, block.at(), 0).find("0 bytes at"), std::string::npos);
  EXPECT_NE(error_of_find(rig, block.at(4000), 8000).find("reach beyond the end of their allocation, 8192 bytes"),
            std::string::npos);
  std::byte* const theirs = rig.fake.allocate(4096, 1);
  EXPECT_NE(error_of_find(rig, theirs, 8).find("is in the memory of another GPU (1) than this PE's, GPU 0"),
            std::string::npos);
  rig.fake.release(theirs);
  const ProgramMemory alone = rig.memory(Kind::extents, kShareExtent, 0);
  EXPECT_NE(error_of_find(rig, alone.at(), 8).find("without CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR"),
            std::string::npos);
  const ProgramMemory pool = rig.memory(Kind::pool, 4096, 0);
  EXPECT_NE(
      error_of_find(rig, pool.at(), 8).find("is of a pool (cudaMallocAsync) that cannot be shared: invalid argument"),
      std::string::npos);
  rig.fake.fail("cuIpcGetMemHandle", 1, kNotSupported);
  EXPECT_NE(error_of_find(rig, block.at(), 8)
                .find("cannot be shared with other processes (CUDA IPC): operation not "
                      "supported (801); allocate the buffer with shmemx_mem_alloc"),
            std::string::npos);
}

TEST(ShareableMemory, ADriverThatLacksAWaySaysSo) {
  ShareRig rig;
  const ProgramMemory block = rig.memory(Kind::block, 4096);
  const ProgramMemory pool = rig.memory(Kind::pool, 4096);
  Driver old = rig.fake.driver();
  old.ipc_open = nullptr;
  old.pool_export = nullptr;
  const DeviceContext gpu = DeviceContext::primary(old, 0);
  const auto error_here = [&](const std::byte* address) -> std::string {
    try {
      ShareableMemory::find(gpu, address, 8);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_NE(error_here(block.at())
                .find("too old for sharing cudaMalloc memory between processes: it lacks "
                      "cuIpcOpenMemHandle_v2"),
            std::string::npos);
  EXPECT_NE(error_here(pool.at()).find("it lacks cuMemPoolExportToShareableHandle"), std::string::npos);
}

TEST(ImportedMemory, APoolIsImportedOnceForAllItsAllocations) {
  Forked child([](const Pipe& pipe) -> std::string {
    ShareRig rig(1);
    {
      Importer importer(rig.gpu);
      ShareDescriptor first, second;
      if (!pipe.hear(first) || !pipe.hear(second)) return "no descriptors";
      const auto one = importer.begin(ShareBy::pool, first.nbytes, "PE 3");
      auto other = importer.begin(ShareBy::pool, second.nbytes, "PE 3");
      one->add(first);
      other->add(second);
      if (rig.fake.calls("cuMemPoolImportFromShareableHandle") != 1) return "imported twice";
      other.reset();
      if (rig.fake.calls("cuMemPoolDestroy") != 0) return "destroyed under the other allocation";
    }
    const std::string leaks = rig.fake.leaks();
    return leaks == "1 retained context, 1 context of this thread" ? "" : leaks;
  });
  ShareRig rig;
  const Driver& driver = rig.fake.driver();
  Pool pool = nullptr;
  const PoolProperties properties;
  Address memory[2] = {};
  FdOffers offers;
  std::vector<FdOffer> offered;
  ASSERT_EQ(cuMemPoolCreate(&pool, &properties), kSuccess);
  for (Address& address : memory) {
    ASSERT_EQ(cuMemAllocFromPoolAsync(&address, 4096, pool, nullptr), kSuccess);
    const ShareableMemory shared = ShareableMemory::find(rig.gpu, pointer_to(address), 4096);
    ASSERT_TRUE(child.pipe().tell(shared.descriptors(0, 1, offers, offered).front()));
  }
  EXPECT_EQ(child.join(), "");
  for (const Address address : memory) cuMemFreeAsync(address, nullptr);
  EXPECT_EQ(driver.pool_destroy(pool), kSuccess);
}

TEST(ImportedMemory, ImportsOutOfReachAreErrors) {
  for (const Kind kind : test::kAllocators) {
    Forked child([](const Pipe& pipe) -> std::string {
      ShareRig rig(1, {.devices = 2, .apart = {{0, 1}}});
      ShareNews news{};
      ShareDescriptor descriptor;
      if (!pipe.hear(news) || !pipe.hear(descriptor)) return "no descriptor";
      std::string wrong = "no error";
      try {
        Importer importer(rig.gpu);
        importer.begin(news.by, news.nbytes, "PE 3")->add(descriptor);
      } catch (const Error& error) {
        wrong = error.what();
      }
      const bool told = wrong.find("gets no access") != std::string::npos ||
                        wrong.find("of PE 3 cannot be opened on GPU 1") != std::string::npos;
      const std::string leaks = rig.fake.leaks();
      return !told ? wrong : leaks == "1 retained context, 1 context of this thread" ? "" : leaks;
    });
    ShareRig rig(0, {.devices = 2, .apart = {{0, 1}}});
    const ProgramMemory memory = rig.memory(kind, kShareExtent);
    const ShareableMemory shared = ShareableMemory::find(rig.gpu, memory.at(), 8);
    FdOffers offers;
    std::vector<FdOffer> offered;
    ASSERT_TRUE(child.pipe().tell(ShareNews{shared.by(), shared.nbytes(), 1}));
    ASSERT_TRUE(child.pipe().tell(shared.descriptors(0, 1, offers, offered).front()));
    EXPECT_EQ(child.join(), "") << name_of(kind);
  }
}

}  // namespace
}  // namespace railshmem::cuda
