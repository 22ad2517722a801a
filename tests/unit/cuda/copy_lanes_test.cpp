// SPDX-License-Identifier: BSD-3-Clause
// Streams of copies: what they give to the driver together, how they tell what has ended, and how they end.
#include "src/cuda/copy_lane.h"

#include <gtest/gtest.h>

#include <cstring>
#include <utility>
#include <vector>

#include "tests/support/copier_rig.h"

namespace railshmem::cuda {
namespace {

/// The first copy goes at once, and the others together.
TEST(CudaCopier, OneCountStandsBehindManySmallCopies) {
  CopierRig rig;
  const std::unique_ptr<Copier> copier = rig.make({rig.bounce});
  Copier::Ticket last = 0;
  for (int i = 0; i < 60; ++i) last = copier->start(rig.heap, rig.bounce.data(), 64);
  EXPECT_EQ(rig.fake.calls("cuStreamBatchMemOp_v2"), 1);
  finish(*copier, last);
  EXPECT_EQ(rig.fake.calls("cuStreamBatchMemOp_v2"), 2);
  EXPECT_EQ(rig.fake.calls("cuEventRecord"), 0);
  EXPECT_EQ(rig.fake.calls("cuEventQuery"), 0);
  EXPECT_EQ(rig.fake.calls("cuPointerGetAttributes"), 0) << "heap and bounce area are known";
}

/// The stream stores a lone word sooner than a copy brings it; data before the signal.
TEST(CudaCopier, ALoneWordOfDataNeedsNoCopy) {
  CopierRig rig;
  const std::unique_ptr<Copier> copier = rig.make({rig.bounce});
  const uint64_t data = 0x1122334455667788;
  std::memcpy(rig.bounce.data() + 3, &data, sizeof data);  // of any alignment
  finish(*copier, copier->start(rig.heap + 8, rig.bounce.data() + 3, 8));
  EXPECT_EQ(std::memcmp(rig.heap + 8, &data, 8), 0);
  EXPECT_EQ(rig.fake.calls("cuStreamBatchMemOp_v2"), 1);
  finish(*copier, copier->start_then_set(rig.heap + 16, rig.bounce.data() + 3, 8, rig.heap + 64, 7));
  EXPECT_EQ(std::memcmp(rig.heap + 16, &data, 8), 0);
  EXPECT_EQ(static_cast<int>(rig.heap[64]), 7);
  EXPECT_EQ(rig.fake.calls("cuStreamBatchMemOp_v2"), 2) << "data and signal in one call";
  EXPECT_EQ(rig.fake.calls("cuMemcpyAsync"), 0);
  for (const auto& [to, nbytes] : {std::pair<size_t, size_t>{36, 8}, {40, 4}, {48, 7}})  // no aligned word of 8 bytes
    finish(*copier, copier->start(rig.heap + to, rig.bounce.data() + 3, nbytes));
  EXPECT_EQ(rig.fake.calls("cuMemcpyAsync"), 3);
}

/// Copies are faster when there are many.
TEST(CudaCopier, WordsOfDataThatFindTheStreamBusyAreCopied) {
  CopierRig rig;
  const std::unique_ptr<Copier> copier = rig.make({rig.bounce});
  std::vector<Copier::Ticket> tickets;
  rig.fake.hold(true);
  for (size_t i = 0; i < 20; ++i) {
    std::memset(rig.bounce.data() + 8 * i, static_cast<int>(i + 1), 8);
    tickets.push_back(copier->start(rig.heap + 8 * i, rig.bounce.data() + 8 * i, 8));
  }
  rig.fake.hold(false);
  for (const Copier::Ticket ticket : tickets) finish(*copier, ticket);
  EXPECT_EQ(std::memcmp(rig.heap, rig.bounce.data(), 160), 0);
  EXPECT_EQ(rig.fake.calls("cuMemcpyAsync"), 1);
  EXPECT_EQ(rig.fake.calls("cuMemcpyBatchAsync_v2"), 1);
}

TEST(CudaCopier, WithoutWordsOneEventDoes) {
  CopierRig rig(0, CopierRig::DriverOf::no_words);
  const std::unique_ptr<Copier> copier = rig.make({rig.bounce});
  Copier::Ticket last = 0;
  for (int i = 0; i < 60; ++i) last = copier->start(rig.heap, rig.bounce.data(), 64);
  EXPECT_EQ(rig.fake.calls("cuEventRecord"), 1);
  finish(*copier, last);
  EXPECT_EQ(rig.fake.calls("cuEventRecord"), 2);
}

TEST(CudaCopier, MoreBatchesThanEventsEndToo) {
  CopierRig rig(100, CopierRig::DriverOf::no_words);
  const std::unique_ptr<Copier> copier = rig.make({rig.bounce});
  std::vector<Copier::Ticket> tickets;
  rig.fake.hold(true);
  for (int i = 0; i < 200; ++i) tickets.push_back(copier->start(rig.heap, rig.bounce.data(), 64 << 10));
  EXPECT_EQ(rig.fake.calls("cuEventRecord"), 32) << "none is used again while somebody may ask for it";
  rig.fake.hold(false);
  finish(*copier, tickets.back());
  for (const Copier::Ticket ticket : tickets) finish(*copier, ticket);
}

/// The stream has one copy and one batch; later copies become one batch, however often somebody asks.
TEST(CudaCopier, WhatComesWhileTheStreamIsBusyBecomesOneBatch) {
  CopierRig rig;
  const std::unique_ptr<Copier> copier = rig.make({rig.bounce});
  Copier::Ticket last = 0;
  rig.fake.hold(true);
  const auto copy_and_ask = [&](int copies) {
    for (int i = 0; i < copies; ++i) last = copier->start(rig.heap, rig.bounce.data(), 64);
    for (const uint64_t began = now_ns(); now_ns() - began < 1'000'000;) EXPECT_FALSE(copier->finished(last));
  };
  copy_and_ask(1);
  for (int i = 0; i < 6; ++i) copy_and_ask(3);
  EXPECT_EQ(rig.fake.calls("cuMemcpyAsync"), 1);
  EXPECT_EQ(rig.fake.calls("cuMemcpyBatchAsync_v2"), 1);
  rig.fake.hold(false);
  finish(*copier, last);
  EXPECT_EQ(rig.fake.calls("cuMemcpyBatchAsync_v2"), 2);
}

/// The first finds the stream idle and goes at once.
TEST(CudaCopier, CopiesThatFindTheStreamBusyGoTogether) {
  CopierRig rig;
  const std::unique_ptr<Copier> copier = rig.make({rig.bounce});
  for (size_t i = 0; i < 5000; ++i) rig.bounce[i] = static_cast<std::byte>(i * 7);
  Copier::Ticket last = 0;
  rig.fake.hold(true);
  for (size_t i = 0; i < 50; ++i) last = copier->start(rig.heap + i * 100, rig.bounce.data() + i * 100, 100);
  EXPECT_EQ(rig.fake.calls("cuMemcpyAsync"), 1);
  EXPECT_EQ(rig.fake.calls("cuMemcpyBatchAsync_v2"), 0) << "more may follow";
  rig.fake.hold(false);
  finish(*copier, last);
  EXPECT_EQ(rig.fake.calls("cuMemcpyBatchAsync_v2"), 1);
  EXPECT_TRUE(std::equal(rig.heap, rig.heap + 5000, rig.bounce.begin()));
}

uint64_t word_at(const std::byte* place) {
  return __atomic_load_n(reinterpret_cast<const uint64_t*>(place), __ATOMIC_ACQUIRE);
}

TEST(CopyLaneDeathTest, ACopyEngineThatStandsStillIsAnErrorAndNotAHang) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";  // the fake has a thread, which may hold its lock
  CopierRig rig;
  const ContextGuard guard(rig.gpu);
  CopyLane lane(rig.gpu, CopyLane::EndBy::count, 50'000'000);
  rig.fake.hold(true);
  lane.start(rig.heap, rig.bounce.data(), 64);
  EXPECT_FALSE(lane.reached(1));
  EXPECT_EXIT(lane.wait(), ::testing::ExitedWithCode(1), "has not ended within 0 s: its copy engines do not answer");
  rig.fake.hold(false);
  lane.wait();
  EXPECT_TRUE(lane.reached(1));
}

TEST(CopyLane, WhatNeverEndsIsLeftBehindByTheDestructor) {
  CopierRig rig;
  const uint64_t began = now_ns();
  {
    const ContextGuard guard(rig.gpu);
    CopyLane lane(rig.gpu, CopyLane::EndBy::count, 50'000'000);
    rig.fake.hold(true);
    lane.start(rig.heap, rig.bounce.data(), 64);
    ::testing::internal::CaptureStderr();
  }
  EXPECT_NE(::testing::internal::GetCapturedStderr().find("left behind"), std::string::npos);
  EXPECT_LT(now_ns() - began, 10'000'000'000u);
  rig.fake.hold(false);
  EXPECT_EQ(rig.fake.leaks(), "1 mapping, 1 reservation, 1 pinned range, 1 stream, 1 retained context");
  const ContextGuard guard(rig.gpu);
  EXPECT_EQ(rig.fake.driver().synchronize_context(), kSuccess);  // the copy uses what ends with this test
}

TEST(CopyLane, ALaneThatCannotBeMadeLeavesNothing) {
  {
    CopierRig rig(0, CopierRig::DriverOf::no_words);
    rig.fake.fail("cuEventCreate", 7, kOutOfMemory);
    EXPECT_ANY_THROW(CopyLane lane(rig.gpu, CopyLane::EndBy::count));
    EXPECT_EQ(rig.fake.leaks(), "1 mapping, 1 reservation, 1 retained context");
  }
  CopierRig rig;
  rig.fake.fail("cuStreamCreateWithPriority", 1, kOutOfMemory);
  EXPECT_ANY_THROW(CopyLane lane(rig.gpu, CopyLane::EndBy::count));
  EXPECT_EQ(rig.fake.leaks(), "1 mapping, 1 reservation, 1 retained context");
}

}  // namespace
}  // namespace railshmem::cuda
