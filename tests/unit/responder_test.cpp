// SPDX-License-Identifier: BSD-3-Clause
#include "src/proxy/responder.h"

#include <gtest/gtest.h>

#include <array>

#include "tests/support/scripted_rail.h"

namespace railshmem::test {
namespace {

struct Fixture {
  Fixture() {
    const Segment segments[] = {{SegmentId::heap, reinterpret_cast<std::byte*>(memory.data()), sizeof memory}};
    responder.emplace(initiator, segments, 4);
  }
  template <class M>
  void execute(const M& message) {
    responder->execute(reinterpret_cast<const std::byte*>(&message), sizeof message);
  }
  static MessageHeader header(MessageKind kind, int pe, uint16_t scope = 0, Port port = Port::host) {
    return {kind, 0, 8, Answer::acknowledge, port, SegmentId::heap, scope, pe, kNoCell};
  }
  AmoMessage add(int pe, uint16_t scope = 0, Port port = Port::host, uint64_t offset = 0) {
    AmoMessage message{header(MessageKind::amo, pe, scope, port), offset, 1, 0};
    message.header.op = static_cast<uint8_t>(AmoOp::add);
    return message;
  }

  std::array<uint64_t, 16> memory{};
  ScriptedRail rail;
  Initiator<ScriptedRail> initiator{rail, InitiatorConfig{Port::proxy, 1, 4, 8, {}}};
  std::optional<Responder<ScriptedRail>> responder;
};

TEST(Responder, AcknowledgementsOfOnePassAreOneMessagePerSourceAndScope) {
  Fixture f;
  for (int i = 0; i < 5; ++i) f.execute(f.add(2));
  for (int i = 0; i < 3; ++i) f.execute(f.add(3));
  for (int i = 0; i < 2; ++i) f.execute(f.add(2, 0, Port::proxy));
  EXPECT_EQ(f.memory[0], 10u);
  EXPECT_TRUE(f.rail.posted.empty()) << "collected, not sent";
  EXPECT_TRUE(f.responder->flush());
  ASSERT_EQ(f.rail.posted.size(), 3u);
  const auto first = read_message<AcknowledgeMessage>(f.rail.posted[0].bytes.data());
  EXPECT_EQ(first.header.kind, MessageKind::acknowledge);
  EXPECT_EQ(first.header.pe, 1) << "who answers";
  EXPECT_EQ(first.count, 5u);
  EXPECT_EQ(f.rail.posted[0].to.pe, 2);
  EXPECT_EQ(f.rail.posted[0].to.port, Port::host);
  EXPECT_EQ(f.rail.posted[2].to.port, Port::proxy);
  f.execute(f.add(2, 0));
  f.execute(f.add(2, 7));
  f.responder->flush();
  EXPECT_EQ(f.rail.posted.size(), 5u) << "scopes are counted apart";
  EXPECT_FALSE(f.responder->owes_answers());
}

TEST(Responder, AnswersSurviveALackOfRoom) {
  Fixture f;
  f.rail.room = 0;
  AmoMessage fetch = f.add(2);
  fetch.header.op = static_cast<uint8_t>(AmoOp::fetch_add);
  fetch.header.answer = Answer::reply;
  fetch.header.cell = 77;
  f.execute(fetch);
  for (int i = 0; i < 3; ++i) f.execute(f.add(3));
  EXPECT_FALSE(f.responder->flush());
  f.execute(f.add(3));  // joins what is still owed
  EXPECT_TRUE(f.responder->owes_answers());
  f.rail.room = 10;
  f.responder->flush();
  ASSERT_EQ(f.rail.posted.size(), 2u);
  for (const auto& p : f.rail.posted) {
    if (p.to.pe == 2) {
      const auto reply = read_message<ReplyMessage>(p.bytes.data());
      EXPECT_EQ(reply.header.cell, 77u);
      EXPECT_EQ(reply.value, 0u);
    } else {
      EXPECT_EQ(read_message<AcknowledgeMessage>(p.bytes.data()).count, 4u);
    }
  }
}

TEST(Responder, QueueGrowsUnderAStorm) {
  Fixture f;
  f.rail.room = 0;
  AmoMessage fetch = f.add(2);
  fetch.header.op = static_cast<uint8_t>(AmoOp::fetch_add);
  fetch.header.answer = Answer::reply;
  for (uint32_t i = 0; i < 5000; ++i) {
    fetch.header.cell = i;
    f.execute(fetch);
    if (i % 7 == 0) f.responder->flush();  // moves the head around the ring
  }
  f.rail.room = 1 << 30;
  while (f.responder->owes_answers()) f.responder->flush();
  ASSERT_EQ(f.rail.posted.size(), 5000u);
  std::vector<bool> seen(5000);
  for (const auto& p : f.rail.posted) {
    const auto reply = read_message<ReplyMessage>(p.bytes.data());
    EXPECT_EQ(reply.value, reply.header.cell);
    EXPECT_FALSE(seen[reply.header.cell]);
    seen[reply.header.cell] = true;
  }
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

TEST(Responder, FlagIsNotAnswered) {
  Fixture f;
  FlagMessage flag{Fixture::header(MessageKind::flag, 3), 24, 9};
  flag.header.answer = Answer::none;
  f.execute(flag);
  EXPECT_EQ(f.memory[3], 9u);
  EXPECT_FALSE(f.responder->owes_answers());
}

class ResponderDeathTest : public testing::Test {
 protected:
  ResponderDeathTest() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(ResponderDeathTest, BadRangesAreNamed) {
  Fixture f;
  const auto exits = testing::ExitedWithCode(1);
  EXPECT_EXIT(f.execute(f.add(2, 0, Port::host, 128)), exits, "atomic operation from PE 2: 8 bytes at offset 128 are outside");
  EXPECT_EXIT(f.execute(f.add(2, 0, Port::host, 121)), exits, "outside this PE's heap segment of 128 bytes");
  EXPECT_EXIT(f.execute(f.add(2, 0, Port::host, ~uint64_t{0})), exits, "outside");
  EXPECT_EXIT(f.execute(f.add(2, 0, Port::host, 4)), exits, "offset 4 is not aligned");
  AmoMessage data = f.add(2);
  data.header.segment = SegmentId::data;
  EXPECT_EXIT(f.execute(data), exits, "data segment of 0 bytes");
  data.header.segment = static_cast<SegmentId>(200);
  EXPECT_EXIT(f.execute(data), exits, "outside");
}

TEST_F(ResponderDeathTest, ForeignMessagesAreRefused) {
  Fixture f;
  const auto exits = testing::ExitedWithCode(1);
  const auto header = Fixture::header(MessageKind::amo, 2);
  EXPECT_EXIT(f.execute(header), exits, "a message of 16 bytes over scripted is none of ours");
  EXPECT_EXIT(f.execute(Fixture::header(static_cast<MessageKind>(99), 2)), exits, "none of ours");
  EXPECT_EXIT(f.execute(f.add(4)), exits, "none of ours");
  PutSignalMessage lying{Fixture::header(MessageKind::put_signal, 2), 8, 5, 16, 16, SegmentId::heap, {}};
  EXPECT_EXIT(f.execute(lying), exits, "a message of 48 bytes");
}

}  // namespace
}  // namespace railshmem::test
