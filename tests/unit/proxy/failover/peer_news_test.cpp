// SPDX-License-Identifier: BSD-3-Clause
// News of peers' rails reach every port once, and act at each.
#include "src/proxy/failover/peer_news.h"

#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "src/plugin/rail_keeper.h"
#include "src/proxy/source/initiator.h"
#include "tests/support/scripted_rail.h"

namespace railshmem::test {
namespace {

TEST(PeerNews, WaitForEachPortUntilItTakesThem) {
  PeerNews news(ports_with(3));
  for (const Port port : {Port::proxy, Port::host, port_of_thread(1), port_of_thread(2)})
    EXPECT_FALSE(news.wait_for(port)) << name_of(port);
  news.notify({News::What::doubt, 5, 2});
  news.notify({News::What::reopened, 7, 0, std::vector<std::byte>(3)});
  for (const Port port : {Port::proxy, Port::host, port_of_thread(1), port_of_thread(2)}) {
    EXPECT_TRUE(news.wait_for(port)) << name_of(port);
    const std::vector<News> taken = news.take(port);
    ASSERT_EQ(taken.size(), 2u);
    EXPECT_EQ(taken[0].what, News::What::doubt) << "the oldest first";
    EXPECT_EQ(taken[0].pe, 5);
    EXPECT_EQ(taken[0].rail, 2u);
    EXPECT_EQ(taken[1].what, News::What::reopened);
    EXPECT_EQ(taken[1].descriptor.size(), 3u);
    EXPECT_FALSE(news.wait_for(port)) << name_of(port);
    EXPECT_TRUE(news.take(port).empty()) << name_of(port);
  }
}

constexpr int kTeller = 1;

/// Rail r of a peer is reached over rail r of this PE. Descriptors of one byte are refused.
class KeeperOfNews final : public RailKeeper {
 public:
  std::vector<std::byte> reopen(Port, size_t) override { return std::vector<std::byte>(8); }
  void limit_silence(Port, size_t, std::span<const int>, unsigned) noexcept override {}
  void cut(Port, size_t, std::span<const int>) noexcept override {}
  bool outage(Port, size_t) noexcept override { return true; }
  void mended(Port, size_t) noexcept override {}
  uint32_t learn(Port port, int pe, std::span<const std::byte> descriptor) override {
    if (descriptor.size() == 1) throw std::runtime_error("the descriptor is too short");
    EXPECT_EQ(port, Port::host);
    EXPECT_EQ(pe, kTeller);
    ++learned;
    return 0;
  }
  uint32_t rails_to(int, size_t rail) override { return uint32_t{1} << rail; }
  uint32_t without_link(uint64_t) noexcept override { return 0; }

  int learned = 0;
};

struct NewsRig {
  NewsRig() {
    InitiatorConfig config{Port::host, 0, 2, 32, {}, &keeper};
    config.news = &news;
    initiator.emplace(std::span(rails), config);
  }
  uint32_t usable() { return initiator->rails().usable(kTeller); }
  void poll() {
    initiator->poll([](size_t, const std::byte*, size_t) {});
  }

  std::array<ScriptedRail, 2> rails;
  KeeperOfNews keeper;
  PeerNews news{ports_with(1)};
  std::optional<Initiator<ScriptedRail>> initiator;
};

TEST(PeerNews, APollActsOnThem) {
  NewsRig rig;
  EXPECT_EQ(rig.usable(), 0b11u);
  rig.news.notify({News::What::no_link, kTeller, 1});
  EXPECT_TRUE(rig.initiator->failover().has_news());
  EXPECT_EQ(rig.usable(), 0b11u);
  rig.poll();
  EXPECT_EQ(rig.usable(), 0b01u) << "the partner of rail 1 has no link";
  EXPECT_FALSE(rig.initiator->failover().has_news());
}

TEST(PeerNews, ThePortThatTellsActsAtOnceAndTheOthersLater) {
  NewsRig rig;
  rig.initiator->failover().notify_news({News::What::no_link, kTeller, 0});
  EXPECT_EQ(rig.usable(), 0b10u);
  EXPECT_FALSE(rig.initiator->failover().has_news());
  EXPECT_TRUE(rig.news.wait_for(Port::proxy));
}

TEST(PeerNews, ADescriptorThatCannotBeUsedLosesNoOtherNews) {
  NewsRig rig;
  rig.news.notify({News::What::reopened, kTeller, 0, std::vector<std::byte>(1)});
  rig.news.notify({News::What::reopened, kTeller, 0, std::vector<std::byte>(8)});
  rig.news.notify({News::What::no_link, kTeller, 1});
  testing::internal::CaptureStderr();
  rig.poll();
  EXPECT_NE(testing::internal::GetCapturedStderr().find(
                "PE 1 opened a rail anew, but this PE cannot use it: the descriptor is too short"),
            std::string::npos);
  EXPECT_EQ(rig.keeper.learned, 1);
  EXPECT_EQ(rig.usable(), 0b01u);
}

TEST(PeerNews, AreForNobodyAfterTheEnd) {
  NewsRig rig;
  rig.initiator->forget_all();
  rig.news.notify({News::What::no_link, kTeller, 1});
  rig.poll();
  EXPECT_EQ(rig.usable(), 0b11u);
  EXPECT_FALSE(rig.initiator->failover().has_news());
}

}  // namespace
}  // namespace railshmem::test
