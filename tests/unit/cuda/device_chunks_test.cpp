// SPDX-License-Identifier: BSD-3-Clause
// Device heaps that grow, seen from two processes.
#include "src/cuda/device_chunks.h"

#include <gtest/gtest.h>

#include <optional>

#include "src/base/error.h"
#include "tests/gpu/fake_driver/fake_driver.h"
#include "tests/support/forked.h"

namespace railshmem::cuda {
namespace {

using test::Forked;
using test::Pipe;

constexpr size_t kUnit = size_t{2} << 20;

/// One PE of a node of two.
struct ChunkPe {
  ChunkPe(const FakeDriver& fake, Device device, size_t slot, size_t stride = 8 * kUnit)
      : gpu(DeviceContext::primary(fake.driver(), device)), arena(gpu, 2, stride), chunks(gpu, arena, slot, offers) {}
  DeviceContext gpu;
  FdOffers offers;
  DeviceArena arena;
  DeviceChunks chunks;
};

std::byte pattern(size_t pe, size_t at) {
  return static_cast<std::byte>(pe * 101 + at * 7 + (at >> 12));
}
void write_pattern(std::byte* base, size_t from, size_t nbytes, size_t pe) {
  for (size_t at = from; at < from + nbytes; ++at) base[at] = pattern(pe, at);
}
bool has_pattern(const std::byte* base, size_t nbytes, size_t pe) {
  for (size_t at = 0; at < nbytes; at += 509)
    if (base[at] != pattern(pe, at)) return false;
  return true;
}

/// Three times: both grow, exchange cards, import, and read what the other one wrote.
std::string grow_together(const Pipe& pipe, size_t me, Device device) {
  FakeDriver fake({.devices = 2});
  const size_t other = 1 - me;
  {
    ChunkPe pe(fake, device, me);
    size_t known = 0;
    for (size_t turn = 1; turn <= 3; ++turn) {
      const ChunkCard card = pe.chunks.grow(turn * kUnit - 5);
      write_pattern(pe.arena.address(me), known, turn * kUnit, me);
      ChunkCard theirs;
      if (!pipe.tell(card) || !pipe.hear(theirs)) return "the other one is gone";
      if (!pe.chunks.unreachable(theirs.device).empty()) return "out of reach";
      pe.chunks.import(other, theirs);
      known += turn * kUnit;
      if (!has_pattern(pe.arena.address(other), known, other)) return "not what the other one wrote";
      const int imports = fake.calls("cuMemImportFromShareableHandle");
      pe.chunks.import(other, theirs);
      if (fake.calls("cuMemImportFromShareableHandle") != imports) return "imported twice";
      if (!pipe.meet()) return "no meeting";
      pe.chunks.close_offers();
    }
    if (pe.chunks.nbytes() != 6 * kUnit || pe.chunks.imported(other) != 6 * kUnit || pe.chunks.own().size() != 3)
      return "wrong sizes";
    // Writes through the mapping of the peer's memory.
    *pe.arena.address(other, 6 * kUnit - 1) = std::byte{99};
    if (!pipe.meet()) return "no meeting";
    if (*pe.arena.address(me, 6 * kUnit - 1) != std::byte{99}) return "the other one's store is not here";
    if (!pipe.meet()) return "no meeting";
  }
  return fake.leaks();
}

TEST(DeviceChunks, TwoProcessesGrowAndSeeEachOther) {
  Forked child([](const Pipe& pipe) { return grow_together(pipe, 1, 1); });
  EXPECT_EQ(grow_together(child.pipe(), 0, 0), "");
  EXPECT_EQ(child.join(), "");
}

TEST(DeviceChunks, TwoProcessesMayShareOneGpu) {
  Forked child([](const Pipe& pipe) { return grow_together(pipe, 1, 0); });
  EXPECT_EQ(grow_together(child.pipe(), 0, 0), "");
  EXPECT_EQ(child.join(), "");
}

/// As with CUDA_VISIBLE_DEVICES: each process sees one GPU, its own, as number 0.
std::string reach_hidden(const Pipe& pipe, size_t me, std::vector<std::pair<int, int>> apart) {
  FakeDriver fake({.devices = 1, .physical = {static_cast<int>(4 + me)}, .apart = std::move(apart)});
  ChunkPe pe(fake, 0, me);
  const ChunkCard card = pe.chunks.grow(kUnit);
  *pe.arena.address(me, 3) = std::byte{static_cast<unsigned char>(me + 1)};
  ChunkCard theirs;
  if (!pipe.tell(card) || !pipe.hear(theirs)) return "the other one is gone";
  std::string wrong = pe.chunks.unreachable(theirs.device);
  try {
    if (wrong.empty()) pe.chunks.import(1 - me, theirs);
    if (wrong.empty() && *pe.arena.address(1 - me, 3) != std::byte{static_cast<unsigned char>(2 - me)})
      wrong = "not the other one's";
  } catch (const Error& e) {
    wrong = e.what();
  }
  return pipe.meet() ? wrong : "no meeting";
}

TEST(DeviceChunks, AGpuThatThisProcessDoesNotSeeIsUsedAllTheSame) {
  Forked child([](const Pipe& pipe) { return reach_hidden(pipe, 1, {}); });
  EXPECT_EQ(reach_hidden(child.pipe(), 0, {}), "");
  EXPECT_EQ(child.join(), "");
}

TEST(DeviceChunks, AHiddenGpuOutOfReachIsToldByTheImport) {
  Forked child([](const Pipe& pipe) { return reach_hidden(pipe, 1, {{4, 5}}); });
  const std::string error = reach_hidden(child.pipe(), 0, {{4, 5}});
  EXPECT_NE(error.find("gets no access"), std::string::npos) << error;
  EXPECT_NE(child.join(), "");
}

TEST(DeviceChunks, AVisibleGpuOutOfReachIsToldBeforeTheImport) {
  FakeDriver fake({.devices = 2, .apart = {{0, 1}}});
  ChunkPe mine(fake, 0, 0);
  ChunkPe theirs(fake, 1, 1);
  const ChunkCard card = theirs.chunks.grow(kUnit);
  const std::string why = mine.chunks.unreachable(card.device);
  EXPECT_NE(why.find("GPU 0 (Fake GPU, 0000:18:00.0) does not reach the memory of GPU 1"), std::string::npos) << why;
  EXPECT_EQ(theirs.chunks.unreachable(card.device), "");
}

TEST(DeviceChunks, PesOfOneProcessShareToo) {
  FakeDriver fake({.devices = 2});
  {
    ChunkPe first(fake, 0, 0);
    ChunkPe second(fake, 1, 1);
    const ChunkCard card = first.chunks.grow(kUnit);
    second.chunks.import(0, card);
    *first.arena.address(0, 77) = std::byte{5};
    EXPECT_EQ(*second.arena.address(0, 77), std::byte{5});
  }
  EXPECT_EQ(fake.leaks(), "");
}

TEST(DeviceChunks, AGrowthThatFailsLeavesTheHeapAsItWas) {
  FakeDriver fake({.memory_nbytes = 4 * kUnit});
  {
    ChunkPe pe(fake, 0, 0);
    pe.chunks.grow(kUnit);
    EXPECT_THROW(pe.chunks.grow(4 * kUnit), Error);
    fake.fail("cuMemMap", 1, kOutOfMemory);
    EXPECT_THROW(pe.chunks.grow(kUnit), Error);
    fake.fail("cuMemSetAccess", 1, kNotSupported);
    EXPECT_THROW(pe.chunks.grow(kUnit), Error);
    fake.fail("cuMemExportToShareableHandle", 1, kNotSupported);
    EXPECT_THROW(pe.chunks.grow(kUnit), Error);
    EXPECT_EQ(pe.chunks.nbytes(), kUnit);
    EXPECT_EQ(fake.leaks(), "1 memory handle, 1 mapping, 1 reservation, 1 retained context");
    EXPECT_EQ(pe.chunks.grow(3 * kUnit).at, kUnit);
  }
  EXPECT_EQ(fake.leaks(), "");
}

TEST(DeviceChunks, AGrowthIsTakenBackWhenAPeerCannotFollow) {
  FakeDriver fake;
  {
    ChunkPe pe(fake, 0, 0);
    const ChunkCard first = pe.chunks.grow(kUnit);
    const ChunkCard second = pe.chunks.grow(2 * kUnit);
    EXPECT_THROW(pe.chunks.take_back(first), Error);
    pe.chunks.take_back(second);
    EXPECT_EQ(pe.chunks.nbytes(), kUnit);
    EXPECT_THROW(take_fd(second.fd, FdWay::socket), Error);
    EXPECT_NO_THROW(take_fd(first.fd, FdWay::socket));
    EXPECT_EQ(pe.chunks.grow(kUnit).at, kUnit);
  }
  EXPECT_EQ(fake.leaks(), "");
}

TEST(DeviceChunks, AFullSlotAndOddCardsAreErrors) {
  FakeDriver fake;
  ChunkPe pe(fake, 0, 0, 2 * kUnit);
  ChunkPe peer(fake, 0, 1, 2 * kUnit);
  pe.chunks.grow(kUnit);
  try {
    pe.chunks.grow(kUnit + 1);
    FAIL() << "no error";
  } catch (const Error& e) {
    EXPECT_STREQ(e.what(),
                 "no room for 2097153 bytes more of device heap: 2097152 of 4194304 bytes are in use; raise "
                 "SHMEM_SYMMETRIC_SIZE");
  }
  EXPECT_THROW(pe.chunks.grow(SIZE_MAX), Error);
  const ChunkCard card = peer.chunks.grow(kUnit);
  const ChunkCard behind = peer.chunks.grow(kUnit);
  EXPECT_THROW(pe.chunks.import(1, behind), Error) << "a gap";
  EXPECT_THROW(pe.chunks.import(0, card), Error) << "my own slot";
  EXPECT_THROW(pe.chunks.import(2, card), Error);
  EXPECT_NO_THROW(pe.chunks.import(1, card));
  EXPECT_NO_THROW(pe.chunks.import(1, behind));
}

}  // namespace
}  // namespace railshmem::cuda
