// SPDX-License-Identifier: BSD-3-Clause
// The kernel tells what goes away before the call that takes it away returns.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <thread>
#include <vector>

#include "transports/ofi/memory_monitor.h"

namespace railshmem::ofi {
namespace {

std::byte* map_pages(size_t count, void* at = nullptr) {
  void* p =
      mmap(at, count * kPageBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | (at ? MAP_FIXED : 0), -1, 0);
  return static_cast<std::byte*>(p);
}

class MemoryMonitorTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string why;
    monitor = MemoryMonitor::make(why);
    if (!monitor) GTEST_SKIP() << why;
    seen = monitor->now();
  }
  std::vector<PageRange> collected() {
    std::vector<PageRange> all;
    if (!monitor->quiet_since(seen)) monitor->collect(seen, [&](const PageRange& gone) { all.push_back(gone); });
    return all;
  }
  /// Something of `range`, and nothing outside `watched`, was reported.
  void expect_gone(const PageRange& range, const PageRange& watched) {
    const std::vector<PageRange> all = collected();
    uintptr_t begin = ~uintptr_t{0};
    uintptr_t end = 0;
    for (const PageRange& gone : all) {
      begin = std::min(begin, gone.begin);
      end = std::max(end, gone.end);
    }
    EXPECT_FALSE(all.empty());
    EXPECT_LE(begin, range.begin);
    EXPECT_GE(end, std::min(range.end, watched.end));
  }

  std::unique_ptr<MemoryMonitor> monitor;
  MemoryMonitor::Seen seen;
};

TEST_F(MemoryMonitorTest, EveryWayToLoseMemoryIsReportedWhenTheCallReturns) {
  std::byte* p = map_pages(8);
  const PageRange all = pages_of(p, 8 * kPageBytes);
  ASSERT_TRUE(monitor->watch(all));
  std::fill(p, p + 8 * kPageBytes, std::byte{7});
  EXPECT_TRUE(collected().empty()) << "touching pages is not losing them";

  ASSERT_EQ(madvise(p, kPageBytes, MADV_DONTNEED), 0);
  expect_gone(pages_of(p, kPageBytes), all);
  ASSERT_EQ(munmap(p + kPageBytes, kPageBytes), 0);
  expect_gone(pages_of(p + kPageBytes, kPageBytes), all);
  ASSERT_EQ(map_pages(1, p + 2 * kPageBytes), p + 2 * kPageBytes);  // over the old one
  expect_gone(pages_of(p + 2 * kPageBytes, kPageBytes), all);
  std::byte* elsewhere = map_pages(2);
  ASSERT_EQ(mremap(p + 3 * kPageBytes, kPageBytes, 2 * kPageBytes, MREMAP_MAYMOVE | MREMAP_FIXED, elsewhere),
            elsewhere);
  expect_gone(pages_of(p + 3 * kPageBytes, kPageBytes), all);
  EXPECT_EQ(*elsewhere, std::byte{7});
  ASSERT_EQ(mremap(p + 4 * kPageBytes, 4 * kPageBytes, kPageBytes, 0), p + 4 * kPageBytes);  // shrinks
  expect_gone(pages_of(p + 5 * kPageBytes, 3 * kPageBytes), all);
  EXPECT_EQ(p[4 * kPageBytes], std::byte{7});
  monitor->unwatch(all);
  for (const size_t left : {0, 2, 4}) munmap(p + left * kPageBytes, kPageBytes);  // others may have the rest by now
  munmap(elsewhere, 2 * kPageBytes);
}

TEST_F(MemoryMonitorTest, FreeAndReallocOfLargeBlocksAreReported) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer's malloc keeps its memory";
#endif
  constexpr size_t kBytes = size_t{128} << 20;  // mapped by itself whatever was freed before: more than 32 MiB twice
  auto* p = static_cast<std::byte*>(std::malloc(kBytes));
  const PageRange before = pages_of(p, kBytes);
  ASSERT_TRUE(monitor->watch(before));
  auto* q = static_cast<std::byte*>(std::realloc(p, kBytes / 2));
  expect_gone(pages_of(q + kBytes / 2 + 2 * kPageBytes, kPageBytes), before);
  std::free(q);
  EXPECT_FALSE(collected().empty());
  monitor->unwatch(before);
}

TEST_F(MemoryMonitorTest, InterestsAreCounted) {
  std::byte* p = map_pages(4);
  const PageRange all = pages_of(p, 4 * kPageBytes);
  const PageRange half = pages_of(p, 2 * kPageBytes);
  ASSERT_TRUE(monitor->watch(all));
  ASSERT_TRUE(monitor->watch(half));
  monitor->unwatch(all);
  munmap(p + 2 * kPageBytes, 2 * kPageBytes);
  EXPECT_TRUE(collected().empty()) << "nobody watched that half any more";
  munmap(p, 2 * kPageBytes);
  EXPECT_FALSE(collected().empty());
  monitor->unwatch(half);
}

TEST_F(MemoryMonitorTest, WhatIsNotMappedCannotBeWatched) {
  std::byte* p = map_pages(2);
  munmap(p, 2 * kPageBytes);
  EXPECT_FALSE(monitor->watch(pages_of(p, 2 * kPageBytes)));
}

TEST_F(MemoryMonitorTest, SystemCallsReachWatchedMemory) {
  std::byte* p = map_pages(4);
  const PageRange all = pages_of(p, 4 * kPageBytes);
  ASSERT_TRUE(monitor->watch(all));  // before its pages exist
  int pipes[2];
  ASSERT_EQ(pipe(pipes), 0);
  ASSERT_EQ(write(pipes[1], "ten bytes", 10), 10);
  EXPECT_EQ(read(pipes[0], p + kPageBytes, 10), 10) << "the kernel's own writes to new pages must not be refused";
  close(pipes[0]);
  close(pipes[1]);
  monitor->unwatch(all);
  munmap(p, 4 * kPageBytes);
}

TEST_F(MemoryMonitorTest, AReaderFarBehindIsToldThatAllHasGone) {
  for (int i = 0; i < 300; ++i) {
    std::byte* p = map_pages(1);
    ASSERT_TRUE(monitor->watch(pages_of(p, kPageBytes)));
    munmap(p, kPageBytes);
    monitor->unwatch(pages_of(p, kPageBytes));
  }
  const std::vector<PageRange> all = collected();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0], kAllMemory);
  EXPECT_TRUE(collected().empty());
}

/// Who may know that memory has gone must find it in the log, whichever thread asks.
TEST_F(MemoryMonitorTest, ManyThreadsNeverMissAnEvent) {
  constexpr int kThreads = 4;
  constexpr int kRounds = 500;
  std::atomic<int> missed{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      MemoryMonitor::Seen mine = monitor->now();
      for (int i = 0; i < kRounds; ++i) {
        std::byte* p = map_pages(2);
        const PageRange range = pages_of(p, 2 * kPageBytes);
        if (!monitor->watch(range)) ++missed;
        p[0] = std::byte{1};
        munmap(p, 2 * kPageBytes);
        bool told = false;
        if (!monitor->quiet_since(mine))
          monitor->collect(mine, [&](const PageRange& gone) { told |= gone.overlaps(range); });
        if (!told) ++missed;
        monitor->unwatch(range);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(missed, 0);
}

TEST(MemoryMonitorEnd, ThreadsThatUnmapAreNotLeftWaiting) {
  std::string why;
  for (int i = 0; i < 20; ++i) {
    auto monitor = MemoryMonitor::make(why);
    if (!monitor) GTEST_SKIP() << why;
    std::byte* p = map_pages(64);
    ASSERT_TRUE(monitor->watch(pages_of(p, 64 * kPageBytes)));
    std::thread unmapper([&] {
      for (size_t page = 0; page < 64; ++page) munmap(p + page * kPageBytes, kPageBytes);
    });
    monitor.reset();
    unmapper.join();
  }
}

}  // namespace
}  // namespace railshmem::ofi
