// SPDX-License-Identifier: BSD-3-Clause
// The importing side of blocks of cudaMalloc, which takes a second process.
#include "src/gpu/peer_imports.h"

#include <gtest/gtest.h>

#include <optional>

#include "src/base/error.h"
#include "tests/support/fake_program_calls.h"
#include "tests/support/forked.h"

namespace railshmem {
namespace {

using cuda::address_of;
using cuda::ShareableMemory;
using test::Forked;
using test::Pipe;
using test::ProgramMemory;

constexpr size_t kBlock = 50'000;

/// A process with a GPU that is current.
struct ImportRig {
  explicit ImportRig(cuda::Device device)
      : fake({.devices = 2}), gpu(cuda::DeviceContext::primary(fake.driver(), device)) {
    fake.driver().set_context(gpu.context());
  }
  ~ImportRig() { fake.driver().set_context(nullptr); }
  char first_of(const std::byte* at) const {
    char byte = '?';
    fake.driver().copy(address_of(&byte), address_of(at), 1);
    return byte;
  }
  cuda::FakeDriver fake;
  cuda::DeviceContext gpu;
};

struct ImportNews {
  ImportRequest request;
  cuda::ShareDescriptor descriptor;
};

/// What the owner of a new block tells, which begins with `first`.
ImportNews news_of(const ImportRig& rig, const ProgramMemory& memory, uint64_t number, char first) {
  EXPECT_EQ(rig.fake.driver().copy(address_of(memory.at()), address_of(&first), 1), cuda::kSuccess);
  const ShareableMemory shared = ShareableMemory::find(rig.gpu, memory.at(), kBlock);
  FdOffers offers;
  std::vector<FdOffer> offered;
  ImportNews news;
  news.request.number = number;
  news.request.address = shared.start();
  news.request.nbytes = shared.nbytes();
  news.request.nextents = news.request.ndescriptors = 1;
  news.request.by = static_cast<uint32_t>(shared.by());
  news.descriptor = shared.descriptors(0, 1, offers, offered).front();
  return news;
}

/// Imports the second block while the first one is open and a stream has work that does not end.
std::string import_beside_work(const Pipe& pipe, bool withdrawn) {
  ImportRig rig(1);
  const cuda::Driver& driver = rig.fake.driver();
  {
    PeerImports imports(rig.gpu);
    ImportNews first, second;
    if (!pipe.hear(first)) return "nothing came";
    const ImportAnswer opened = imports.import(first.request, {&first.descriptor, 1});
    if (opened.here == 0) return opened.why;
    if (rig.first_of(cuda::pointer_to(opened.here)) != 'a') return "not the first block";
    if (imports.import(first.request, {&first.descriptor, 1}).here != opened.here) return "mapped twice";
    if (!pipe.meet() || !pipe.hear(second)) return "no second block";
    cuda::Stream stream = nullptr;
    std::byte* const own = rig.fake.allocate(64, 1);
    driver.stream_create(&stream, cuda::kStreamNonBlocking, 0);
    rig.fake.hold(true);
    driver.fill_async(address_of(own), 1, 64, stream);
    if (withdrawn && imports.withdraw(0, first.request.number)) return "closed beside a kernel";
    const ImportAnswer later = imports.import(second.request, {&second.descriptor, 1});
    if (later.here != 0 || later.later == 0) return "not put off";
    if (std::string(later.why).find("resource already mapped") == std::string::npos) return later.why;
    if (imports.place_of(cuda::pointer_to(opened.here))) return "the freed block is still in the books";
    if (!imports.has_withdrawn()) return "nothing is left to close";
    rig.fake.hold(false);
    imports.close_withdrawn();
    const ImportAnswer at_last = imports.import(second.request, {&second.descriptor, 1});
    if (at_last.here == 0) return at_last.why;
    if (rig.first_of(cuda::pointer_to(at_last.here)) != 'b') return "not the second block";
    if (imports.withdraw(0, second.request.number)) return "closed at once";
    driver.stream_synchronize(stream);
    driver.stream_destroy(stream);
    rig.fake.release(own);
  }
  const std::string leaks = rig.fake.leaks();
  return leaks == "1 retained context, 1 context of this thread" ? "" : leaks;
}

void reuse_an_address(bool withdrawn) {
  Forked child([withdrawn](const Pipe& pipe) { return import_beside_work(pipe, withdrawn); });
  ImportRig rig(0);
  const Pipe pipe = child.pipe();
  std::optional<ProgramMemory> memory(std::in_place, rig.fake.driver(), test::fake_program_calls(),
                                      test::Allocator::block, kBlock);
  const std::byte* const at = memory->at();
  ASSERT_TRUE(pipe.tell(news_of(rig, *memory, 1, 'a')) && pipe.meet());
  memory.reset();
  memory.emplace(rig.fake.driver(), test::fake_program_calls(), test::Allocator::block, kBlock);
  ASSERT_EQ(memory->at(), at);
  ASSERT_TRUE(pipe.tell(news_of(rig, *memory, 2, 'b')));
  EXPECT_EQ(child.join(), "");
}

TEST(PeerImports, AnImportThatMustWaitForAKernelIsPutOff) {
  reuse_an_address(true);
}
TEST(PeerImports, AFreedBlockMakesRoomThoughItsOwnersWordIsStillOnItsWay) {
  reuse_an_address(false);
}

TEST(PeerImports, ExtentsOutOfTurnAreRefused) {
  ImportRig rig(0);
  PeerImports imports(rig.gpu);
  ImportRequest request;
  request.pe = 4;
  request.number = 9;
  request.first_extent = 2;
  const ImportAnswer answer = imports.import(request, {});
  EXPECT_STREQ(answer.why, "extent 2 of an allocation of PE 4 came out of turn");
  EXPECT_EQ(answer.later, 0u);
  EXPECT_TRUE(imports.withdraw(4, 9)) << "nothing of it is left";
  EXPECT_EQ(imports.count(), 0u);
}

}  // namespace
}  // namespace railshmem
