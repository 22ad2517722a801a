// SPDX-License-Identifier: BSD-3-Clause
// The choice of algorithms: by size and members, and as SHMEM_COLLECTIVES says.
#include "src/plan/choice.h"

#include <gtest/gtest.h>

#include "src/base/error.h"

namespace railshmem {
namespace {

constexpr size_t kHuge = size_t{1} << 40;

std::string message_of(const char* overrides) {
  try {
    const Choice choice{overrides};
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

TEST(Choice, SizeDecides) {
  const Choice choice;
  EXPECT_EQ(choice.pick(Collective::broadcast, Reach::node, 8, 2), Algorithm::push);
  EXPECT_EQ(choice.pick(Collective::broadcast, Reach::node, kHuge, 2), Algorithm::pull);
  EXPECT_EQ(choice.pick(Collective::fcollect, Reach::node, 56, 64), Algorithm::line);
  EXPECT_EQ(choice.pick(Collective::fcollect, Reach::node, 57, 64), Algorithm::push);
}

TEST(Choice, MembersDecide) {
  const Choice choice;
  EXPECT_EQ(choice.pick(Collective::broadcast, Reach::network, 8, 8), Algorithm::direct);
  EXPECT_EQ(choice.pick(Collective::broadcast, Reach::network, 8, 9), Algorithm::tree);
  EXPECT_EQ(choice.pick(Collective::broadcast, Reach::network, kHuge, 5), Algorithm::tree);
  EXPECT_EQ(choice.pick(Collective::broadcast, Reach::network, kHuge, 6), Algorithm::scatter);
}

TEST(Choice, OverridesHoldForAllSizesAndLeaveTheRestAlone) {
  const Choice choice{"broadcast=pull,fcollect=push,broadcast=tree"};
  for (const size_t nbytes : {size_t{0}, size_t{8}, kHuge}) {
    EXPECT_EQ(choice.pick(Collective::broadcast, Reach::node, nbytes, 2), Algorithm::pull);
    EXPECT_EQ(choice.pick(Collective::broadcast, Reach::network, nbytes, 2), Algorithm::tree);
    EXPECT_EQ(choice.pick(Collective::fcollect, Reach::node, nbytes, 100), Algorithm::push);
  }
  EXPECT_EQ(choice.pick(Collective::fcollect, Reach::network, 8, 2), Algorithm::rails);
  EXPECT_EQ(choice.pick(Collective::alltoall, Reach::node, 8, 2), Algorithm::line);
}

TEST(Choice, WhatDoesNotExistIsAnErrorOfOneLineThatListsWhatDoes) {
  const std::string known = message_of("broadcast=pul");
  EXPECT_TRUE(known.starts_with(
      "SHMEM_COLLECTIVES has 'broadcast=pul', but broadcast has no algorithm 'pul'; accepted: push, pull, direct, "))
      << known;
  EXPECT_NE(message_of("cast=pull")
                .find("'cast', which is no collective; accepted: collective=algorithm, "
                      "comma-separated, for broadcast, "),
            std::string::npos);
  for (const char* wrong : {"broadcast=pul", "cast=pull", "broadcast", "=", "broadcast=pull,", "broadcast=pull,,",
                            "alltoall=rails", "broadcast=pull;fcollect=push"}) {
    const std::string message = message_of(wrong);
    EXPECT_TRUE(message.starts_with("SHMEM_COLLECTIVES has '")) << wrong;
    EXPECT_NE(message.find("; accepted: "), std::string::npos) << wrong;
    EXPECT_EQ(message.find('\n'), std::string::npos) << wrong;
    EXPECT_LT(message.size(), 240u) << wrong;
  }
  EXPECT_EQ(message_of(""), "");
}

}  // namespace
}  // namespace railshmem
