// SPDX-License-Identifier: BSD-3-Clause
#include "src/heap/node_arena.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstdint>
#include <cstring>

#include "src/base/error.h"
#include "src/heap/heap.h"

namespace railshmem {
namespace {

constexpr size_t kMebi = 1u << 20;

TEST(NodeArena, PeerAddressIsArithmetic) {
  NodeArena arena(3, 4 * kMebi);
  HostMemory mine(4 * kMebi, HugePagesMode::off);
  std::byte* own = arena.map_own(1, mine.fd(), mine.nbytes());
  std::byte* seen = arena.map_peer(2, mine.fd(), 2 * kMebi, 2 * kMebi);
  EXPECT_EQ(own, arena.base() + 4 * kMebi);
  EXPECT_EQ(seen, arena.address(2, 2 * kMebi));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(arena.base()) % NodeArena::kAlign, 0u);
  own[17] = std::byte{42};
  EXPECT_EQ(arena.address(2, 2 * kMebi + 17)[0], std::byte{42});
}

TEST(NodeArena, AlignmentFollowsTheStride) {
  EXPECT_EQ(NodeArena(2, 6 * kMebi).alignment(), 2 * kMebi);
  EXPECT_EQ(NodeArena(2, 3 * NodeArena::kMaxAlign).alignment(), NodeArena::kMaxAlign);
  const NodeArena arena(3, 64 * kMebi);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(arena.address(1)) % (64 * kMebi), 0u);
}

TEST(NodeArena, StridesAreAsAlignedAsTheLargestObject) {
  EXPECT_EQ(NodeArena::stride_for(1), NodeArena::kAlign);
  EXPECT_EQ(NodeArena::stride_for(514 * kMebi), 1024 * kMebi);
  EXPECT_EQ(NodeArena::stride_for(64 * kMebi), 64 * kMebi);
  EXPECT_EQ(NodeArena::stride_for(NodeArena::kMaxAlign + 1), 2 * NodeArena::kMaxAlign);
}

TEST(NodeArena, MoveKeepsTheMappingAndDestructionUnmaps) {
  std::byte* base = nullptr;
  {
    NodeArena first(1, 2 * kMebi);
    HostMemory memory(2 * kMebi, HugePagesMode::off);
    base = first.map_own(0, memory.fd(), memory.nbytes());
    NodeArena second(std::move(first));
    second.base()[5] = std::byte{1};
    EXPECT_EQ(second.base(), base);
    EXPECT_EQ(first.base(), nullptr);
  }
  unsigned char resident = 0;
  EXPECT_NE(mincore(base, 4096, &resident), 0) << "still mapped";
}

TEST(NodeArena, UnmappedSlotFaultsAndCanBeMappedAgain) {
  NodeArena arena(2, 2 * kMebi);
  HostMemory memory(2 * kMebi, HugePagesMode::off);
  arena.map_peer(1, memory.fd(), memory.nbytes())[0] = std::byte{9};
  arena.unmap(1);
  EXPECT_DEATH(*const_cast<volatile std::byte*>(arena.address(1)) = std::byte{1}, "");
  EXPECT_EQ(arena.map_peer(1, memory.fd(), memory.nbytes())[0], std::byte{9});
}

TEST(NodeArena, TakesTheAddressThatIsAskedForOnlyWhereItIsFree) {
  uintptr_t free_base = 0;
  {
    const NodeArena probe(2, 4 * kMebi);
    free_base = reinterpret_cast<uintptr_t>(probe.base());
    EXPECT_FALSE(NodeArena::reserve_at(free_base, 2, 4 * kMebi));
    EXPECT_FALSE(NodeArena::reserve_at(free_base - 4 * kMebi, 2, 4 * kMebi)) << "its second slot is in use";
    EXPECT_EQ(probe.base(), reinterpret_cast<std::byte*>(free_base));
  }
  const auto arena = NodeArena::reserve_at(free_base, 2, 4 * kMebi);
  ASSERT_TRUE(arena);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(arena->base()), free_base);
  EXPECT_FALSE(NodeArena::reserve_at(free_base + 4096, 2, 4 * kMebi)) << "not aligned";
  EXPECT_FALSE(NodeArena::reserve_at(free_base, SIZE_MAX / 2, 4 * kMebi));
}

TEST(NodeArena, FailureNamesSizeAndVariable) {
  try {
    NodeArena arena(1024, size_t{1} << 46);
    FAIL() << "reserved 64 PiB";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("SHMEM_SYMMETRIC_SIZE"), std::string::npos) << e.what();
    EXPECT_NE(std::string(e.what()).find("70368744177664"), std::string::npos) << e.what();
  }
  EXPECT_THROW(NodeArena(SIZE_MAX / 2, 4 * kMebi), Error);
  EXPECT_THROW(NodeArena(1, 4096), Error);
  EXPECT_THROW(NodeArena(0, 2 * kMebi), Error);
}

TEST(NodeArena, MappingOutsideASlotIsAnError) {
  NodeArena arena(1, 2 * kMebi);
  HostMemory memory(4 * kMebi, HugePagesMode::off);
  EXPECT_THROW(arena.map_own(1, memory.fd(), kMebi), Error);
  EXPECT_THROW(arena.map_own(0, memory.fd(), 4 * kMebi), Error);
  EXPECT_THROW(arena.map_own(0, memory.fd(), 2 * kMebi, 4096), Error);
  EXPECT_THROW(arena.map_own(0, -1, kMebi), Error);
}

}  // namespace
}  // namespace railshmem
