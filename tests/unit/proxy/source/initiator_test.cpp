// SPDX-License-Identifier: BSD-3-Clause
// The initiator over one rail; see initiator_rails_test.cpp for several.
#include "src/proxy/source/initiator.h"

#include <gtest/gtest.h>

#include "tests/support/initiator_rig.h"

namespace railshmem::test {
namespace {

TEST(Initiator, LongPutIsCutAndCompletesOnceWithItsLastPiece) {
  InitiatorRig f({.shape = {64, 1000, 4096, false}});
  bool done = false;
  ASSERT_EQ(f.put(2500, 3, {&done}), Post::ok);
  ASSERT_EQ(f.rail.posted.size(), 3u);
  EXPECT_EQ(f.rail.posted[0].nbytes, 1000u);
  EXPECT_EQ(f.rail.posted[2].nbytes, 500u);
  EXPECT_EQ(f.rail.posted[2].remote.offset, 2100u);
  EXPECT_EQ(f.context->peer(3).writes, 1u) << "one put, whatever it was cut into";
  EXPECT_EQ(f.context->peer(2).writes, 0u);
  EXPECT_TRUE(f.initiator->needs_polling()) << "its pieces may have to wait for room";
  f.rail.complete(f.rail.posted[2].slot);  // any order
  f.rail.complete(f.rail.posted[0].slot);
  f.poll();
  EXPECT_FALSE(done);
  f.rail.complete(f.rail.posted[1].slot);
  f.poll();
  EXPECT_TRUE(done);
  EXPECT_EQ(f.context->pending(), 0u);
  EXPECT_EQ(f.context->peer(3).writes, 0u);
  EXPECT_EQ(f.initiator->outstanding(), 0u);
  EXPECT_FALSE(f.initiator->needs_polling());
}

TEST(Initiator, LongPutIsTakenOverAndGoesOnAsThereIsRoom) {
  InitiatorRig f({.shape = {64, 1000, 4096, false}, .cells = 3});
  f.rail.room = 1;
  ASSERT_EQ(f.put(5000), Post::ok) << "the caller need not repeat it";
  EXPECT_EQ(f.rail.posted.size(), 1u);
  f.rail.room = 100;
  f.poll();
  EXPECT_EQ(f.rail.posted.size(), 2u) << "three cells: the put's own and two pieces";
  while (f.context->pending() > 0) {
    ASSERT_GT(f.complete(0), 0u) << "nothing in flight and yet pending";
    f.poll();
  }
  ASSERT_EQ(f.rail.posted.size(), 5u);
  for (size_t i = 0; i < 5; ++i) EXPECT_EQ(f.rail.posted[i].remote.offset, 100 + 1000 * i);
  EXPECT_EQ(f.initiator->outstanding(), 0u);
}

/// Each long operation keeps a cell until it is complete, and needs others for its pieces.
TEST(Initiator, LongPutsNeverTakeTheLastCellsFromTheirPieces) {
  for (const size_t cells : {4u, 5u, 8u, 64u}) {
    SCOPED_TRACE(cells);
    InitiatorRig f({.shape = {64, 1000, 4096, false}, .cells = cells});
    f.rail.room = 0;
    size_t taken = 0;
    for (size_t i = 0; i < 2 * cells; ++i) taken += f.put(2500) == Post::ok;
    EXPECT_GT(taken, 0u);
    EXPECT_LT(taken, cells) << "no cell is left for a piece";
    f.rail.room = 1 << 20;
    f.poll();
    f.complete_all();
    EXPECT_EQ(f.context->pending(), 0u);
    EXPECT_EQ(f.initiator->outstanding(), 0u);
    EXPECT_EQ(f.rail.posted.size(), 3 * taken);
  }
}

TEST(Initiator, CopiedSourceMayChange) {
  InitiatorRig f;
  f.rail.room = 0;
  EXPECT_EQ(issue(*f.initiator, f.put_of(1000, 3, Local::copied)), Post::again);
  EXPECT_EQ(f.initiator->outstanding(), 0u) << "nothing happened";
  EXPECT_EQ(f.context->pending(), 0u);
  f.rail.room = 1;
  EXPECT_EQ(issue(*f.initiator, f.put_of(1000, 3, Local::copied)), Post::ok);
  EXPECT_NE(f.rail.posted[0].local, f.bytes.data());
  EXPECT_EQ(f.rail.posted[0].bytes[999], f.bytes[999]);
}

TEST(Initiator, SmallPutSignalIsOneMessage) {
  InitiatorRig f;
  bool done = false;
  ASSERT_EQ(f.put_signal(8, 3, {&done}), Post::ok);  // 56 + 8 = what the rail copies: no event
  EXPECT_TRUE(done);
  ASSERT_EQ(f.rail.posted.size(), 1u);
  EXPECT_EQ(f.rail.posted[0].slot, nullptr);
  EXPECT_EQ(f.context->peer(3).messages, 1u);
  ASSERT_EQ(f.put_signal(4040), Post::ok);
  EXPECT_EQ(f.rail.posted[1].nbytes, 4096u);
  ASSERT_NE(f.rail.posted[1].slot, nullptr);
  f.acknowledge(2);  // the answer may overtake the completion of the send
  EXPECT_EQ(f.initiator->outstanding(), 1u) << "the first one's cell is free, the second's still has its event to come";
  f.rail.complete(f.rail.posted[1].slot);
  f.poll();
  EXPECT_EQ(f.context->pending(), 0u);
  EXPECT_EQ(f.initiator->outstanding(), 0u);
}

TEST(Initiator, RequestsAreNumberedPerTargetAndKeepTheirCellsUntilAnswered) {
  InitiatorRig f;
  for (const int pe : {3, 3, 2, 3}) ASSERT_EQ(f.add(pe), Post::ok);
  const uint32_t expected[] = {0, 1, 0, 2};
  for (size_t i = 0; i < 4; ++i) {
    const auto message = read_message<AmoMessage>(f.rail.posted[i].bytes.data());
    EXPECT_EQ(message.header.sequence, expected[i]);
    EXPECT_EQ(message.header.answer, Answer::acknowledge);
  }
  EXPECT_EQ(f.initiator->outstanding(), 4u);
  f.acknowledge(1, 0b10);  // number 0, and 3, which was never sent: no harm; not 1
  EXPECT_EQ(f.context->peer(3).messages, 2u);
  f.acknowledge(1, 0b1);  // number 2 has overtaken 1
  EXPECT_EQ(f.context->peer(3).messages, 1u);
  f.acknowledge(0);  // an old one comes late
  EXPECT_EQ(f.context->peer(3).messages, 1u);
  f.acknowledge(3);
  EXPECT_EQ(f.context->peer(3).messages, 0u);
  EXPECT_EQ(f.context->peer(2).messages, 1u) << "another PE's are its own";
  f.acknowledge(1, 0, 2);
  EXPECT_EQ(f.context->pending(), 0u);
  EXPECT_EQ(f.initiator->outstanding(), 0u);
}

TEST(Initiator, SignalWaitsForAllPiecesOfItsData) {
  InitiatorRig f({.shape = {64, 3000, 4096, false}});
  bool done = false;
  ASSERT_EQ(f.put_signal(9000, 3, {&done}), Post::ok);
  EXPECT_EQ(f.rail.count('w'), 3);
  EXPECT_TRUE(f.initiator->needs_polling());
  f.rail.complete(f.rail.posted[1].slot);
  f.rail.complete(f.rail.posted[2].slot);
  f.poll();
  EXPECT_EQ(f.rail.count('s'), 0);
  f.rail.room = 0;  // no room when the data is there: the signal is kept
  f.rail.complete(f.rail.posted[0].slot);
  f.poll();
  EXPECT_TRUE(done) << "the source is free";
  EXPECT_EQ(f.rail.count('s'), 0);
  EXPECT_EQ(f.context->peer(3).messages, 1u);
  f.rail.room = 10;
  f.poll();
  EXPECT_EQ(f.rail.count('s'), 1);
  f.poll();
  EXPECT_EQ(f.rail.count('s'), 1) << "exactly once";
  f.acknowledge(1);
  EXPECT_EQ(f.context->pending(), 0u);
  EXPECT_EQ(f.initiator->outstanding(), 0u);
  EXPECT_FALSE(f.initiator->needs_polling());
}

TEST(Initiator, SignalFollowsAtOnceWhereTheRailKeepsOrder) {
  InitiatorRig f({.shape = {64, 1 << 20, 4096, true}});
  ASSERT_EQ(f.put_signal(9000), Post::ok);
  ASSERT_EQ(f.rail.posted.size(), 2u);
  EXPECT_EQ(f.rail.posted[0].what, 'w');
  EXPECT_EQ(f.rail.posted[1].what, 's');
  f.acknowledge(1);  // before the write's own event: the data is there, but the source is not free yet
  EXPECT_EQ(f.initiator->outstanding(), 1u);
  f.complete_all();
  EXPECT_EQ(f.rail.count('s'), 1);
  EXPECT_EQ(f.context->pending(), 0u);
  EXPECT_EQ(f.initiator->outstanding(), 0u);
}

/// The pieces may find no room until long after the call, so the signal cannot be posted behind them at once.
TEST(Initiator, SignalOfACutPutWaitsEvenWhereTheRailKeepsOrder) {
  InitiatorRig f({.shape = {64, 3000, 4096, true}});
  f.rail.room = 1;
  ASSERT_EQ(f.put_signal(9000), Post::ok);
  f.rail.room = 100;
  f.poll();
  EXPECT_EQ(f.rail.count('w'), 3);
  EXPECT_EQ(f.rail.count('s'), 0);
  f.complete_all();
  EXPECT_EQ(f.rail.count('s'), 1);
  EXPECT_EQ(f.rail.posted.back().what, 's');
}

TEST(Initiator, EveryCellMayHoldADeferredSignalOfARailThatCopiesNothing) {
  InitiatorRig f({.shape = {0, 1 << 20, 4096, false}, .cells = 4});
  for (int i = 0; i < 4; ++i) ASSERT_EQ(f.put_signal(5000), Post::ok);
  EXPECT_EQ(f.put_signal(5000), Post::again);
  f.rail.complete_all_writes();
  f.poll();
  EXPECT_EQ(f.rail.count('s'), 4) << "each signal leaves from its own cell";
}

TEST(Initiator, SeveralRepliesMayShareAMessage) {
  InitiatorRig f;
  uint64_t fetched[3] = {};
  for (uint64_t& to : fetched) ASSERT_EQ(f.amo({AmoOp::fetch_add, 8, 1, 0}, &to), Post::ok);
  struct {
    MessageHeader header;
    ReplyItem items[4];
  } message{};
  message.header.kind = MessageKind::replies;
  message.header.pe = 3;
  message.header.cell = 4;
  for (uint32_t i = 0; i < 3; ++i) {
    const auto asked = read_message<MessageHeader>(f.rail.posted[i].bytes.data());
    message.items[2 - i] = {asked.cell, asked.sequence, 100 + i};
  }
  message.items[3] = message.items[0];  // a request that was sent twice
  f.rail.deliver(message);
  f.poll_all();
  for (uint64_t i = 0; i < 3; ++i) EXPECT_EQ(fetched[i], 100 + i);
  EXPECT_EQ(f.context->pending(), 0u);
}

TEST(Initiator, FetchedValueArrivesWithItsWidth) {
  InitiatorRig f;
  uint64_t value = ~uint64_t{0};
  ASSERT_EQ(f.amo({AmoOp::fetch_add, 4, 1, 0}, &value), Post::ok);
  const auto asked = read_message<AmoMessage>(f.rail.posted[0].bytes.data());
  EXPECT_EQ(asked.header.answer, Answer::reply);
  f.acknowledge(1);
  EXPECT_EQ(f.context->pending(), 1u) << "an acknowledgement brings no value";
  f.reply(asked.header, 0x1122334455);
  EXPECT_EQ(value, 0xffffffff22334455u);
  EXPECT_EQ(f.context->pending(), 0u);
  EXPECT_EQ(f.initiator->outstanding(), 0u);
  EXPECT_EQ(f.rail.released, 2);
}

TEST(Initiator, SecondReplyToOneRequestChangesNothing) {
  InitiatorRig f;
  uint64_t values[2] = {};
  const NetAmo fetch_add{AmoOp::fetch_add, 8, 1, 0};
  ASSERT_EQ(f.amo(fetch_add, &values[0]), Post::ok);
  const auto first = read_message<AmoMessage>(f.rail.posted[0].bytes.data());
  f.reply(first.header, 5);
  f.reply(first.header, 6);
  EXPECT_EQ(values[0], 5u);
  ASSERT_EQ(f.amo(fetch_add, &values[1]), Post::ok);
  const auto second = read_message<AmoMessage>(f.rail.posted[1].bytes.data());
  ASSERT_EQ(second.header.cell, first.header.cell) << "the test wants the same cell again";
  f.reply(first.header, 7);
  EXPECT_EQ(values[1], 0u) << "the late one is for the cell's former owner";
  f.reply(second.header, 8);
  EXPECT_EQ(values[0], 5u);
  EXPECT_EQ(values[1], 8u);
  EXPECT_EQ(f.context->pending(), 0u);
}

TEST(Initiator, UnansweredRequestsAreBoundedPerTarget) {
  InitiatorRig f({.cells = 2 * kWindow});
  for (uint32_t i = 0; i < kWindow; ++i) ASSERT_EQ(f.add(), Post::ok);
  EXPECT_EQ(f.add(), Post::again);
  EXPECT_EQ(f.put_signal(8), Post::again);
  EXPECT_EQ(f.put_signal(0), Post::again);
  EXPECT_EQ(f.put_signal(5000), Post::again) << "its signal would have to wait behind others";
  EXPECT_EQ(f.put(8), Post::ok) << "puts are no requests";
  EXPECT_EQ(f.add(2), Post::ok) << "another target";
  EXPECT_NE(f.initiator->describe_outstanding().find("257 atomics or signals unanswered, 1 of them by PE 2"),
            std::string::npos)
      << f.initiator->describe_outstanding();
  f.acknowledge(1, ~uint64_t{0} << 1);  // all but number 1 of the first 66: the window begins there
  ASSERT_EQ(f.add(), Post::ok);
  EXPECT_EQ(f.add(), Post::again) << "number 1 is unanswered";
  f.acknowledge(66);
  EXPECT_EQ(f.add(), Post::ok);
}

TEST(Initiator, FlagOverOneRailIsNotAnswered) {
  InitiatorRig f;
  ASSERT_EQ(f.initiator->flag({3, SegmentId::heap, 8}, 7), Post::ok);
  const auto message = read_message<FlagMessage>(f.rail.posted[0].bytes.data());
  EXPECT_EQ(message.header.answer, Answer::none);
  EXPECT_EQ(f.context->pending(), 0u);
  EXPECT_EQ(f.initiator->outstanding(), 1u) << "until the provider has taken it over";
  f.complete_all();
  EXPECT_EQ(f.initiator->outstanding(), 0u);
  ASSERT_EQ(f.add(), Post::ok);
  EXPECT_EQ(read_message<AmoMessage>(f.rail.posted[1].bytes.data()).header.sequence, 0u) << "a flag has no number";
}

TEST(Initiator, ScopesAreReusedAndCountApart) {
  InitiatorRig f;
  NetContext& other = f.initiator->add_context();
  Op put = f.put_of(8);
  put.context = &other;
  ASSERT_EQ(issue(*f.initiator, put), Post::ok);
  EXPECT_EQ(f.context->pending(), 0u);
  EXPECT_EQ(other.pending(), 1u);
  f.complete_all();
  const uint16_t id = other.id;
  f.initiator->drop_context(other);
  EXPECT_EQ(f.initiator->add_context().id, id);
}

// ---- fence ---------------------------------------------------------------------------------------------------------

TEST(Initiator, FenceHoldsBackItsOwnTargetAndScopeOnly) {
  InitiatorRig f;
  NetContext& other = f.initiator->add_context();
  ASSERT_EQ(f.put(8, 3), Post::ok);
  for (const OpKind kind : {OpKind::put, OpKind::amo}) EXPECT_TRUE(f.in_order(kind, 3));
  ++f.context->fences;
  for (const OpKind kind : {OpKind::put, OpKind::amo, OpKind::put_signal}) {
    EXPECT_FALSE(f.in_order(kind, 3)) << "this rail keeps no order";
    EXPECT_TRUE(f.in_order(kind, 2)) << "nothing is pending there";
    EXPECT_TRUE(f.in_order(kind, 3, &other)) << "another context's fence";
  }
  f.complete_all();
  EXPECT_TRUE(f.in_order(OpKind::put, 3));
  ASSERT_EQ(f.put(8, 3), Post::ok);
  EXPECT_TRUE(f.in_order(OpKind::put, 3)) << "both are behind the fence";
}

TEST(Initiator, FenceWaitsForUnansweredRequestsButNotForGets) {
  InitiatorRig f({.shape = {64, 1 << 20, 4096, true, true}});
  ASSERT_EQ(issue(*f.initiator, get_op(*f.context, {3, SegmentId::heap, 0}, f.bytes.data(), 8, Local::lent)), Post::ok);
  ++f.context->fences;
  EXPECT_TRUE(f.in_order(OpKind::put, 3));
  ASSERT_EQ(f.add(), Post::ok);
  ++f.context->fences;
  EXPECT_FALSE(f.in_order(OpKind::put, 3)) << "a write may overtake what the target executes";
  f.acknowledge(1);
  EXPECT_TRUE(f.in_order(OpKind::put, 3));
}

TEST(Initiator, SingleRailThatKeepsOrderNeedsNoWaitBehindAFence) {
  InitiatorRig both({.shape = {64, 1 << 20, 4096, true, true}});
  ASSERT_EQ(both.put(8), Post::ok);
  ++both.context->fences;
  EXPECT_TRUE(both.in_order(OpKind::put, 3));
  EXPECT_TRUE(both.in_order(OpKind::amo, 3));

  InitiatorRig messages({.shape = {64, 1 << 20, 4096, true, false}});
  ASSERT_EQ(messages.put(8), Post::ok);
  ++messages.context->fences;
  EXPECT_TRUE(messages.in_order(OpKind::put_signal, 3)) << "messages stay behind data";
  EXPECT_FALSE(messages.in_order(OpKind::put, 3)) << "another write does not";
  messages.complete_all();
  EXPECT_TRUE(messages.in_order(OpKind::put, 3));
}

// ---- failures ------------------------------------------------------------------------------------------------------

TEST(Initiator, NothingIsWaitedForOnceAFailureIsIgnored) {
  InitiatorRig f;
  bool done = false;
  ASSERT_EQ(f.put(8, 3, {&done}), Post::ok);
  ASSERT_EQ(f.add(), Post::ok);
  f.initiator->ignore_failures();
  f.rail.events.push_back({RailEvent::Kind::failed, -5, nullptr, nullptr, 0, nullptr});
  f.rail.complete(f.rail.posted[0].slot);  // a late event of an operation given up
  f.poll();
  f.acknowledge(1);  // a late answer
  EXPECT_TRUE(done);
  EXPECT_EQ(f.context->pending(), 0u);
  EXPECT_EQ(f.initiator->outstanding(), 0u);
  EXPECT_EQ(f.put(8), Post::failed);
  EXPECT_EQ(f.add(), Post::failed);
  EXPECT_EQ(f.put_signal(8), Post::failed);
  EXPECT_EQ(f.initiator->outstanding(), 0u);
}

/// An earlier write fails, which a batch held back until now.
TEST(Initiator, OperationBehindACoalescedWriteThatFailedIsGivenUpToo) {
  const auto after = [](auto&& post, const char* what) {
    SCOPED_TRACE(what);
    InitiatorRig f;
    ASSERT_EQ(hold(*f.initiator, f.put_of(8)), Post::ok);
    f.initiator->ignore_failures();
    f.rail.failing = 1;
    EXPECT_EQ(post(f), Post::failed);
    f.poll();
    f.complete_all();
    EXPECT_EQ(f.posted(), 0u) << "nothing goes out any more";
    EXPECT_EQ(f.context->pending(), 0u);
    EXPECT_EQ(f.initiator->outstanding(), 0u);
    EXPECT_FALSE(f.initiator->needs_polling());
  };
  after([](InitiatorRig& f) { return f.put(8); }, "a put");
  after([](InitiatorRig& f) { return f.put(20 << 10); }, "a longer put");
  after([](InitiatorRig& f) { return f.put_signal(8); }, "a small put with signal");
  after([](InitiatorRig& f) { return f.put_signal(5000); }, "a put with signal");
  after([](InitiatorRig& f) { return f.add(); }, "an atomic");
  after([](InitiatorRig& f) { return f.initiator->flag({3, SegmentId::heap, 0}, 1); }, "a flag");
  after([](InitiatorRig& f) { return hold(*f.initiator, f.put_of(8)); }, "the next of the batch");
}

TEST(Initiator, RailWithTinyMessagesIsRefused) {
  ScriptedRail rail;
  rail.shape.max_message = 48;
  EXPECT_THROW(Initiator<ScriptedRail>(std::span(&rail, 1), InitiatorConfig{Port::host, 0, 2, 8, {}}), Error);
}

}  // namespace
}  // namespace railshmem::test
