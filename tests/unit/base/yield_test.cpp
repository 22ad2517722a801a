// SPDX-License-Identifier: BSD-3-Clause
#include "src/base/yield.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstdint>

#include "src/base/cpu.h"

namespace railshmem {
namespace {

/// How often this thread has gone to sleep; a yield does not count.
long sleeps() {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nvcsw;
}

TEST(YieldCpu, SleepsNowAndThenInALongWait) {
  const long before = sleeps();
  const uint64_t start = now_ns();
  for (uint64_t waited = 0; waited < 200'000'000; waited = now_ns() - start) yield_cpu(waited);
  EXPECT_GE(sleeps() - before, 3) << "in 200 ms of yielding";
}

TEST(YieldCpu, DoesNotSleepInShortWaits) {
  const long before = sleeps();
  for (int turn = 0; turn < 1000; ++turn) yield_cpu(3'000'000);
  EXPECT_EQ(sleeps(), before);
}

}  // namespace
}  // namespace railshmem
