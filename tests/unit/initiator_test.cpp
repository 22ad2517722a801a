// SPDX-License-Identifier: BSD-3-Clause
#include "src/proxy/initiator.h"

#include <gtest/gtest.h>

#include "tests/support/scripted_rail.h"

namespace railshmem::test {
namespace {

constexpr auto kNoRequests = [](const std::byte*, size_t) { FAIL() << "a request for an initiator"; };

struct Fixture {
  explicit Fixture(const RailTraits& shape = {64, 1 << 20, 4096, false}, size_t cells = 8, const Tuning& tuning = {}) {
    rail.shape = shape;
    initiator.emplace(rail, InitiatorConfig{Port::host, 0, 4, cells, tuning});
    scope = &initiator->add_scope();
  }
  Transfer put(size_t nbytes) { return {OpKind::put, {3, SegmentId::heap, 100}, bytes.data(), nbytes}; }
  void acknowledge(uint64_t count) {
    rail.deliver(AcknowledgeMessage{
        {MessageKind::acknowledge, 0, 0, Answer::none, Port::proxy, SegmentId::heap, scope->id, 3, 0}, count});
    initiator->poll(kNoRequests);
  }

  ScriptedRail rail;
  std::optional<Initiator<ScriptedRail>> initiator;
  NetContext* scope;
  std::vector<std::byte> bytes = std::vector<std::byte>(10000, std::byte{7});
};

const NetSignal kSignal{SegmentId::heap, 8, 1, SignalOp::set};

TEST(Initiator, LongPutIsCutAndCompletesOnceWithItsLastSegment) {
  Fixture f({64, 1000, 4096, false});
  Transfer t = f.put(2500);
  bool done = false;
  ASSERT_EQ(f.initiator->transfer(*f.scope, t, Source::stable, {&done}), Post::ok);
  ASSERT_EQ(f.rail.posted.size(), 3u);
  EXPECT_EQ(f.rail.posted[0].nbytes, 1000u);
  EXPECT_EQ(f.rail.posted[2].nbytes, 500u);
  EXPECT_EQ(f.rail.posted[2].remote.offset, 2100u);
  EXPECT_EQ(f.scope->writes, 1u);
  EXPECT_TRUE(f.initiator->needs_polling() == false) << "2500 bytes are no long transfer";
  f.rail.complete(f.rail.posted[2].slot);  // any order
  f.rail.complete(f.rail.posted[0].slot);
  f.initiator->poll(kNoRequests);
  EXPECT_FALSE(done);
  f.rail.complete(f.rail.posted[1].slot);
  f.initiator->poll(kNoRequests);
  EXPECT_TRUE(done);
  EXPECT_EQ(f.scope->pending(), 0u);
  EXPECT_EQ(f.initiator->outstanding(), 0u);
}

TEST(Initiator, RefusedPutGoesOnWhereItStopped) {
  Fixture f({64, 1000, 4096, false}, 3);
  Transfer t = f.put(5000);
  f.rail.room = 2;
  EXPECT_EQ(f.initiator->transfer(*f.scope, t, Source::stable, {}), Post::again);
  f.rail.room = 100;
  EXPECT_EQ(f.initiator->transfer(*f.scope, t, Source::stable, {}), Post::again) << "three cells, five segments";
  size_t seen = 0;
  while (f.scope->pending() > 0) {
    while (seen < f.rail.posted.size()) f.rail.complete(f.rail.posted[seen++].slot);
    f.initiator->poll(kNoRequests);
    if (t.posted < t.nbytes) f.initiator->transfer(*f.scope, t, Source::stable, {});
  }
  ASSERT_EQ(f.rail.posted.size(), 5u);
  for (size_t i = 0; i < 5; ++i) EXPECT_EQ(f.rail.posted[i].remote.offset, 100 + 1000 * i);
  EXPECT_EQ(f.initiator->outstanding(), 0u);
}

TEST(Initiator, CopiedSourceMayChange) {
  Fixture f;
  Transfer t = f.put(1000);
  f.rail.room = 0;
  EXPECT_EQ(f.initiator->transfer(*f.scope, t, Source::copied, {}), Post::again);
  f.rail.room = 1;
  EXPECT_NE(t.local, f.bytes.data()) << "refused only after the copy was made";
  EXPECT_EQ(f.initiator->transfer(*f.scope, t, Source::copied, {}), Post::ok);
  EXPECT_EQ(f.rail.posted[0].bytes[0], std::byte{7});
}

TEST(Initiator, SmallPutSignalIsOneMessage) {
  Fixture f;
  Transfer t = f.put(16);  // 48 + 16 = what the rail copies: no cell
  bool done = false;
  ASSERT_EQ(f.initiator->put_signal(*f.scope, t, Source::stable, kSignal, {&done}), Post::ok);
  EXPECT_TRUE(done);
  ASSERT_EQ(f.rail.posted.size(), 1u);
  EXPECT_EQ(f.rail.posted[0].slot, nullptr);
  EXPECT_EQ(f.scope->messages, 1u);
  Transfer larger = f.put(4048);
  ASSERT_EQ(f.initiator->put_signal(*f.scope, larger, Source::stable, kSignal, {}), Post::ok);
  EXPECT_EQ(f.rail.posted[1].nbytes, 4096u);
  ASSERT_NE(f.rail.posted[1].slot, nullptr);
  f.acknowledge(2);  // the answer may overtake the completion of the send
  EXPECT_EQ(f.scope->pending(), 0u);
  EXPECT_EQ(f.initiator->outstanding(), 1u);
  f.rail.complete(f.rail.posted[1].slot);
  f.initiator->poll(kNoRequests);
  EXPECT_EQ(f.initiator->outstanding(), 0u);
}

TEST(Initiator, SignalWaitsForAllSegmentsOfItsData) {
  Fixture f({64, 3000, 4096, false});
  Transfer t = f.put(9000);
  bool done = false;
  ASSERT_EQ(f.initiator->put_signal(*f.scope, t, Source::stable, kSignal, {&done}), Post::ok);
  EXPECT_EQ(f.rail.count('w'), 3);
  EXPECT_TRUE(f.initiator->needs_polling());
  f.rail.complete(f.rail.posted[1].slot);
  f.rail.complete(f.rail.posted[2].slot);
  f.initiator->poll(kNoRequests);
  EXPECT_EQ(f.rail.count('s'), 0);
  f.rail.room = 0;  // no room when the data is there: the signal is kept
  f.rail.complete(f.rail.posted[0].slot);
  f.initiator->poll(kNoRequests);
  EXPECT_TRUE(done) << "the source is free";
  EXPECT_EQ(f.rail.count('s'), 0);
  EXPECT_EQ(f.scope->messages, 1u);
  f.rail.room = 10;
  f.initiator->poll(kNoRequests);
  EXPECT_EQ(f.rail.count('s'), 1);
  f.initiator->poll(kNoRequests);
  EXPECT_EQ(f.rail.count('s'), 1) << "exactly once";
  f.acknowledge(1);
  EXPECT_EQ(f.scope->pending(), 0u);
  EXPECT_EQ(f.initiator->outstanding(), 0u);
  EXPECT_FALSE(f.initiator->needs_polling());
}

TEST(Initiator, SignalFollowsAtOnceWhereTheRailKeepsOrder) {
  Fixture f({64, 3000, 4096, true});
  Transfer t = f.put(9000);
  ASSERT_EQ(f.initiator->put_signal(*f.scope, t, Source::stable, kSignal, {}), Post::ok);
  ASSERT_EQ(f.rail.posted.size(), 4u);
  EXPECT_EQ(f.rail.posted[3].what, 's');
  f.rail.complete_all_writes();
  f.initiator->poll(kNoRequests);
  EXPECT_EQ(f.rail.count('s'), 1);
  f.acknowledge(1);
  EXPECT_EQ(f.scope->pending(), 0u);
  EXPECT_EQ(f.initiator->outstanding(), 0u);
}

TEST(Initiator, EveryCellMayHoldADeferredSignalOfARailThatCopiesNothing) {
  Fixture f({0, 1 << 20, 4096, false}, 4);
  for (int i = 0; i < 4; ++i) {
    Transfer t = f.put(5000);
    ASSERT_EQ(f.initiator->put_signal(*f.scope, t, Source::stable, kSignal, {}), Post::ok);
  }
  Transfer fifth = f.put(5000);
  EXPECT_EQ(f.initiator->put_signal(*f.scope, fifth, Source::stable, kSignal, {}), Post::again);
  f.rail.complete_all_writes();
  f.initiator->poll(kNoRequests);
  EXPECT_EQ(f.rail.count('s'), 4) << "each signal leaves from its own cell";
}

TEST(Initiator, FetchedValueArrivesWithItsWidth) {
  Fixture f;
  uint64_t value = ~uint64_t{0};
  ASSERT_EQ(f.initiator->amo(*f.scope, {3, SegmentId::heap, 8}, {AmoOp::fetch_add, 4, 1, 0}, &value, {}), Post::ok);
  const auto asked = read_message<AmoMessage>(f.rail.posted[0].bytes.data());
  EXPECT_EQ(asked.header.answer, Answer::reply);
  f.rail.deliver(ReplyMessage{
      {MessageKind::reply, 0, 0, Answer::none, Port::proxy, SegmentId::heap, 0, 3, asked.header.cell}, 0x1122334455});
  f.initiator->poll(kNoRequests);
  EXPECT_EQ(value, 0xffffffff22334455u);
  EXPECT_EQ(f.scope->pending(), 0u);
  EXPECT_EQ(f.initiator->outstanding(), 0u);
  EXPECT_EQ(f.rail.released, 1);
}

TEST(Initiator, UnansweredMessagesAreBounded) {
  Fixture f({64, 1 << 20, 4096, false}, 8, {.max_unanswered = 3});
  const NetAmo add{AmoOp::add, 8, 1, 0};
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(f.initiator->amo(*f.scope, {3, SegmentId::heap, 8}, add, nullptr, {}), Post::ok);
  EXPECT_EQ(f.initiator->amo(*f.scope, {3, SegmentId::heap, 8}, add, nullptr, {}), Post::again);
  EXPECT_NE(f.initiator->describe_outstanding().find("3 of them by PE 3"), std::string::npos);
  f.acknowledge(2);
  EXPECT_EQ(f.initiator->amo(*f.scope, {3, SegmentId::heap, 8}, add, nullptr, {}), Post::ok);
}

TEST(Initiator, ScopesAreReusedAndCountApart) {
  Fixture f;
  NetContext& other = f.initiator->add_scope();
  Transfer t = f.put(8);
  ASSERT_EQ(f.initiator->transfer(other, t, Source::stable, {}), Post::ok);
  EXPECT_EQ(f.scope->pending(), 0u);
  EXPECT_EQ(other.pending(), 1u);
  f.rail.complete_all_writes();
  f.initiator->poll(kNoRequests);
  const uint16_t id = other.id;
  f.initiator->drop_scope(other);
  EXPECT_EQ(f.initiator->add_scope().id, id);
}

TEST(Initiator, NothingIsWaitedForOnceAFailureIsIgnored) {
  Fixture f;
  Transfer t = f.put(8);
  bool done = false;
  ASSERT_EQ(f.initiator->transfer(*f.scope, t, Source::stable, {&done}), Post::ok);
  f.initiator->ignore_failures();
  f.rail.events.push_back({RailEvent::Kind::failed, -5, nullptr, nullptr, 0, nullptr});
  f.rail.complete(f.rail.posted[0].slot);  // a late event of an operation given up
  f.initiator->poll(kNoRequests);
  EXPECT_TRUE(done);
  EXPECT_EQ(f.scope->pending(), 0u);
  EXPECT_EQ(f.initiator->outstanding(), 0u);
  Transfer later = f.put(8);
  EXPECT_EQ(f.initiator->transfer(*f.scope, later, Source::stable, {}), Post::failed);
}

TEST(Initiator, RailWithTinyMessagesIsRefused) {
  ScriptedRail rail;
  rail.shape.max_message = 40;
  EXPECT_THROW(Initiator<ScriptedRail>(rail, InitiatorConfig{Port::host, 0, 2, 8, {}}), Error);
}

}  // namespace
}  // namespace railshmem::test
