// SPDX-License-Identifier: BSD-3-Clause
// What goes again after the target's account, and when.
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <optional>
#include <vector>

#include "tests/support/issue.h"
#include "tests/support/patience.h"
#include "tests/support/scripted_rail.h"

namespace railshmem::test {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr int kPeer = 1;

class ReplayOnLivingRails : public testing::Test {
 protected:
  ReplayOnLivingRails() {
    for (ScriptedRail& rail : rails_) rail.shape.message_after_write = true;
    Tuning tuning;
    tuning.rail_timeout_ns = 8'000'000;
    initiator_.emplace(std::span(rails_), InitiatorConfig{Port::host, 0, 2, 32, tuning});
    context_ = &initiator_->add_context();
  }

  /// Polls. The peer answers over both rails that they live, and no more.
  void poll() {
    for (ScriptedRail& rail : rails_) {
      MessageHeader pong{};
      pong = {MessageKind::pong, 0, 0, Answer::none, Port::proxy, SegmentId::heap, 0, kPeer, 0, 0, 0};
      rail.deliver(pong);
    }
    initiator_->poll([](size_t, const std::byte*, size_t) {});
  }
  bool poll_until(const std::function<bool()>& done, Clock::duration at_most = kPatience) {
    for (const auto end = Clock::now() + at_most; Clock::now() < end;) {
      poll();
      if (done()) return true;
    }
    return false;
  }
  /// The messages of this kind that left.
  std::vector<const ScriptedRail::Posted*> sent(MessageKind kind) const {
    std::vector<const ScriptedRail::Posted*> found;
    for (const ScriptedRail& rail : rails_)
      for (const auto& posted : rail.posted)
        if (posted.what == 's' && read_message<MessageHeader>(posted.bytes.data()).kind == kind)
          found.push_back(&posted);
    return found;
  }

  std::vector<ScriptedRail> rails_ = std::vector<ScriptedRail>(2);
  std::optional<Initiator<ScriptedRail>> initiator_;
  NetContext* context_ = nullptr;
  std::vector<std::byte> bytes_ = std::vector<std::byte>(8192);
};

// The rail that carries the data and the signal lives but is slow. Over the other rail the signal would pass its data.
TEST_F(ReplayOnLivingRails, ASignalWaitsForDataThatIsUnderWay) {
  const NetSignal signal{SegmentId::heap, 6000, 1, SignalOp::set};
  const Op op = put_signal_op(*context_, {kPeer, SegmentId::heap, 0}, bytes_.data(), 5000, signal, Local::lent);
  ASSERT_EQ(issue(*initiator_, op), Post::ok);
  ASSERT_EQ(sent(MessageKind::signal).size(), 1u) << "right behind its data";

  ASSERT_TRUE(poll_until([&] { return !sent(MessageKind::inquiry).empty(); })) << "a request without an answer";
  AccountMessage account{};  // nothing was executed
  const auto inquiry = read_message<MessageHeader>(sent(MessageKind::inquiry).back()->bytes.data());
  account.header = {MessageKind::account, 0, 0, Answer::none, Port::proxy, SegmentId::heap, 0, kPeer,
                    inquiry.cell,         0, 0};
  rails_[0].deliver(account);
  EXPECT_FALSE(poll_until([&] { return sent(MessageKind::signal).size() > 1; }, 50ms)) << "its data is under way";

  for (ScriptedRail& rail : rails_) rail.complete_all_writes();
  EXPECT_TRUE(poll_until([&] { return sent(MessageKind::signal).size() == 2; }));
}

}  // namespace
}  // namespace railshmem::test
