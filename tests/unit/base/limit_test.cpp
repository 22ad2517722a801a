// SPDX-License-Identifier: BSD-3-Clause
#include "src/base/limit.h"

#include <gtest/gtest.h>

#include "transports/tuning_of.h"

namespace railshmem {
namespace {

TEST(Limit, ZeroSecondsAreNoLimit) {
  EXPECT_EQ(limit_ns(0), kNoLimitNs);
  EXPECT_EQ(limit_ns(-1), kNoLimitNs);
  EXPECT_EQ(limit_ns(1e300), kNoLimitNs);
  EXPECT_EQ(limit_ns(0.5), 500'000'000u);
}

TEST(Limit, AnEngineWithoutOneNeverGivesAPeerUp) {
  const Env env =
      Env::parse([](const char* name) { return std::string_view(name) == "SHMEM_TIMEOUT" ? "0" : nullptr; });
  EXPECT_EQ(tuning_of(env).unreachable_ns, kNoLimitNs);
}

}  // namespace
}  // namespace railshmem
