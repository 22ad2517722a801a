// SPDX-License-Identifier: BSD-3-Clause
#include "src/stream/executor/call_list.h"

#include <gtest/gtest.h>

#include <string>

namespace railshmem {
namespace {

using Calls = CallList<std::string>;

TEST(CallList, NumbersOfCallsThatRanAreGivenAgain) {
  Calls calls;
  const uint32_t first = calls.add("one", Lifetime::once);
  const uint32_t kept = calls.add("two", Lifetime::replayed);
  EXPECT_NE(first, 0u);
  EXPECT_NE(first, kept);
  EXPECT_EQ(calls.take(first), "one");
  EXPECT_EQ(calls.add("three", Lifetime::once), first);
  EXPECT_EQ(calls.take(kept), "two");
  EXPECT_NE(calls.add("four", Lifetime::once), kept);
  EXPECT_EQ(calls.take(kept), "two");
}

TEST(CallList, ANumberIsGivenAgainOnlyWhenItsCallIsOver) {
  Calls calls;
  const uint32_t number = calls.add("one", Lifetime::once);
  EXPECT_EQ(calls.find(number), "one");
  EXPECT_NE(calls.add("two", Lifetime::once), number);
  calls.over(number);
  EXPECT_EQ(calls.add("three", Lifetime::once), number);
  const uint32_t replayed = calls.add("four", Lifetime::replayed);
  calls.over(replayed);
  EXPECT_EQ(calls.find(replayed), "four");
}

TEST(CallList, KnowsWhetherACallMayComeAgain) {
  Calls calls;
  calls.take(calls.add("one", Lifetime::once));
  EXPECT_FALSE(calls.has_replayed());
  EXPECT_TRUE(calls.empty());
  calls.add("one", Lifetime::replayed);
  EXPECT_TRUE(calls.has_replayed());
  EXPECT_FALSE(calls.empty());
}

TEST(CallList, ACallGoesWithItsGraph) {
  Calls calls;
  const uint32_t number = calls.add("one", Lifetime::replayed);
  calls.take(number);
  calls.forget(number);
  EXPECT_FALSE(calls.has_replayed());
  EXPECT_EQ(calls.add("two", Lifetime::once), number);
}

TEST(CallList, ACallBeforeThatWasNotTakenIsSeen) {
  Calls calls;
  const uint32_t first = calls.add("one", Lifetime::once), second = calls.add("two", Lifetime::once);
  bool in_turn = true;
  calls.take(calls.add("three", Lifetime::replayed), &in_turn);
  EXPECT_TRUE(in_turn);
  calls.take(second, &in_turn);
  EXPECT_FALSE(in_turn);
  calls.take(first, &in_turn);
  EXPECT_FALSE(in_turn);
}

TEST(CallList, KeepsNoMoreThanItMay) {
  Calls calls(2);
  const uint32_t first = calls.add("one", Lifetime::once);
  EXPECT_NE(calls.add("two", Lifetime::replayed), 0u);
  EXPECT_EQ(calls.add("three", Lifetime::once), 0u);
  calls.over(first);
  EXPECT_EQ(calls.add("four", Lifetime::once), first);
  EXPECT_EQ(calls.highest(), 2u);
}

TEST(CallList, ANumberOfNoCallEndsTheJob) {
  Calls calls;
  EXPECT_EXIT(calls.take(5), testing::ExitedWithCode(1), "a stream asks for call 5, which the library does not keep");
}

}  // namespace
}  // namespace railshmem
