// SPDX-License-Identifier: BSD-3-Clause
#include "src/proxy/sleeper.h"

#include <gtest/gtest.h>
#include <sys/eventfd.h>

#include <vector>

#include "src/proxy/rails/path_table.h"

namespace railshmem::test {
namespace {

TEST(Sleeper, EveryRailEndsASleep) {
  Sleeper sleeper;
  std::vector<UniqueFd> rails;
  std::vector<int> fds;
  for (size_t r = 0; r < kMostRails; ++r) {
    rails.emplace_back(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
    fds.push_back(rails.back().get());
  }
  EXPECT_FALSE(sleeper.sleep(fds, 1'000'000)) << "nothing has come";
  for (size_t r = 0; r < kMostRails; ++r) {
    ASSERT_EQ(eventfd_write(fds[r], 1), 0);
    EXPECT_TRUE(sleeper.sleep(fds, 100'000'000)) << "rail " << r;
    eventfd_t value = 0;
    ASSERT_EQ(eventfd_read(fds[r], &value), 0);
  }
  sleeper.wake();
  EXPECT_FALSE(sleeper.sleep(fds, 60'000'000'000)) << "woken, but by no rail";
}

}  // namespace
}  // namespace railshmem::test
