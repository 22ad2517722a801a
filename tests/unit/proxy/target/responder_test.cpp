// SPDX-License-Identifier: BSD-3-Clause
#include "src/proxy/target/responder.h"

#include <gtest/gtest.h>

#include <array>

#include "tests/support/issue.h"
#include "tests/support/scripted_rail.h"

namespace railshmem::test {
namespace {

struct Fixture {
  explicit Fixture(size_t count = 1) : rails(count) {
    initiator.emplace(std::span(rails), InitiatorConfig{Port::proxy, 1, 4, 8, {}});
    const Segment segments[] = {{SegmentId::heap, reinterpret_cast<std::byte*>(memory.data()), sizeof memory}};
    responder.emplace(*initiator, segments, 4);
  }
  template <class M>
  void execute(const M& message, size_t r = 0) {
    responder->execute(r, reinterpret_cast<const std::byte*>(&message), sizeof message);
  }
  static MessageHeader header(MessageKind kind, int pe, uint32_t sequence = 0, Port port = Port::host) {
    return {kind, 0, 8, Answer::acknowledge, port, SegmentId::heap, 0, pe, kNoCell, sequence, 0};
  }
  static AmoMessage add(int pe, uint32_t sequence, Port port = Port::host, uint64_t offset = 0) {
    AmoMessage message{header(MessageKind::amo, pe, sequence, port), offset, 1, 0};
    message.header.op = static_cast<uint8_t>(AmoOp::add);
    return message;
  }
  static AmoMessage fetch_add(int pe, uint32_t sequence, uint32_t cell) {
    AmoMessage message = add(pe, sequence);
    message.header.op = static_cast<uint8_t>(AmoOp::fetch_add);
    message.header.answer = Answer::reply;
    message.header.cell = cell;
    return message;
  }
  template <class M>
  M sent(size_t i, size_t r = 0) {
    EXPECT_EQ(rails[r].posted.at(i).bytes.size(), sizeof(M));
    return read_message<M>(rails[r].posted.at(i).bytes.data());
  }

  /// The answers in post i, a message of one or several answers; none where it is another message.
  std::vector<ReplyItem> replies(size_t i) const {
    const std::vector<std::byte>& bytes = rails[0].posted.at(i).bytes;
    const auto h = read_message<MessageHeader>(bytes.data());
    if (h.kind == MessageKind::reply) return {{h.cell, h.sequence, read_message<ReplyMessage>(bytes.data()).value}};
    std::vector<ReplyItem> items(h.kind == MessageKind::replies ? h.cell : 0);
    EXPECT_TRUE(items.empty() || bytes.size() == sizeof h + items.size() * sizeof(ReplyItem));
    if (!items.empty()) std::memcpy(items.data(), bytes.data() + sizeof h, items.size() * sizeof(ReplyItem));
    return items;
  }
  /// Buffers of messages are free again.
  void complete_all() {
    for (; completed < rail.posted.size(); ++completed)
      if (OpSlot* const slot = rail.posted[completed].slot) rail.complete(slot);
    for (int i = 0; i < 64; ++i) initiator->poll([](size_t, const std::byte*, size_t) {});
  }
  size_t completed = 0;
  /// Takes all cells, by writes that never complete.
  void take_all_cells() {
    NetContext& context = initiator->add_context();
    const Op put = put_op(context, {2, SegmentId::heap, 0}, memory.data(), 128, Local::lent);
    while (issue(*initiator, put) == Post::ok) {
    }
  }

  std::array<uint64_t, 16> memory{};
  std::vector<ScriptedRail> rails;
  ScriptedRail& rail = rails[0];
  std::optional<Initiator<ScriptedRail>> initiator;
  std::optional<Responder<ScriptedRail>> responder;
};

TEST(Responder, AcknowledgementsOfOnePassAreOneMessagePerSource) {
  Fixture f;
  for (uint32_t i = 0; i < 5; ++i) f.execute(f.add(2, i));
  for (uint32_t i = 0; i < 3; ++i) f.execute(f.add(3, i));
  for (uint32_t i = 0; i < 2; ++i) f.execute(f.add(2, i, Port::proxy));
  EXPECT_EQ(f.memory[0], 10u) << "the two endpoints of a PE count apart";
  EXPECT_TRUE(f.rail.posted.empty()) << "collected, not sent";
  EXPECT_TRUE(f.responder->flush());
  ASSERT_EQ(f.rail.posted.size(), 3u);
  const auto first = f.sent<AcknowledgeMessage>(0);
  EXPECT_EQ(first.header.kind, MessageKind::acknowledge);
  EXPECT_EQ(first.header.pe, 1) << "who answers";
  EXPECT_EQ(first.header.sequence, 5u) << "the first number that is missing";
  EXPECT_EQ(first.executed, 0u);
  EXPECT_EQ(f.rail.posted[0].to.pe, 2);
  EXPECT_EQ(f.rail.posted[0].to.port, Port::host);
  EXPECT_EQ(f.rail.posted[2].to.port, Port::proxy);
  EXPECT_FALSE(f.responder->owes_answers());
}

TEST(Responder, RepeatedRequestIsAnsweredAgainButNotExecuted) {
  Fixture f(2);
  f.execute(f.add(2, 0), 0);
  f.execute(f.add(2, 0), 1);
  EXPECT_EQ(f.memory[0], 1u);
  f.responder->flush();
  f.execute(f.add(2, 0), 1);
  f.responder->flush();
  EXPECT_EQ(f.memory[0], 1u);
  ASSERT_EQ(f.rails[0].posted.size(), 1u);
  ASSERT_EQ(f.rails[1].posted.size(), 1u) << "over the rail that it came from";
  EXPECT_EQ(f.sent<AcknowledgeMessage>(0, 1).header.sequence, 1u);
}

TEST(Responder, RepeatedFetchBringsTheFirstValue) {
  Fixture f(2);
  f.execute(f.fetch_add(2, 0, 5), 0);
  for (uint32_t i = 1; i < 4; ++i) f.execute(f.add(2, i), 0);
  f.execute(f.fetch_add(2, 0, 5), 1);
  f.responder->flush();
  EXPECT_EQ(f.memory[0], 4u);
  EXPECT_EQ(f.sent<ReplyMessage>(0, 0).value, 0u);
  const auto again = f.sent<ReplyMessage>(0, 1);
  EXPECT_EQ(again.value, 0u) << "not what the word holds by now";
  EXPECT_EQ(again.header.cell, 5u);
  EXPECT_EQ(again.header.sequence, 0u);
}

TEST(Responder, RequestsThatOvertakeAreAcknowledgedByTheirBits) {
  Fixture f;
  for (const uint32_t sequence : {1u, 3u, 64u, 65u}) f.execute(f.add(2, sequence));
  f.responder->flush();
  const auto gaps = f.sent<AcknowledgeMessage>(0);
  EXPECT_EQ(gaps.header.sequence, 0u);
  EXPECT_EQ(gaps.executed, 1u | 1u << 2 | uint64_t{1} << 63) << "65 is beyond what an acknowledgement says";
  for (const uint32_t sequence : {0u, 2u}) f.execute(f.add(2, sequence));
  f.responder->flush();
  const auto later = f.sent<AcknowledgeMessage>(1);
  EXPECT_EQ(later.header.sequence, 4u);
  EXPECT_EQ(later.executed, uint64_t{0b11} << 59);
  EXPECT_EQ(f.memory[0], 6u);
}

TEST(Responder, AnswersSurviveALackOfRoom) {
  Fixture f;
  f.rail.room = 0;
  f.execute(f.fetch_add(2, 0, 77));
  for (uint32_t i = 0; i < 3; ++i) f.execute(f.add(3, i));
  EXPECT_FALSE(f.responder->flush());
  f.execute(f.add(3, 3));  // joins what is still owed
  EXPECT_TRUE(f.responder->owes_answers());
  f.rail.room = 10;
  f.responder->flush();
  ASSERT_EQ(f.rail.posted.size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    if (f.rail.posted[i].to.pe == 2) {
      const auto reply = f.sent<ReplyMessage>(i);
      EXPECT_EQ(reply.header.cell, 77u);
      EXPECT_EQ(reply.value, 0u);
    } else {
      EXPECT_EQ(f.sent<AcknowledgeMessage>(i).header.sequence, 4u) << "what is true when it is sent";
    }
  }
}

TEST(Responder, QueueGrowsUnderAStorm) {
  Fixture f;
  f.rail.room = 0;
  for (uint32_t i = 0; i < 5000; ++i) {
    f.execute(f.fetch_add(2, i, i));
    if (i % 7 == 0) f.responder->flush();  // moves the head around the ring
  }
  f.rail.room = 1 << 30;
  while (f.responder->owes_answers()) {
    f.responder->flush();
    f.complete_all();
  }
  EXPECT_LT(f.rail.posted.size(), 5000u / 4) << "many in one message, as long as there are buffers";
  std::vector<bool> seen(5000);
  size_t told = 0;
  for (size_t i = 0; i < f.rail.posted.size(); ++i)
    for (const ReplyItem& reply : f.replies(i)) {
      EXPECT_EQ(reply.value, reply.cell);
      EXPECT_EQ(reply.sequence, reply.cell);
      EXPECT_FALSE(seen[reply.cell]);
      seen[reply.cell] = true;
      ++told;
    }
  EXPECT_EQ(told, 5000u);
}

TEST(Responder, RepliesToOneEndpointShareAMessage) {
  Fixture f;
  for (uint32_t i = 0; i < 3; ++i) {
    f.execute(f.fetch_add(2, i, 10 + i));
    f.execute(f.fetch_add(3, i, 20 + i));
    f.execute(f.add(2, 3 + i));  // an acknowledgement, between
  }
  f.responder->flush();
  EXPECT_FALSE(f.responder->owes_answers());
  std::vector<uint32_t> of_two, of_three;
  for (size_t i = 0; i < f.rail.posted.size(); ++i)
    for (const ReplyItem& reply : f.replies(i)) (f.rail.posted[i].to.pe == 2 ? of_two : of_three).push_back(reply.cell);
  EXPECT_EQ(of_two, (std::vector<uint32_t>{10, 11, 12}));
  EXPECT_EQ(of_three, (std::vector<uint32_t>{20, 21, 22}));
  EXPECT_EQ(f.rail.posted.size(), 3u) << "two messages of replies, one of acknowledgement";
}

TEST(Responder, RepliesGoOneByOneWhereNoBufferIsFree) {
  Fixture f;
  f.take_all_cells();
  for (uint32_t i = 0; i < 8; ++i) f.execute(f.fetch_add(2, i, i));
  while (f.responder->owes_answers()) ASSERT_TRUE(f.responder->flush());
  size_t told = 0;
  for (size_t i = 0; i < f.rail.posted.size(); ++i) {
    if (f.rail.posted[i].what != 's') continue;
    EXPECT_LE(f.rail.posted[i].bytes.size(), f.rail.shape.inject);
    told += f.replies(i).size();
  }
  EXPECT_EQ(told, 8u);
}

TEST(Responder, PayloadIsStoredBeforeTheSignal) {
  Fixture f;
  struct {
    PutSignalMessage message;
    uint64_t payload[2];
  } wire{};
  wire.message = {Fixture::header(MessageKind::put_signal, 2), 8, 5, 16, 16, SegmentId::heap, {}};
  wire.payload[0] = 11;
  wire.payload[1] = 12;
  f.execute(wire);
  EXPECT_EQ(f.memory[1], 5u);
  EXPECT_EQ(f.memory[2], 11u);
  EXPECT_EQ(f.memory[3], 12u);
}

TEST(Responder, FlagThatIsNotNumberedIsNotAnswered) {
  Fixture f;
  FlagMessage flag{Fixture::header(MessageKind::flag, 3), 24, 9};
  flag.header.answer = Answer::none;
  f.execute(flag);
  EXPECT_EQ(f.memory[3], 9u);
  EXPECT_FALSE(f.responder->owes_answers());
  flag.header.answer = Answer::acknowledge;
  flag.value = 10;
  f.execute(flag);
  f.execute(flag);
  EXPECT_EQ(f.memory[3], 10u);
  f.responder->flush();
  EXPECT_EQ(f.sent<AcknowledgeMessage>(0).header.sequence, 1u);
}

}  // namespace
}  // namespace railshmem::test
