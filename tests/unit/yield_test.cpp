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
  for (const uint64_t start = now_ns(); now_ns() - start < 200'000'000;) yield_cpu();
  EXPECT_GE(sleeps() - before, 3) << "in 200 ms of yielding";
}

TEST(YieldCpu, DoesNotSleepInShortWaits) {
  int short_waits = 0;
  for (int wait = 0; wait < 50; ++wait) {
    for (const uint64_t start = now_ns(); now_ns() - start < 1'000'000;) cpu_pause();  // the wait before is over
    const long before = sleeps();
    const uint64_t start = now_ns();
    for (int turn = 0; turn < 10; ++turn) yield_cpu();
    if (now_ns() - start < 500'000) {  // else others had the CPU meanwhile
      ++short_waits;
      EXPECT_EQ(sleeps(), before);
    }
  }
  if (short_waits == 0) GTEST_SKIP() << "other threads took this CPU at each of 50 attempts";
}

}  // namespace
}  // namespace railshmem
