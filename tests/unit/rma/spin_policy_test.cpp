// SPDX-License-Identifier: BSD-3-Clause
#include "src/rma/spin_policy.h"

#include <gtest/gtest.h>

namespace railshmem {
namespace {

TEST(SpinPolicy, GivesTheCpuAwayAfterEachFruitlessStepWherePesOutnumberCpus) {
  EXPECT_EQ(SpinPolicy::for_machine(2, 64, 60, 3600).helps, 0u);
  EXPECT_EQ(SpinPolicy::for_machine(2, 64, 60, 3600).helps_per_yield, 1u);
  EXPECT_TRUE(SpinPolicy::for_machine(2, 64, 60, 3600).share_cpus);
}

TEST(SpinPolicy, KeepsTheCpuForManyStepsWhereEachPeHasOne) {
  EXPECT_GT(SpinPolicy::for_machine(2, 2, 60, 3600).helps, 100u);
  EXPECT_GT(SpinPolicy::for_machine(2, 2, 60, 3600).helps_per_yield, 1u);
}

}  // namespace
}  // namespace railshmem
