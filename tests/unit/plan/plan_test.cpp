// SPDX-License-Identifier: BSD-3-Clause
// Plans of collectives inside a node, over sizes and numbers of members.
#include "src/plan/plan.h"

#include <gtest/gtest.h>

#include <vector>

namespace railshmem {
namespace {

constexpr Collective kPlanned[] = {Collective::broadcast, Collective::fcollect, Collective::alltoall,
                                   Collective::reduce, Collective::reducescatter};

std::vector<StepKind> kinds_of(const Plan& plan) {
  std::vector<StepKind> kinds;
  for (const Step& step : plan) kinds.push_back(step.kind);
  return kinds;
}

Question question(Collective collective, size_t nbytes, int members) {
  return {collective, nbytes, 4, members};
}

TEST(Plan, EverySizeAndNumberOfMembersHasOne) {
  const Choice choice;
  for (const Collective collective : kPlanned) {
    for (int members = 1; members <= 64; ++members) {
      for (size_t nbytes = 1; nbytes <= size_t{1} << 34; nbytes = nbytes * 3 + 1) {
        const Plan plan = make_plan(question(collective, nbytes, members), choice);
        ASSERT_GT(plan.nsteps, 0u);
        for (const Step& step : plan) {
          if (step.kind == StepKind::copies) continue;
          ASSERT_GE(step.blocks, 1u);
          ASSERT_LE(step.blocks, 128u);
          ASSERT_TRUE(step.threads >= 32 && step.threads <= 512 && step.threads % 32 == 0) << step.threads;
        }
      }
    }
  }
}

TEST(Plan, ShortVectorsArePackets) {
  const Choice choice;
  for (const Collective collective : kPlanned)
    EXPECT_EQ(kinds_of(make_plan(question(collective, 4096, 8), choice)), std::vector{StepKind::exchange});
}

TEST(Plan, LongMovesAreCopiesBetweenTwoMeetings) {
  const Choice choice;
  for (const Collective collective : {Collective::broadcast, Collective::fcollect, Collective::alltoall})
    EXPECT_EQ(kinds_of(make_plan(question(collective, size_t{1} << 30, 8), choice)),
              (std::vector{StepKind::begin, StepKind::copies, StepKind::end}));
}

TEST(Plan, LongReductionsGoFromBufferToBuffer) {
  const Choice choice;
  for (const Collective collective : {Collective::reduce, Collective::reducescatter})
    EXPECT_EQ(kinds_of(make_plan(question(collective, size_t{1} << 30, 8), choice)), std::vector{StepKind::direct});
}

/// With two members a reduction in one step moves as many bytes as one by parts, and has one trip less.
TEST(Plan, ManyMembersReduceByPartsSooner) {
  const Choice choice;
  EXPECT_EQ(make_plan(question(Collective::reduce, 512 << 10, 2), choice).algorithm, Algorithm::packets);
  EXPECT_EQ(make_plan(question(Collective::reduce, 512 << 10, 8), choice).algorithm, Algorithm::parts);
}

TEST(Plan, OnlyPacketsMoveBlocksOfDifferentSizes) {
  Question asked = question(Collective::alltoall, size_t{1} << 30, 8);
  asked.sizes_differ = true;
  EXPECT_EQ(make_plan(asked, Choice()).algorithm, Algorithm::packets);
}

TEST(Plan, TheProgramLimitsBlocks) {
  for (const Collective collective : kPlanned) {
    for (const size_t nbytes : {size_t{64} << 10, size_t{1} << 20, size_t{1} << 28}) {
      Question asked = question(collective, nbytes, 4);
      asked.max_blocks = 3;
      for (const Step& step : make_plan(asked, Choice())) EXPECT_LE(step.blocks, 3u);
    }
  }
}

TEST(Plan, VariablesForceAWay) {
  const Choice choice{"fcollect=engines,reduce=parts"};
  EXPECT_EQ(make_plan(question(Collective::fcollect, 8, 2), choice).algorithm, Algorithm::engines);
  EXPECT_EQ(make_plan(question(Collective::reduce, size_t{1} << 30, 2), choice).algorithm, Algorithm::parts);
}

TEST(Plan, PartsCoverTheVectorInWholeUnits) {
  for (int members = 1; members <= 64; ++members) {
    for (const size_t nbytes : {size_t{1}, size_t{16}, size_t{1000}, size_t{123457}}) {
      const size_t part = part_nbytes(nbytes, members);
      EXPECT_EQ(part % 16, 0u);
      EXPECT_GE(part * static_cast<size_t>(members), nbytes);
    }
  }
}

TEST(Plan, ItsLineSaysWhichWayAndHowManyBlocks) {
  const Question asked = question(Collective::fcollect, 65536, 2);
  EXPECT_EQ(explain(asked, make_plan(asked, Choice())),
            "fcollect of 65536 bytes among 2 members: packets; exchange of packets (32 blocks of 128 threads)");
}

}  // namespace
}  // namespace railshmem
