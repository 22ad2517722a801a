// SPDX-License-Identifier: BSD-3-Clause
#include "perftest/harness/stats.h"

#include <gtest/gtest.h>

#include <numeric>

#include "perftest/harness/timing.h"

namespace railshmem::perf {
namespace {

TEST(PerftestStats, MedianOfOddIsAMeasuredValueAndOfEvenTheMiddle) {
  EXPECT_DOUBLE_EQ(median({5, 1, 3}), 3);
  EXPECT_DOUBLE_EQ(median({4, 1, 3, 2}), 2.5);
  EXPECT_DOUBLE_EQ(median({7}), 7);
  EXPECT_DOUBLE_EQ(median({}), 0);
}

TEST(PerftestStats, PercentileIsTheNearestRank) {
  std::vector<double> hundred(100);
  std::iota(hundred.rbegin(), hundred.rend(), 1.0);
  EXPECT_DOUBLE_EQ(percentile(hundred, 0.50), 50);
  EXPECT_DOUBLE_EQ(percentile(hundred, 0.99), 99);
  EXPECT_DOUBLE_EQ(percentile(hundred, 1.0), 100);
  EXPECT_DOUBLE_EQ(percentile(hundred, 0.0), 1);
  EXPECT_DOUBLE_EQ(percentile({3, 9}, 0.99), 9);
  EXPECT_DOUBLE_EQ(percentile({}, 0.5), 0);
}

TEST(PerftestStats, MidmeanForgetsTheSchedulersOutliers) {
  EXPECT_DOUBLE_EQ(midmean({1, 2, 3, 1000}), 2.5);
  EXPECT_DOUBLE_EQ(midmean({4}), 4);
  EXPECT_DOUBLE_EQ(midmean({1, 3}), 2);
  EXPECT_DOUBLE_EQ(midmean({}), 0);
}

TEST(PerftestStats, DistributionTakesTheMedianRepetition) {
  const Distribution d = distribution({{1, 2, 3, 4}, {2, 9, 3}, 4});
  EXPECT_DOUBLE_EQ(d.value, 3);
  EXPECT_DOUBLE_EQ(d.p50, 2);
  EXPECT_DOUBLE_EQ(d.p99, 4);
  EXPECT_EQ(d.iters, 4);
}

TEST(PerftestTiming, ShortOperationsAreTimedInGroups) {
  const Options options;
  const Plan store = plan_for(0.3e-9, options);
  EXPECT_GE(store.group, 64);
  EXPECT_GE(static_cast<double>(store.group) * 0.3e-9, 1e-6);
  EXPECT_EQ(plan_for(100e-9, options).group, 64);
  EXPECT_EQ(plan_for(2e-6, options).group, 1);
  EXPECT_EQ(store.iters % store.group, 0);
}

TEST(PerftestTiming, TheTimeLimitWinsOverIters) {
  Options options;
  options.seconds = 1.1;
  options.repetitions = 11;
  options.iters = 1000;
  EXPECT_EQ(plan_for(1e-3, options).iters, 100);
  EXPECT_EQ(plan_for(10.0, options).iters, 1);
  EXPECT_EQ(plan_for(1e-6, options).iters, 1000);
}

TEST(PerftestTiming, ARowOfSlowOperationsHasFewerRepetitions) {
  Options options;
  options.seconds = 1;
  options.repetitions = 11;
  EXPECT_EQ(repetitions_for(3.0, options), 1);
  EXPECT_EQ(repetitions_for(0.3, options), 3);
  EXPECT_EQ(repetitions_for(0.01, options), 11);
}

TEST(PerftestTiming, AKnownPauseIsMeasuredAsSuch) {
  Options options;
  options.seconds = 0.05;
  options.repetitions = 3;
  const double wanted = 50e-6;
  const auto pause = [&] {
    const uint64_t start = ticks();
    while (static_cast<double>(ticks() - start) * seconds_per_tick() < wanted) {
    }
  };
  const Distribution d = measure_alone(options, pause);
  // Never less than what was spent; more where other tests share the CPU, but a wrong unit or clock is off by far more.
  EXPECT_GE(d.p50, wanted * 0.99);
  EXPECT_LT(d.p50, wanted * 3);
  EXPECT_GE(d.p99, d.p50);
}

}  // namespace
}  // namespace railshmem::perf
