// SPDX-License-Identifier: BSD-3-Clause
// What the two ports of an engine share about its rails: outages are told once, news wait for the host.
#include "src/proxy/failover/engine_keeper.h"

#include <gtest/gtest.h>

#include <memory>
#include <tuple>
#include <utility>
#include <vector>

namespace railshmem {
namespace {

struct FakeFabric {
  std::vector<std::byte> reopen(Port, size_t) { return {}; }
  uint32_t learn(Port port, int pe, std::span<const std::byte> card) {
    learned.emplace_back(port, pe, card.size());
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

const RailKeeper::Doubt kNoDoubt = [](int, size_t) { ADD_FAILURE() << "a doubt"; };
const RailKeeper::Unlinked kNoUnlinked = [](int, uint32_t) { ADD_FAILURE() << "a link"; };
const RailKeeper::Readdressed kNoReaddressed = [](int, uint32_t) { ADD_FAILURE() << "a card"; };

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

TEST(EngineKeeper, WhatTheHostMustKnowWaitsForIt) {
  FakeFabric fabric;
  EngineKeeper<FakeFabric> keeper(fabric, ports_with(1));
  EXPECT_FALSE(keeper.has_news_for(Port::host));
  const std::byte card[3] = {};
  EXPECT_EQ(keeper.learn(7, card), 0b10u);
  keeper.doubt_for_others(5, 2);
  ASSERT_EQ(fabric.learned.size(), 1u);
  EXPECT_EQ(std::get<Port>(fabric.learned[0]), Port::proxy);
  EXPECT_TRUE(keeper.has_news_for(Port::host));
  std::vector<std::pair<int, uint32_t>> readdressed;
  std::vector<std::pair<int, size_t>> doubts;
  keeper.learn_at(
      Port::host, [&](int pe, size_t alive) { doubts.emplace_back(pe, alive); }, kNoUnlinked,
      [&](int pe, uint32_t rails) { readdressed.emplace_back(pe, rails); });
  EXPECT_EQ(readdressed, (std::vector<std::pair<int, uint32_t>>{{7, 0b10}}));
  EXPECT_EQ(doubts, (std::vector<std::pair<int, size_t>>{{5, 2}}));
  EXPECT_EQ(std::get<Port>(fabric.learned.at(1)), Port::host);
  EXPECT_FALSE(keeper.has_news_for(Port::host));
}

TEST(EngineKeeper, EachPortButTheProxysLearnsTheNews) {
  FakeFabric fabric;
  EngineKeeper<FakeFabric> keeper(fabric, ports_with(3));
  const std::byte card[3] = {};
  keeper.learn(7, card);
  EXPECT_FALSE(keeper.has_news_for(Port::proxy)) << "it brought them";
  for (const Port port : {Port::host, port_of_thread(1), port_of_thread(2)}) {
    EXPECT_TRUE(keeper.has_news_for(port)) << name_of(port);
    keeper.learn_at(port, kNoDoubt, kNoUnlinked, [](int pe, uint32_t) { EXPECT_EQ(pe, 7); });
    EXPECT_FALSE(keeper.has_news_for(port)) << name_of(port);
    EXPECT_EQ(std::get<Port>(fabric.learned.back()), port);
  }
  EXPECT_EQ(fabric.learned.size(), 4u);
  EXPECT_TRUE(keeper.outage(port_of_thread(2), 1));
  EXPECT_FALSE(keeper.outage(Port::host, 1)) << "another port";
}

TEST(EngineKeeper, ALinkThatAPeerHasLostConcernsTheRailsThatTalkToIt) {
  FakeFabric fabric;
  EngineKeeper<FakeFabric> keeper(fabric, ports_with(1));
  EXPECT_EQ(keeper.peer_lost_link(7, 1), 0u);
  EXPECT_FALSE(keeper.has_news_for(Port::host));
  EXPECT_EQ(keeper.peer_lost_link(7, 3), 0b100u);
  EXPECT_TRUE(keeper.has_news_for(Port::host));
  std::vector<std::pair<int, uint32_t>> unlinked;
  keeper.learn_at(
      Port::host, kNoDoubt,
      [&](int pe, uint32_t rails) {
        EXPECT_TRUE(keeper.outage(Port::host, 2)) << "it may use the keeper";
        unlinked.emplace_back(pe, rails);
      },
      kNoReaddressed);
  EXPECT_EQ(unlinked, (std::vector<std::pair<int, uint32_t>>{{7, 0b100}}));
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
