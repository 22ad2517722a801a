// SPDX-License-Identifier: BSD-3-Clause
// What the ports of an engine share about its rails: outages are told once, links are read now and then.
#include "src/proxy/failover/engine_keeper.h"

#include <gtest/gtest.h>

#include <memory>
#include <tuple>
#include <vector>

namespace railshmem {
namespace {

struct FakeFabric {
  std::vector<std::byte> reopen(Port, size_t) { return {}; }
  uint32_t learn(Port port, int pe, std::span<const std::byte> descriptor) {
    learned.emplace_back(port, pe, descriptor.size());
    return 0b10;
  }
  void limit_silence(Port, size_t, std::span<const int>, unsigned) { throw std::runtime_error("no such file"); }
  void cut(Port, size_t, std::span<const int>) {}
  uint32_t rails_to(int pe, size_t rail) { return pe == 7 && rail == 3 ? 0b100 : 0; }
  uint32_t without_link() const noexcept {
    ++*links_read;
    return unlinked;
  }
  std::vector<std::tuple<Port, int, size_t>> learned;
  std::unique_ptr<int> links_read = std::make_unique<int>(0);
  uint32_t unlinked = 0;
};

TEST(EngineKeeper, AnOutageIsNewsOnceForBothPorts) {
  FakeFabric fabric;
  EngineKeeper<FakeFabric> keeper(fabric, ports_with(1));
  EXPECT_TRUE(keeper.outage(Port::host, 1));
  EXPECT_FALSE(keeper.outage(Port::host, 1)) << "another path of the rail";
  EXPECT_FALSE(keeper.outage(Port::proxy, 1)) << "the other port";
  EXPECT_TRUE(keeper.outage(Port::proxy, 0)) << "another rail";
  keeper.mended(Port::host, 1);
  EXPECT_FALSE(keeper.outage(Port::host, 1)) << "the proxy's paths are still dead";
  keeper.mended(Port::host, 1);
  keeper.mended(Port::proxy, 1);
  EXPECT_TRUE(keeper.outage(Port::proxy, 1)) << "the next one";
}

TEST(EngineKeeper, EachPortLearnsADescriptorForItsOwnRails) {
  FakeFabric fabric;
  EngineKeeper<FakeFabric> keeper(fabric, ports_with(3));
  const std::byte descriptor[3] = {};
  for (const Port port : {Port::proxy, Port::host, port_of_thread(2)}) {
    EXPECT_EQ(keeper.learn(port, 7, descriptor), 0b10u);
    EXPECT_EQ(fabric.learned.back(), std::make_tuple(port, 7, sizeof descriptor));
  }
  EXPECT_TRUE(keeper.outage(port_of_thread(2), 1));
  EXPECT_FALSE(keeper.outage(Port::host, 1)) << "another port";
}

TEST(EngineKeeper, ALinkThatAPeerHasLostConcernsTheRailsThatTalkToIt) {
  FakeFabric fabric;
  EngineKeeper<FakeFabric> keeper(fabric, ports_with(1));
  EXPECT_EQ(keeper.rails_to(7, 1), 0u);
  EXPECT_EQ(keeper.rails_to(7, 3), 0b100u);
}

TEST(EngineKeeper, LinksAreReadNowAndThenHoweverOftenBothPortsAsk) {
  FakeFabric fabric;
  EngineKeeper<FakeFabric> keeper(fabric, ports_with(1));
  constexpr uint64_t kMs = 1'000'000;
  uint64_t now = 1'000'000 * kMs;
  EXPECT_EQ(keeper.without_link(now), 0u);
  fabric.unlinked = 0b10;
  EXPECT_EQ(keeper.without_link(now + kMs), 0u);
  EXPECT_EQ(*fabric.links_read, 1);
  EXPECT_EQ(keeper.without_link(now + 20 * kMs), 0b10u);
  EXPECT_EQ(keeper.without_link(now + 19 * kMs), 0b10u) << "the other port took the time before";
  EXPECT_EQ(keeper.without_link(now + 21 * kMs), 0b10u);
  EXPECT_EQ(*fabric.links_read, 2);
  fabric.unlinked = 0;
  EXPECT_EQ(keeper.without_link(now + 40 * kMs), 0u);
}

TEST(EngineKeeper, ALimitThatCannotBeSetIsNoFailure) {
  FakeFabric fabric;
  EngineKeeper<FakeFabric> keeper(fabric, ports_with(1));
  const int pes[] = {1};
  keeper.limit_silence(Port::host, 0, pes, 1000);
}

}  // namespace
}  // namespace railshmem
