// SPDX-License-Identifier: BSD-3-Clause
// What shows that a dead path lives again: something of the peer, and nothing less.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <optional>
#include <thread>
#include <vector>

#include "src/plugin/rail_keeper.h"
#include "tests/support/issue.h"
#include "tests/support/patience.h"
#include "tests/support/scripted_rail.h"

namespace railshmem::test {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr int kPeer = 1;

/// Opens rails anew without doing anything.
class Keeper final : public RailKeeper {
 public:
  std::vector<std::byte> reopen(Port, size_t) override {
    ++reopened;
    return std::vector<std::byte>(100);
  }
  void limit_silence(Port, size_t, std::span<const int>, unsigned timeout_ms) noexcept override {
    timeouts_ms.push_back(timeout_ms);
  }
  void cut(Port, size_t, std::span<const int>) noexcept override {}
  bool outage(Port, size_t) noexcept override { return true; }
  void mended(Port, size_t) noexcept override {}
  uint32_t learn(Port, int, std::span<const std::byte>) override { return 0; }
  uint32_t without_link(uint64_t) noexcept override { return unlinked; }
  uint32_t rails_to(int, size_t) override { return 0; }

  int reopened = 0;
  uint32_t unlinked = 0;
  std::vector<unsigned> timeouts_ms;
};

class PathLife : public testing::Test {
 protected:
  PathLife() {
    Tuning tuning;
    tuning.rail_timeout_ns = 8'000'000;
    tuning.quarantine_ns = 1'000'000;
    initiator_.emplace(std::span(rails_), InitiatorConfig{Port::host, 0, 2, 32, tuning, &keeper_});
    context_ = &initiator_->add_context();
  }

  bool is_usable(size_t r) { return ((initiator_->rails().usable(kPeer) >> r) & 1) != 0; }
  void poll() {
    initiator_->poll([](size_t, const std::byte*, size_t) {});
  }
  bool poll_until(const std::function<bool()>& done, Clock::duration at_most = kPatience) {
    for (const auto end = Clock::now() + at_most; Clock::now() < end;) {
      poll();
      if (done()) return true;
    }
    return false;
  }
  template <class M>
  void receive(size_t r, MessageKind kind, M message) {
    message.header = {kind, 0, 0, Answer::none, Port::proxy, SegmentId::heap, 0, kPeer, 0, 0, 0};
    rails_[r].deliver(message);
  }
  struct Bare {
    MessageHeader header;
  };

  /// Two puts on rail 0: one fails, the rail keeps the other and so is closed and opened anew. Rail 1 takes both over.
  void lose_rail_0() {
    const Op put = put_op(*context_, {kPeer, SegmentId::heap, 0}, bytes_.data(), 1000, Local::lent);
    while (rails_[0].count('w') < 2) {
      ASSERT_EQ(issue(*initiator_, put), Post::ok);
    }
    rails_[0].fail(rails_[0].posted[0].slot);
    ASSERT_TRUE(poll_until([&] { return keeper_.reopened == 1; }));
    EXPECT_FALSE(is_usable(0));
    // The peer's account, under the number of the inquiry.
    const auto inquiry = [&]() -> const MessageHeader* {
      for (const auto& posted : rails_[1].posted)
        if (posted.what == 's' && read_message<MessageHeader>(posted.bytes.data()).kind == MessageKind::inquiry)
          return reinterpret_cast<const MessageHeader*>(posted.bytes.data());
      return nullptr;
    };
    ASSERT_TRUE(poll_until([&] { return inquiry() != nullptr; }));
    AccountMessage account{};
    account.header = {MessageKind::account, 0, 0, Answer::none, Port::proxy, SegmentId::heap, 0, kPeer,
                      inquiry()->cell,      0, 0};
    rails_[1].deliver(account);
    ASSERT_TRUE(poll_until([&] {
      for (; seen_ < rails_[1].posted.size(); ++seen_)
        if (rails_[1].posted[seen_].slot != nullptr) rails_[1].complete(rails_[1].posted[seen_].slot);
      return context_->pending() == 0;
    }));
  }

  /// The descriptor that asks the peer whether it hears rail 0: longer than what providers copy, so it leaves an event.
  OpSlot* descriptor_on_rail_0() {
    for (const auto& posted : rails_[0].posted)
      if (posted.what == 's' && posted.to.pe == kPeer && posted.slot != nullptr) return posted.slot;
    return nullptr;
  }

  Keeper keeper_;
  std::vector<ScriptedRail> rails_ = std::vector<ScriptedRail>(2);
  std::optional<Initiator<ScriptedRail>> initiator_;
  NetContext* context_;
  std::vector<std::byte> bytes_ = std::vector<std::byte>(4096);
  size_t seen_ = 0;
};

// A socket takes messages over as long as it has room, whether or not the link is there.
TEST_F(PathLife, AMessageThatTheProviderTookOverIsNoSign) {
  ASSERT_NO_FATAL_FAILURE(lose_rail_0());
  ASSERT_TRUE(poll_until([&] { return descriptor_on_rail_0() != nullptr; }));
  rails_[0].complete(descriptor_on_rail_0());
  EXPECT_FALSE(poll_until([&] { return is_usable(0); }, 50ms)) << "nothing of the peer has come";
}

TEST_F(PathLife, AnAnswerOverThePathIsASign) {
  ASSERT_NO_FATAL_FAILURE(lose_rail_0());
  ASSERT_TRUE(poll_until([&] { return descriptor_on_rail_0() != nullptr; }));
  EXPECT_NE(keeper_.timeouts_ms.back(), 0u);
  receive(1, MessageKind::pong, Bare{});
  EXPECT_FALSE(poll_until([&] { return is_usable(0); }, 50ms)) << "it came over the other rail";
  receive(0, MessageKind::pong, Bare{});
  EXPECT_TRUE(poll_until([&] { return is_usable(0); }));
}

// The path has a connection to each port of the peer, and only one of them has answered.
TEST_F(PathLife, LimitsGoOnlyAfterTheOtherConnectionsHadTime) {
  ASSERT_NO_FATAL_FAILURE(lose_rail_0());
  ASSERT_TRUE(poll_until([&] { return descriptor_on_rail_0() != nullptr; }));
  std::this_thread::sleep_for(2ms);  // longer than packets are on their way
  receive(0, MessageKind::pong, Bare{});
  ASSERT_TRUE(poll_until([&] { return is_usable(0); }));
  const auto lifted = [&] { return std::count(keeper_.timeouts_ms.begin(), keeper_.timeouts_ms.end(), 0u) > 0; };
  EXPECT_FALSE(lifted()) << "at once";
  EXPECT_NE(keeper_.timeouts_ms.back(), 0u);
  EXPECT_TRUE(poll_until(lifted)) << "never";
}

TEST_F(PathLife, WithoutALinkNothingIsASignAndThePeerIsTold) {
  keeper_.unlinked = 0b01;
  const auto told = [&] {
    for (const auto& posted : rails_[1].posted) {
      if (posted.what != 's' || posted.to.pe != kPeer) continue;
      const auto header = read_message<MessageHeader>(posted.bytes.data());
      if (header.kind == MessageKind::ping && header.op == static_cast<uint8_t>(PingNews::no_link))
        return header.cell == 0;
    }
    return false;
  };
  EXPECT_TRUE(poll_until(told));
  EXPECT_FALSE(is_usable(0));
  receive(0, MessageKind::pong, Bare{});
  EXPECT_FALSE(poll_until([&] { return is_usable(0); }, 50ms));
  EXPECT_EQ(rails_[0].count('s'), 0) << "what was sent over the rail without a link?";
  keeper_.unlinked = 0;
  EXPECT_TRUE(poll_until([&] { return rails_[0].count('s') > 0; })) << "the peer is not asked";
  EXPECT_FALSE(is_usable(0));
  receive(0, MessageKind::pong, Bare{});
  EXPECT_TRUE(poll_until([&] { return is_usable(0); }));
}

TEST_F(PathLife, TheOnlyRailIsKeptWithoutALink) {
  keeper_.unlinked = 0b11;
  EXPECT_FALSE(poll_until([&] { return initiator_->rails().usable(kPeer) == 0; }, 100ms));
}

}  // namespace
}  // namespace railshmem::test
