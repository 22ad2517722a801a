// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "transports/ofi/pairing.h"

namespace railshmem::ofi {
namespace {

using Networks = std::vector<std::string>;

Networks one_network(size_t rails) {
  return Networks(rails, "10.0.0.0/24");
}

TEST(Pairing, EqualNumbersOfRailsFormPairsInBothDirections) {
  for (size_t rails : {1, 2, 3, 4, 5, 8, 16})
    for (int me : {0, 1, 5, 63, 4095, 99999})
      for (int pe : {0, 2, 7, 64, 4094}) {
        const auto there = pair_rails(one_network(rails), one_network(rails), me, pe);
        const auto back = pair_rails(one_network(rails), one_network(rails), pe, me);
        for (size_t rail = 0; rail < rails; ++rail)
          EXPECT_EQ(back[there[rail]], rail) << rails << ' ' << me << ' ' << pe;
      }
}

TEST(Pairing, WithUnequalNumbersTheFewerRailsGetTheirAnswersBack) {
  for (size_t few = 1; few <= 6; ++few)
    for (size_t many = few + 1; many <= 8; ++many)
      for (int me = 0; me < 40; ++me)
        for (int pe : {0, 1, 17, 500}) {
          const auto there = pair_rails(one_network(few), one_network(many), me, pe);
          const auto back = pair_rails(one_network(many), one_network(few), pe, me);
          for (size_t rail = 0; rail < few; ++rail) EXPECT_EQ(back[there[rail]], rail);
          for (const size_t rail : back) EXPECT_LT(rail, few);  // each has a partner
        }
}

/// Senders that have chosen each remote rail, with all their rails or with the first alone.
struct Senders {
  int first;
  int count;
  int stride;
};

std::map<size_t, int> load(size_t mine, size_t theirs, Senders senders, bool first_alone) {
  std::map<size_t, int> chosen;
  for (size_t rail = 0; rail < theirs; ++rail) chosen[rail] = 0;
  for (int i = 0; i < senders.count; ++i) {
    const auto partners = pair_rails(one_network(mine), one_network(theirs), senders.first + i * senders.stride, 0);
    for (size_t rail = 0; rail < (first_alone ? 1 : mine); ++rail) ++chosen[partners[rail]];
  }
  return chosen;
}

/// Largest deviation from the mean, as a share of it.
double unevenness(const std::map<size_t, int>& chosen) {
  double sum = 0;
  for (const auto& [rail, count] : chosen) sum += count;
  const double mean = sum / static_cast<double>(chosen.size());
  double worst = 0;
  for (const auto& [rail, count] : chosen) worst = std::max(worst, std::abs(count - mean) / mean);
  return worst;
}

TEST(Pairing, FourSendersLoadTheRailsOfAReceiverAlike) {
  for (size_t mine : {1, 2, 4})
    for (size_t theirs : {1, 2, 4})
      for (int first : {4, 8, 64}) {  // the PEs of another node
        EXPECT_EQ(unevenness(load(mine, theirs, {first, 4, 1}, false)), 0) << mine << ' ' << theirs << ' ' << first;
        if (mine <= theirs) {
          EXPECT_EQ(unevenness(load(mine, theirs, {first, 4, 1}, true)), 0) << mine << ' ' << theirs << ' ' << first;
        }
      }
}

TEST(Pairing, AHundredSendersLoadTheRailsOfAReceiverAlikeInAnyStride) {
  for (int stride : {1, 2, 3, 4, 6, 8, 12, 16, 64})
    for (int first : {1, 4, 100})
      for (size_t mine : {1, 2, 3, 4, 8})
        for (size_t theirs : {1, 2, 3, 4, 8}) {
          // 100 senders on 8 rails are 12.5 each: 14 are 0.12 too many, 17 are 0.36.
          const double allowed = stride == 1 ? 0.17 : stride < 64 ? 0.25 : 0.4;
          for (bool first_alone : {false, true})
            EXPECT_LE(unevenness(load(mine, theirs, {first, 100, stride}, first_alone)), allowed)
                << stride << ' ' << first << ' ' << mine << ' ' << theirs;
        }
}

TEST(Pairing, RailsMeetInTheirNetworkOnly) {
  const Networks mine = {"10.0.1.0/24", "10.0.2.0/24", "10.0.1.0/24"};
  const Networks theirs = {"10.0.2.0/24", "10.0.1.0/24", "10.0.3.0/24", "10.0.1.0/24"};
  for (int me = 0; me < 20; ++me)
    for (int pe = 0; pe < 20; ++pe) {
      const auto there = pair_rails(mine, theirs, me, pe);
      EXPECT_EQ(there[1], 0u);
      EXPECT_EQ(std::min(there[0], there[2]), 1u);
      EXPECT_EQ(std::max(there[0], there[2]), 3u);
      const auto back = pair_rails(theirs, mine, pe, me);
      EXPECT_EQ(back[2], kNoRail);  // nobody on this side is in its network
      for (size_t rail = 0; rail < mine.size(); ++rail) EXPECT_EQ(back[there[rail]], rail);
    }
}

TEST(Pairing, WithoutACommonNetworkSomethingMustRoute) {
  const Networks mine = {"10.0.1.0/31", "10.0.1.2/31"};
  const Networks theirs = {"10.0.7.0/31", "10.0.7.2/31"};
  const auto there = pair_rails(mine, theirs, 3, 8);
  EXPECT_EQ(there[0] + there[1], 1u);
  const auto back = pair_rails(theirs, mine, 8, 3);
  for (size_t rail = 0; rail < 2; ++rail) EXPECT_EQ(back[there[rail]], rail);
}

TEST(Pairing, AFabricWithoutANameIsOneNetwork) {
  const Networks unnamed(2);
  const auto there = pair_rails(unnamed, unnamed, 0, 1);
  EXPECT_EQ(there[0] + there[1], 1u);
}

}  // namespace
}  // namespace railshmem::ofi
