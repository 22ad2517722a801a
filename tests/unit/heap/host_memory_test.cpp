// SPDX-License-Identifier: BSD-3-Clause
#include "src/heap/host_memory.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <thread>

#include "src/base/error.h"
#include "src/base/log.h"
#include "src/heap/heap.h"
#include "src/heap/memory_limit.h"
#include "src/heap/node_arena.h"

namespace railshmem {
namespace {

constexpr size_t kMiB = 1u << 20;

size_t blocks(int fd) {
  struct stat found {};
  EXPECT_EQ(fstat(fd, &found), 0);
  return static_cast<size_t>(found.st_blocks) * 512;
}

struct TouchedMemory {
  explicit TouchedMemory(size_t nbytes) : arena(1, nbytes), memory(nbytes, HugePagesMode::off) {
    memory.place(arena.map_own(0, memory.fd(), memory.nbytes()));
  }
  NodeArena arena;
  HostMemory memory;
};

TEST(HostMemory, OnlyPopulatedPagesExist) {
  TouchedMemory segment(16 * kMiB);
  EXPECT_EQ(blocks(segment.memory.fd()), 0u);
  segment.memory.populate(4 * kMiB, kMiB + 1);
  EXPECT_EQ(blocks(segment.memory.fd()), kMiB + 4096);
  EXPECT_EQ(segment.memory.base()[4 * kMiB], std::byte{0});
}

TEST(HostMemory, PopulateKeepsWhatPeersWrite) {
  TouchedMemory segment(32 * kMiB);
  auto* words = reinterpret_cast<std::atomic<uint64_t>*>(segment.memory.base());
  constexpr size_t kStep = 4096 / sizeof(uint64_t);
  std::thread peer([&] {
    for (size_t i = 0; i < 32 * kMiB / 8; i += kStep) words[i].store(i + 1, std::memory_order_relaxed);
  });
  segment.memory.populate(0, segment.memory.nbytes());
  peer.join();
  for (size_t i = 0; i < 32 * kMiB / 8; i += kStep) ASSERT_EQ(words[i].load(), i + 1);
}

TEST(HostMemory, LackOfMemoryIsAnErrorNotASignal) {
  TouchedMemory segment(4 * kMiB);
  ASSERT_EQ(ftruncate(segment.memory.fd(), 2 * kMiB), 0);  // what is behind the end cannot be had
  segment.memory.populate(0, 2 * kMiB);
  try {
    segment.memory.populate(2 * kMiB, kMiB);
    FAIL() << "populated memory that does not exist";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("SHMEM_SYMMETRIC_SIZE"), std::string::npos) << e.what();
  }
}

TEST(HostMemory, MoreThanTheSystemHasIsRefusedBeforeTheKernelKills) {
  const uint64_t left = available_memory();
  ASSERT_GT(left, 64 * kMiB);
  if (left > size_t{1} << 44)
    GTEST_SKIP() << left << " bytes are left: this system tells no limit that could be passed";
  const size_t nbytes = (2 * left) & ~(NodeArena::kAlign - 1);
  TouchedMemory segment(nbytes);  // creating is fine: most programs use a part
  EXPECT_THROW(segment.memory.populate(0, nbytes), Error);
  EXPECT_EQ(blocks(segment.memory.fd()), 0u);
}

/// Exits with 0 when the error names the limit.
[[noreturn]] void create_beyond_the_file_size_limit() {
  const rlimit small{kMiB, kMiB};
  setrlimit(RLIMIT_FSIZE, &small);
  try {
    HostMemory memory(4 * kMiB, HugePagesMode::off);
  } catch (const Error& e) {
    _exit(std::strstr(e.what(), "ulimit -f") != nullptr ? 0 : 1);
  }
  _exit(2);
}

TEST(HostMemory, LimitOnFileSizesIsAnErrorNotASignal) {
  EXPECT_EXIT(create_beyond_the_file_size_limit(), testing::ExitedWithCode(0), "");
}

TEST(HostMemory, HugePagesFallBack) {
  const uint64_t warned = warnings_logged();
  const HostMemory quiet(4 * kMiB, HugePagesMode::automatic);
  EXPECT_EQ(warnings_logged(), warned);
  const HostMemory asked(4 * kMiB, HugePagesMode::on);
  EXPECT_EQ(warnings_logged(), warned + (asked.huge() ? 0 : 1));
  EXPECT_THROW(HostMemory(0, HugePagesMode::off), Error);
  EXPECT_EQ(HostMemory(1, HugePagesMode::off).nbytes(), HostMemory::kAlign);
}

struct SmallHeap {
  static Heap make(NodeArena& arena, size_t nbytes) {
    HostMemory memory(nbytes, HugePagesMode::off);
    std::byte* base = arena.map_own(0, memory.fd(), memory.nbytes());
    return Heap(std::move(memory), base, 1000, arena.alignment());
  }
  explicit SmallHeap(size_t nbytes) : arena(1, nbytes), heap(make(arena, nbytes)) {}
  NodeArena arena;
  Heap heap;
};

TEST(Heap, HeaderIsZeroAndNeverHandedOut) {
  SmallHeap small(2 * kMiB);
  Heap& heap = small.heap;
  for (size_t i = 0; i < 1000; ++i) ASSERT_EQ(heap.base()[i], std::byte{0});
  void* first = heap.allocate(1);
  EXPECT_EQ(heap.offset_of(first), 1024u);
  EXPECT_FALSE(heap.release(heap.base()));
  EXPECT_EQ(heap.size_of(heap.base()), 0u);
  EXPECT_EQ(heap.resize(heap.base(), 10), nullptr);
  EXPECT_TRUE(heap.contains(heap.base()));
  EXPECT_FALSE(heap.contains(heap.base() + heap.nbytes()));
  EXPECT_FALSE(heap.contains(&small));
  EXPECT_TRUE(heap.release(first));
  EXPECT_FALSE(heap.release(first));
  EXPECT_TRUE(heap.release(nullptr));
}

TEST(Heap, ExhaustionIsNullAndLeavesTheHeapUsable) {
  SmallHeap small(2 * kMiB);
  EXPECT_EQ(small.heap.allocate(2 * kMiB), nullptr);
  EXPECT_EQ(small.heap.allocate(0), nullptr);
  EXPECT_EQ(small.heap.allocate(64, 4 * kMiB), nullptr);
  EXPECT_EQ(small.heap.allocate(64, 48), nullptr);
  EXPECT_EQ(small.heap.allocate(SIZE_MAX), nullptr);
  EXPECT_NE(small.heap.allocate(2 * kMiB - 1024), nullptr);
  EXPECT_EQ(small.heap.allocate(1), nullptr);
}

TEST(Heap, ResizeKeepsContent) {
  SmallHeap small(2 * kMiB);
  Heap& heap = small.heap;
  auto* text = static_cast<char*>(heap.allocate(64));
  std::strcpy(text, "rails");
  EXPECT_EQ(heap.resize(text, 4096), text);
  void* behind = heap.allocate(64);
  auto* moved = static_cast<char*>(heap.resize(text, 8192, 4096));
  ASSERT_NE(moved, nullptr);
  EXPECT_NE(moved, text);
  EXPECT_EQ(heap.offset_of(moved) % 4096, 0u);
  EXPECT_STREQ(moved, "rails");
  EXPECT_EQ(heap.size_of(text), 0u);
  EXPECT_EQ(heap.resize(moved, 4 * kMiB), nullptr);
  EXPECT_STREQ(moved, "rails");
  EXPECT_EQ(heap.resize(moved, 1), moved);
  EXPECT_EQ(heap.size_of(moved), 64u);
  EXPECT_TRUE(heap.release(behind));
}

TEST(Heap, PopulatesOnFirstUseOnly) {
  SmallHeap small(64 * kMiB);
  Heap& heap = small.heap;
  EXPECT_EQ(blocks(heap.fd()), 0u);  // the header too
  void* big = heap.allocate(10 * kMiB);
  EXPECT_EQ(blocks(heap.fd()), heap.populated());
  EXPECT_EQ(heap.populated(), 12 * kMiB);
  heap.release(big);
  heap.allocate(9 * kMiB);
  EXPECT_EQ(heap.populated(), 12 * kMiB);
}

TEST(Heap, FailedPopulateRollsTheAllocationBack) {
  SmallHeap small(8 * kMiB);
  Heap& heap = small.heap;
  ASSERT_EQ(ftruncate(heap.fd(), 2 * kMiB), 0);
  const size_t used = heap.offsets().bytes_used();
  EXPECT_THROW(heap.allocate(4 * kMiB), Error);
  EXPECT_EQ(heap.offsets().bytes_used(), used);
  void* object = heap.allocate(64);
  EXPECT_THROW(heap.resize(object, 4 * kMiB), Error);
  EXPECT_EQ(heap.size_of(object), 64u);
}

TEST(Heap, PagesThatAnotherPeLacksAreGivenBack) {
  SmallHeap small(64 * kMiB);
  Heap& heap = small.heap;
  bool others_agree = true;
  int votes = 0;
  heap.vote_on_pages([&](bool mine) {
    ++votes;
    return mine && others_agree;
  });
  auto* const first = static_cast<char*>(heap.allocate(kMiB));
  std::memset(first, 7, kMiB);
  ASSERT_NE(heap.allocate(64), nullptr);
  EXPECT_EQ(votes, 1) << "memory that has pages needs no vote";
  const size_t used = heap.offsets().bytes_used();
  const size_t populated = heap.populated();
  const size_t had = blocks(heap.fd());
  others_agree = false;
  try {
    heap.allocate(10 * kMiB);
    ADD_FAILURE() << "pages that another PE lacks";
  } catch (const NoMemory& lack) {
    EXPECT_FALSE(lack.here);
  }
  EXPECT_THROW(heap.resize(first, 20 * kMiB), NoMemory);
  EXPECT_EQ(heap.offsets().bytes_used(), used);
  EXPECT_EQ(heap.populated(), populated);
  EXPECT_EQ(blocks(heap.fd()), had);
  EXPECT_EQ(heap.size_of(first), kMiB);
  EXPECT_EQ(std::count(first, first + kMiB, 7), static_cast<long>(kMiB));
  others_agree = true;
  EXPECT_NE(heap.allocate(10 * kMiB), nullptr);
  EXPECT_EQ(votes, 4);
}

}  // namespace
}  // namespace railshmem
