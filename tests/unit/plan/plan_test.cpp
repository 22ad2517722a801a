// SPDX-License-Identifier: BSD-3-Clause
// Plans of collectives inside a node, over sizes and numbers of members.
#include "src/plan/plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "src/cuda/kernels/coll_call.h"

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
          if (step.kind == StepKind::copies && step.blocks == 0) continue;
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

Question of_any_sizes(size_t nbytes, int members) {
  Question asked = question(Collective::alltoall, nbytes, members);
  asked.sizes_differ = true;
  return asked;
}

/// What a member says its blocks have means nothing to the others: they would launch other blocks.
TEST(Plan, BlocksOfSizesThatNobodyKnowsHaveOnePlan) {
  const Choice choice;
  const Plan plan = make_plan(of_any_sizes(0, 8), choice);
  EXPECT_EQ(plan.algorithm, Algorithm::packets);
  EXPECT_EQ(kinds_of(plan), std::vector{StepKind::exchange});
  EXPECT_EQ(plan.steps[0].blocks, 128u);
  const Plan other = make_plan(of_any_sizes(size_t{1} << 30, 8), choice);
  EXPECT_EQ(other.algorithm, plan.algorithm);
  EXPECT_EQ(other.steps[0].blocks, plan.steps[0].blocks);
  EXPECT_EQ(other.steps[0].threads, plan.steps[0].threads);
}

/// Members whose buffers have different forms run kernels of one unit and of several, which then exchange equal
/// packets.
TEST(Plan, OneUnitAThreadIsForASingleExchange) {
  const Choice choice{"fcollect=packets,reduce=parts,reducescatter=packets"};
  for (int members = 1; members <= 64; ++members) {
    EXPECT_EQ(packet_blocks(members), cuda::ScratchLayout(members).packet_blocks());
    for (const uint32_t max_blocks : {0u, 1u, 7u, 40u}) {
      for (size_t nbytes = 1; nbytes <= size_t{4} << 20; nbytes = nbytes * 5 / 4 + 1) {
        for (const Collective collective : {Collective::fcollect, Collective::reduce, Collective::reducescatter}) {
          Question asked = question(collective, nbytes, members);
          asked.max_blocks = max_blocks;
          const Step step = make_plan(asked, choice).steps[0];
          const size_t vector = collective == Collective::reduce ? part_nbytes(nbytes, members) : nbytes;
          const size_t at_once = std::min<size_t>(step.blocks, packet_blocks(members)) * step.threads * 16;
          if (step.units == 1) {
            ASSERT_LE(vector, at_once) << members << " members, " << nbytes << " bytes";
          } else {
            ASSERT_EQ(step.units, cuda::kUnitsOfThread);
          }
        }
      }
    }
  }
}

/// Two packets carry one unit, four carry three: a thread handles one as long as there are blocks for that.
TEST(Plan, LongExchangesHaveSeveralUnitsAThread) {
  const Choice choice{"fcollect=packets"};
  const auto step = [&](size_t nbytes, uint32_t max_blocks) {
    Question asked = question(Collective::fcollect, nbytes, 2);
    asked.max_blocks = max_blocks;
    return make_plan(asked, choice).steps[0];
  };
  EXPECT_EQ(step(8, 0).units, 1u);
  EXPECT_EQ(step(512 << 10, 0).units, 1u);
  EXPECT_EQ(step(512 << 10, 0).blocks, 64u);
  EXPECT_EQ(step((512 << 10) + 1, 0).units, 3u);
  EXPECT_EQ(step((512 << 10) + 1, 0).blocks, 22u) << "one exchange for all";
  EXPECT_EQ(step(size_t{1} << 30, 0).blocks, 128u);
  EXPECT_EQ(step(64 << 10, 8).units, 3u) << "8 blocks of 128 threads have too few threads";
}

TEST(Plan, TheKernelBehindLongCopiesHasBlocksToSendThem) {
  const Choice choice{"fcollect=engines"};
  EXPECT_EQ(make_plan(question(Collective::fcollect, 1 << 20, 2), choice).steps[2].blocks, 32u);
  EXPECT_EQ(make_plan(question(Collective::fcollect, 64 << 20, 2), choice).steps[2].blocks, 128u);
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

/// As many blocks as keep up with the link, which brings a block from each other member.
TEST(Plan, TheOwnBlockGoesByFewBlocksBesideTheCopies) {
  const Choice choice{"fcollect=engines,alltoall=engines,broadcast=engines"};
  const auto copies_of = [&](Collective collective, size_t nbytes, int members, uint32_t max_blocks) {
    Question asked = question(collective, nbytes, members);
    asked.max_blocks = max_blocks;
    const Step step = make_plan(asked, choice).steps[1];
    EXPECT_EQ(step.kind, StepKind::copies);
    return step.blocks;
  };
  for (const Collective collective : {Collective::fcollect, Collective::alltoall}) {
    EXPECT_EQ(copies_of(collective, size_t{1} << 29, 2, 0), 16u);
    EXPECT_EQ(copies_of(collective, size_t{1} << 29, 4, 0), 6u);
    EXPECT_EQ(copies_of(collective, size_t{1} << 29, 64, 0), 1u);
    EXPECT_EQ(copies_of(collective, 100000, 2, 0), 2u);
    EXPECT_EQ(copies_of(collective, size_t{1} << 29, 2, 16), 16u);
    EXPECT_EQ(copies_of(collective, size_t{1} << 29, 2, 15), 0u) << "an engine is faster than so few blocks";
    EXPECT_EQ(copies_of(collective, size_t{1} << 29, 4, 6), 6u);
    EXPECT_EQ(copies_of(collective, size_t{1} << 29, 1, 0), 0u) << "nothing is fetched";
  }
  EXPECT_EQ(copies_of(Collective::broadcast, size_t{1} << 29, 2, 0), 0u);
}

TEST(Plan, AProgramThatSparesMultiprocessorsGetsEngines) {
  const auto spared = [](Collective collective, size_t nbytes, const Choice& choice) {
    Question asked = question(collective, nbytes, 4);
    asked.spares_sms = true;
    return make_plan(asked, choice);
  };
  for (const Collective collective : {Collective::broadcast, Collective::fcollect, Collective::alltoall}) {
    EXPECT_EQ(spared(collective, 4096, Choice()).algorithm, Algorithm::packets);
    for (const size_t nbytes : {size_t{1} << 20, size_t{1} << 28}) {
      const Plan plan = spared(collective, nbytes, Choice());
      EXPECT_EQ(kinds_of(plan), (std::vector{StepKind::begin, StepKind::copies, StepKind::end}));
      EXPECT_EQ(plan.steps[1].blocks, 0u) << "the own block goes by an engine";
      EXPECT_EQ(plan.steps[2].blocks, 16u);
    }
  }
  EXPECT_EQ(spared(Collective::fcollect, 1 << 20, Choice("fcollect=direct")).algorithm, Algorithm::direct);
}

/// Blocks that wait for a late member would take the multiprocessors from others.
TEST(Plan, AProgramThatSparesMultiprocessorsHasOneBlockWaitForMembers) {
  for (const Collective collective : {Collective::reduce, Collective::reducescatter}) {
    for (const char* const choice : {"", "reduce=packets", "reduce=parts", "reduce=staged,reducescatter=staged"}) {
      for (const size_t nbytes : {size_t{1} << 19, size_t{1} << 20, size_t{1} << 28}) {
        Question asked = question(collective, nbytes, 4);
        std::vector<StepKind> kinds = kinds_of(make_plan(asked, Choice(choice)));
        asked.spares_sms = true;
        const Plan plan = make_plan(asked, Choice(choice));
        if (nbytes >= size_t{1} << 20) {
          kinds.insert(kinds.begin(), StepKind::begin);
          EXPECT_EQ(plan.steps[0].blocks, 1u);
        }
        EXPECT_EQ(kinds_of(plan), kinds);
      }
    }
  }
}

/// A slot takes 64 KiB from all others together.
TEST(Plan, ChunksGoByAsManyBlocksAsHaveSome) {
  const Choice choice{"fcollect=staged,reduce=staged"};
  const auto blocks_of = [&](Collective collective, size_t nbytes, int members) {
    const Plan plan = make_plan(question(collective, nbytes, members), choice);
    EXPECT_EQ(kinds_of(plan), std::vector{StepKind::staged});
    return plan.steps[0].blocks;
  };
  EXPECT_EQ(blocks_of(Collective::fcollect, 65536, 2), 1u);
  EXPECT_EQ(blocks_of(Collective::fcollect, 65537, 2), 2u);
  EXPECT_EQ(blocks_of(Collective::fcollect, 65536, 8), 7u);
  EXPECT_EQ(blocks_of(Collective::fcollect, 65536, 1), 1u);
  EXPECT_EQ(blocks_of(Collective::reduce, 4 * 65536, 2), 2u) << "of parts";
  EXPECT_EQ(blocks_of(Collective::fcollect, size_t{1} << 30, 2), 128u);
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

TEST(Plan, ItsLineSaysWhatRunsBesideCopies) {
  Question asked = question(Collective::fcollect, size_t{1} << 29, 2);
  EXPECT_EQ(explain(asked, make_plan(asked, Choice())),
            "fcollect of 536870912 bytes among 2 members: engines; meeting (1 block of 128 threads); copies by engines "
            "beside a kernel for the own block (16 blocks of 512 threads); meeting (128 blocks of 512 threads); staged "
            "where blocks do not lie alike in all heaps");
  asked.max_blocks = 8;
  EXPECT_EQ(
      explain(asked, make_plan(asked, Choice())),
      "fcollect of 536870912 bytes among 2 members: engines; meeting (1 block of 128 threads); copies by engines; "
      "meeting (8 blocks of 512 threads); staged where blocks do not lie alike in all heaps");
}

TEST(Plan, ItsLineSaysWhatHappensWhereABufferIsNotReached) {
  const auto line_of = [](const Question& asked) { return explain(asked, make_plan(asked, Choice())); };
  EXPECT_EQ(line_of(question(Collective::reducescatter, 16 << 20, 2)),
            "reducescatter of 16777216 bytes among 2 members: direct; from buffer to buffer (128 blocks of 512 "
            "threads); packets, or staged, where a buffer is not reached");
  Question sum = question(Collective::reducescatter, 32 << 20, 2);
  EXPECT_EQ(make_plan(sum, Choice()).algorithm, Algorithm::direct);
  EXPECT_EQ(make_plan(sum, Choice("reducescatter=staged")).algorithm, Algorithm::staged);
  sum.own_kernel = true;
  EXPECT_EQ(line_of(sum),
            "reducescatter of 33554432 bytes among 2 members: staged; chunks through scratch memory (128 blocks of 512 "
            "threads)");
  EXPECT_EQ(
      line_of(of_any_sizes(0, 2)),
      "alltoall of blocks of any sizes among 2 members: packets; exchange of packets (128 blocks of 512 threads)");
}

}  // namespace
}  // namespace railshmem
