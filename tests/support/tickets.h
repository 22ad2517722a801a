// SPDX-License-Identifier: BSD-3-Clause
// What a counter answered to many fetch_adds of one.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace railshmem {

/// Every number from 0 on once, in any order.
inline void expect_each_once(std::vector<uint64_t> tickets) {
  std::sort(tickets.begin(), tickets.end());
  for (size_t i = 0; i < tickets.size(); ++i) {
    EXPECT_EQ(tickets[i], i) << "a fetch_add was lost or done twice";
    if (tickets[i] != i) break;
  }
}

}  // namespace railshmem
