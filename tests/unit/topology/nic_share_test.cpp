// SPDX-License-Identifier: BSD-3-Clause
#include "src/topology/nic_share.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "tests/support/nic_machines.h"

namespace railshmem {
namespace {

using namespace testing_support;
using Numbers = std::vector<size_t>;

/// Places of the NICs with a bus address and the full speed, in the order of the bus.
std::vector<Place> fast_nics(const MachineMap& machine) {
  std::map<std::string, NicFacts> nics;
  uint64_t fastest = 0;
  for (const NicFacts& nic : machine.listed) fastest = std::max(fastest, nic.speed);
  for (const NicFacts& nic : machine.listed)
    if (!nic.pci.empty() && nic.speed == fastest) nics.emplace(nic.pci, nic);
  std::vector<Place> places;
  for (const auto& [bus, nic] : nics) places.push_back(nic.place);
  return places;
}

std::vector<Place> unbound(size_t n) {
  return std::vector<Place>(n);
}

std::vector<Numbers> rails(const std::vector<NicShare>& shares) {
  std::vector<Numbers> all;
  for (const NicShare& share : shares) all.push_back(share.rails);
  return all;
}

TEST(NicShare, EachPeOfADgxUsesTheNicOfItsGpu) {
  const MachineMap machine = dgx_h100();
  const auto shares = share_nics(fast_nics(machine), machine.gpu_pes(8), 0);
  for (size_t pe = 0; pe < 8; ++pe) EXPECT_EQ(shares[pe].rails, Numbers{pe});
  // Also when the PEs are not in the order of the GPUs.
  auto reversed = machine.gpu_pes(8);
  std::reverse(reversed.begin(), reversed.end());
  const auto turned = share_nics(fast_nics(machine), reversed, 0);
  for (size_t pe = 0; pe < 8; ++pe) EXPECT_EQ(turned[pe].rails, Numbers{7 - pe});
}

TEST(NicShare, TwoPesOnOneGpuOfADgxUseItsNic) {
  const MachineMap machine = dgx_h100();
  const auto shares = share_nics(fast_nics(machine), machine.gpu_pes(16), 0);
  for (size_t pe = 0; pe < 16; ++pe) EXPECT_EQ(shares[pe].rails, Numbers{pe / 2});
}

TEST(NicShare, BoundPesOfADgxUseTheNicsOfTheirSocket) {
  const MachineMap machine = dgx_h100();
  const auto nics = fast_nics(machine);
  EXPECT_EQ(rails(share_nics(nics, machine.bound_pes(2), 0)), (std::vector<Numbers>{{0, 1, 2, 3}, {4, 5, 6, 7}}));
  EXPECT_EQ(rails(share_nics(nics, machine.bound_pes(4), 0)), (std::vector<Numbers>{{0, 1}, {2, 3}, {4, 5}, {6, 7}}));
  for (size_t pe = 0; pe < 8; ++pe)
    EXPECT_EQ(share_nics(nics, machine.bound_pes(8), 0)[pe].rails, Numbers{pe}) << "as if PE k had GPU k";
  // One PE on the second socket starts there.
  EXPECT_EQ(share_nics(nics, std::vector<Place>{{1, 1, {}}}, 0)[0].rails, (Numbers{4, 5, 6, 7}));
}

TEST(NicShare, EachPeOfAP5HasTheFourInterfacesOfItsGpu) {
  const MachineMap machine = p5_48xlarge();
  const auto nics = fast_nics(machine);
  ASSERT_EQ(nics.size(), 32u);
  for (const auto& pes : {machine.gpu_pes(8), machine.bound_pes(8), unbound(8)}) {
    const auto shares = share_nics(nics, pes, 0);
    for (size_t pe = 0; pe < 8; ++pe)
      EXPECT_EQ(shares[pe].rails, (Numbers{4 * pe, 4 * pe + 1, 4 * pe + 2, 4 * pe + 3}));
  }
  // Twice as many PEs have two each, of their GPU.
  const auto sixteen = share_nics(nics, machine.gpu_pes(16), 0);
  for (size_t pe = 0; pe < 16; ++pe) EXPECT_EQ(sixteen[pe].rails, (Numbers{2 * pe, 2 * pe + 1}));
}

TEST(NicShare, ALargeSliceIsCutToTheNearest) {
  const MachineMap machine = p5_48xlarge();
  const auto nics = fast_nics(machine);
  const auto alone = share_nics(nics, std::vector<Place>{machine.gpus[5]}, 0)[0];
  EXPECT_EQ(alone.slice.size(), 32u);
  EXPECT_EQ(alone.rails, (Numbers{20, 21, 22, 23}));
  const auto two = share_nics(nics, std::vector<Place>{machine.gpus[0], machine.gpus[1]}, 0);
  EXPECT_EQ(two[0].rails, (Numbers{0, 1, 2, 3}));
  EXPECT_EQ(two[1].rails, (Numbers{4, 5, 6, 7}));
  EXPECT_EQ(share_nics(nics, std::vector<Place>{machine.gpus[5]}, 6)[0].rails.size(), 6u);
}

TEST(NicShare, ManyPesShareTheNearNicEvenly) {
  const MachineMap machine = numa_server();
  const auto nics = fast_nics(machine);
  for (size_t npes : {8, 16}) {
    const auto bound = share_nics(nics, machine.bound_pes(npes), 0);
    for (size_t pe = 0; pe < npes; ++pe) EXPECT_EQ(bound[pe].rails, Numbers{pe < npes / 2 ? 0u : 1u});
    std::map<size_t, size_t> users;
    for (const NicShare& share : share_nics(nics, unbound(npes), 0)) ++users[share.rails.front()];
    EXPECT_EQ(users[0], npes / 2);
    EXPECT_EQ(users[1], npes / 2);
  }
  EXPECT_EQ(rails(share_nics(nics, machine.bound_pes(2), 0)), (std::vector<Numbers>{{0}, {1}}));
  EXPECT_EQ(rails(share_nics(nics, machine.bound_pes(1), 0)), (std::vector<Numbers>{{0, 1}}));
  // All on one socket: as many as NICs have one each, more than that stay near.
  const Place second{1, 1, {}};
  EXPECT_EQ(rails(share_nics(nics, std::vector<Place>(2, second), 0)), (std::vector<Numbers>{{1}, {0}}));
  for (const NicShare& share : share_nics(nics, std::vector<Place>(8, second), 0)) EXPECT_EQ(share.rails, Numbers{1});
}

TEST(NicShare, ANumberOfRailsReachesBeyondTheSlice) {
  const MachineMap machine = dgx_h100();
  const auto nics = fast_nics(machine);
  const auto shares = share_nics(nics, machine.gpu_pes(8), 2);
  std::map<size_t, int> users;
  for (size_t pe = 0; pe < 8; ++pe) {
    ASSERT_EQ(shares[pe].rails.size(), 2u);
    EXPECT_EQ(shares[pe].rails[0], pe);
    EXPECT_EQ(shares[pe].rails[1] / 4, pe / 4) << "the second is at the same socket";
    ++users[shares[pe].rails[1]];
  }
  EXPECT_GE(users.size(), 6u) << "neighbours extend to different NICs";
  EXPECT_EQ(share_nics(nics, machine.gpu_pes(8), 99)[3].rails.size(), 8u) << "never more than there are";
}

TEST(NicShare, ALeftOverNicGoesToAPeOnlyWhereItIsAsNear) {
  const std::vector<Place> nics(8, Place{0, 0, {}});
  const auto shares = share_nics(nics, std::vector<Place>(3, Place{0, 0, {}}), 0);
  EXPECT_EQ(shares[0].slice.size() + shares[1].slice.size() + shares[2].slice.size(), 8u);
  const MachineMap machine = dgx_h100();
  auto more = fast_nics(machine);
  more.push_back({0, 0, {"0000:28:01.0"}});
  EXPECT_EQ(share_nics(more, machine.gpu_pes(8), 0)[0].rails, Numbers{0}) << "the ninth is behind no GPU's switch";
}

TEST(NicShare, SlicesAreDisjointAndAlikeOrEvenlyShared) {
  for (const MachineMap& machine : {dgx_h100(), p5_48xlarge(), numa_server()})
    for (size_t npes : {1, 2, 3, 5, 8, 16, 96})
      for (const auto& pes : {unbound(npes), machine.bound_pes(npes)}) {
        const auto nics = fast_nics(machine);
        const auto shares = share_nics(nics, pes, 0);
        std::map<size_t, size_t> users;
        size_t least = SIZE_MAX;
        size_t most = 0;
        for (const NicShare& share : shares) {
          EXPECT_EQ(std::set<size_t>(share.slice.begin(), share.slice.end()).size(), share.slice.size());
          EXPECT_EQ(share.rails,
                    Numbers(share.slice.begin(), share.slice.begin() + static_cast<long>(share.rails.size())));
          for (const size_t nic : share.slice) ++users[nic];
          least = std::min(least, share.slice.size());
          most = std::max(most, share.slice.size());
        }
        EXPECT_GE(least, 1u);
        EXPECT_LE(most - least, 1u);
        if (npes <= nics.size()) {
          for (const auto& [nic, count] : users) EXPECT_EQ(count, 1u);
        } else {
          EXPECT_EQ(users.size(), nics.size());
          for (const auto& [nic, count] : users) EXPECT_LE(count, (npes + nics.size() - 1) / nics.size() + 1);
        }
      }
}

TEST(Place, DistanceGrowsFromSwitchToMachine) {
  const Place gpu = behind_switch(0, 0x15, 1);
  EXPECT_LT(distance(gpu, behind_switch(0, 0x15, 0)), kSameNuma);
  EXPECT_EQ(distance(gpu, behind_switch(0, 0x3d, 0)), kSameNuma);
  EXPECT_EQ(distance(gpu, {0, 1, {}}), kSamePackage);
  EXPECT_EQ(distance(gpu, {1, 2, {}}), kOtherPackage);
  EXPECT_EQ(distance(gpu, {}), kUnknownDistance);
  EXPECT_EQ(distance({}, {}), kUnknownDistance);
  // Behind a switch that is behind a switch: nearer within the inner one.
  const Place inner{0, 0, {"0000:15:01.0", "0000:16:00.0", "0000:17:01.0"}};
  const Place outer{0, 0, {"0000:15:01.0", "0000:18:00.0"}};
  EXPECT_LT(distance(inner, inner), distance(inner, outer));
}

}  // namespace
}  // namespace railshmem
