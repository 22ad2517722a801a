// SPDX-License-Identifier: BSD-3-Clause
#include "src/base/log.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <thread>

#include "src/base/job_end.h"

namespace railshmem {
namespace {

void slow_end(int, const char*) noexcept {
  usleep(300000);
  log_error("all is written down");
}

/// Two threads that wait for a dead peer find it at once.
TEST(Die, TheSecondThreadLetsTheFirstFinish) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto two_errors = [] {
    set_end_hooks({.notify = slow_end});
    std::thread second([] {
      usleep(100000);
      die("the second error");
    });
    die("the first error");
  };
  EXPECT_EXIT(two_errors(), testing::ExitedWithCode(kAbortStatus), "all is written down");
}

TEST(Die, AnErrorInTheEndEndsAtOnce) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto error_in_the_hook = [] {
    set_end_hooks({.notify = [](int, const char*) noexcept { die("the hook failed"); }});
    alarm(10);
    die("the first error");
  };
  EXPECT_EXIT(error_in_the_hook(), testing::ExitedWithCode(kAbortStatus), "the hook failed");
}

}  // namespace
}  // namespace railshmem
