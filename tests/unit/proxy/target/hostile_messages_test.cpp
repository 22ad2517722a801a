// SPDX-License-Identifier: BSD-3-Clause
// Whatever a peer's or a stranger's message says, it harms nothing: this PE drops and counts what is not plausible.
// With sanitizers these tests also see what would be read or written beyond its bounds.
#include <gtest/gtest.h>

#include <array>
#include <random>

#include "src/base/log.h"
#include "src/proxy/host_side.h"
#include "tests/support/hostile_rig.h"
#include "tests/support/staged_rig.h"

namespace railshmem::test {
namespace {

const NetAmo kAdding{AmoOp::add, 8, 1, 0};
const NetAmo kFetching{AmoOp::fetch_add, 8, 1, 0};

TEST(HostileMessages, MessageOfTheJobIsExecuted) {
  HostileRig rig;
  rig.deliver(HostileRig::add(16));
  EXPECT_EQ(rig.heap[2], 1u);
  EXPECT_EQ(rig.dropped(), 0u);
  ASSERT_EQ(rig.rails[0].posted.size(), 1u);
  EXPECT_EQ(read_message<MessageHeader>(rig.rails[0].posted[0].bytes.data()).nonce(), HostileRig::kNonce);
}

TEST(HostileMessages, StrangersAndOldJobsExecuteNothing) {
  HostileRig rig;
  AmoMessage stranger = HostileRig::add();
  stranger.header.nonce_low = 0;
  stranger.header.nonce_high = 0;
  rig.deliver(stranger);
  stranger = HostileRig::add();
  stranger.header.nonce_high ^= 1;
  rig.deliver(stranger);
  rig.deliver_bytes({});
  rig.deliver_bytes(std::vector<std::byte>(23));
  rig.deliver_bytes(std::vector<std::byte>(5000, std::byte{0xff}));
  EXPECT_EQ(rig.dropped(), 5u);
  EXPECT_TRUE(rig.untouched());
  EXPECT_TRUE(rig.rails[0].posted.empty()) << "nobody gets an answer";
  EXPECT_FALSE(rig.responder->owes_answers());
}

TEST(HostileMessages, AnswerOfAPeThatTheJobDoesNotHaveIsDropped) {
  HostileRig rig(2);  // several rails remember when they heard of which PE
  AcknowledgeMessage message{HostileRig::header(MessageKind::acknowledge), 0};
  for (const int pe : {4, 1 << 20, -1}) {
    message.header.pe = pe;
    rig.deliver(message);
  }
  EXPECT_EQ(rig.dropped(), 3u);
}

TEST(HostileMessages, AnswerToACellThatDoesNotExistIsDropped) {
  HostileRig rig;
  ReplyMessage reply{HostileRig::header(MessageKind::reply), 1};
  MessageHeader data = HostileRig::header(MessageKind::data);
  for (const uint32_t cell : {HostileRig::kCells, 1u << 20, kNoCell}) {
    reply.header.cell = data.cell = cell;
    rig.deliver(reply);
    rig.deliver(data, 8);
  }
  EXPECT_EQ(rig.dropped(), 6u);
  struct {
    MessageHeader header;
    ReplyItem items[2];
  } both{HostileRig::header(MessageKind::replies), {{1u << 20, 0, 1}, {kNoCell, 0, 1}}};
  both.header.cell = 2;
  rig.deliver(both);
  EXPECT_EQ(rig.dropped(), 7u);
}

TEST(HostileMessages, GetOfMoreThanAMessageIsDropped) {
  HostileRig rig;
  for (const uint32_t nbytes : {4096u, 40000u, ~0u}) rig.deliver(HostileRig::get(nbytes));
  EXPECT_EQ(rig.dropped(), 3u);
  EXPECT_FALSE(rig.responder->owes_answers());
  EXPECT_TRUE(rig.rails[0].posted.empty());
}

TEST(HostileMessages, DataOfAnotherLengthIsDropped) {
  HostileRig rig(2);
  std::array<std::byte, 400> local{};
  for (ScriptedRail& rail : rig.rails) rail.shape.reads_may_fail = false;
  rig.initiator.emplace(
      std::span(rig.rails),
      InitiatorConfig{.port = Port::proxy, .pe = 1, .npes = 4, .cells = 16, .nonce = HostileRig::kNonce});
  rig.context = &rig.initiator->add_context();
  ASSERT_EQ(issue(*rig.initiator, get_op(*rig.context, rig.at(0), local.data(), local.size(), Local::lent)), Post::ok);
  const size_t r = rig.rails[0].posted.empty() ? 1 : 0;
  ASSERT_EQ(rig.rails[r].count('s'), 1);
  const auto asked = read_message<GetMessage>(rig.rails[r].posted[0].bytes.data());
  ASSERT_EQ(asked.nbytes, local.size());
  MessageHeader answer = HostileRig::header(MessageKind::data);
  answer.cell = asked.header.cell;
  answer.sequence = asked.header.sequence;
  for (const size_t n : {1u, 399u, 401u, 4000u}) rig.deliver(answer, n);
  EXPECT_EQ(rig.dropped(), 4u);
  rig.deliver(ReplyMessage{answer, 7});
  EXPECT_EQ(rig.dropped(), 5u) << "an answer of another kind";
  answer.pe = 3;
  rig.deliver(answer, 400);
  answer.pe = 2;
  EXPECT_EQ(local[0], std::byte{0});
  EXPECT_EQ(rig.context->pending(), 1u) << "it still waits";
  rig.deliver(answer, 400);
  EXPECT_EQ(local[399], std::byte{0x5a});
  EXPECT_EQ(rig.context->pending(), 0u);
}

TEST(HostileMessages, ValueForAnAmoThatFetchesNothingIsDropped) {
  HostileRig rig;
  ASSERT_EQ(issue(*rig.initiator, amo_op(*rig.context, rig.at(8), kAdding, nullptr, Local::lent)), Post::ok);
  rig.deliver(ReplyMessage{rig.answer_to(0, MessageKind::reply), 7});
  rig.deliver(rig.answer_to(0, MessageKind::data), 8);
  EXPECT_EQ(rig.dropped(), 2u);
  EXPECT_EQ(rig.context->pending(), 1u);
  AcknowledgeMessage executed{HostileRig::header(MessageKind::acknowledge), 0};
  executed.header.sequence = 1;
  rig.deliver(executed);
  EXPECT_EQ(rig.context->pending(), 0u);
}

TEST(HostileMessages, FetchTakesItsValueOnceAndNoOtherAnswer) {
  HostileRig rig;
  uint64_t fetched = 0;
  ASSERT_EQ(issue(*rig.initiator, amo_op(*rig.context, rig.at(8), kFetching, &fetched, Local::lent)), Post::ok);
  rig.deliver(rig.answer_to(0, MessageKind::data), 8);
  EXPECT_EQ(rig.dropped(), 1u);
  MessageHeader later = rig.answer_to(0, MessageKind::reply);
  later.sequence += 1;
  rig.deliver(ReplyMessage{later, 9});
  EXPECT_EQ(rig.dropped(), 2u) << "no request has this number yet";
  EXPECT_EQ(fetched, 0u);
  rig.deliver(ReplyMessage{rig.answer_to(0, MessageKind::reply), 7});
  EXPECT_EQ(fetched, 7u);
  rig.deliver(ReplyMessage{rig.answer_to(0, MessageKind::reply), 8});
  EXPECT_EQ(fetched, 7u);
  EXPECT_EQ(rig.dropped(), 2u) << "a repeated answer is no flaw: a request may go over two rails";
}

TEST(HostileMessages, AcknowledgementOfWhatWasNotSentIsDropped) {
  HostileRig rig;
  ASSERT_EQ(issue(*rig.initiator, amo_op(*rig.context, rig.at(8), kAdding, nullptr, Local::lent)), Post::ok);
  AcknowledgeMessage message{HostileRig::header(MessageKind::acknowledge), ~uint64_t{0}};
  AccountMessage account{HostileRig::header(MessageKind::account), {}};
  for (const uint32_t sequence : {2u, 1000u, 0x7fffffffu}) {
    message.header.sequence = account.header.sequence = sequence;
    rig.deliver(message);
    rig.deliver(account);
  }
  EXPECT_EQ(rig.dropped(), 6u);
  EXPECT_EQ(rig.context->pending(), 1u);
}

TEST(HostileMessages, PlacesOutsideTheSegmentsAreDropped) {
  HostileRig rig;
  const uint64_t size = HostileRig::kWords * 8;
  for (const uint64_t offset : {size, size - 7, ~uint64_t{0}, uint64_t{1} << 63, uint64_t{4}}) {
    rig.deliver(HostileRig::add(offset));
    rig.deliver(SignalMessage{HostileRig::header(MessageKind::signal, Answer::acknowledge, 0, 8), offset, 1});
    rig.deliver(FlagMessage{HostileRig::header(MessageKind::flag, Answer::none, 0, 8), offset, 1});
    rig.deliver(PutSignalMessage{HostileRig::header(MessageKind::put_signal, Answer::acknowledge, 0, 8),
                                 offset,
                                 1,
                                 0,
                                 8,
                                 SegmentId::heap,
                                 {}},
                8);
  }
  EXPECT_EQ(rig.dropped(), 20u);
  for (const uint64_t offset : {size, size - 7, ~uint64_t{0}}) {
    PutSignalMessage put{
        HostileRig::header(MessageKind::put_signal, Answer::acknowledge, 0, 8), 0, 1, offset, 8, SegmentId::heap, {}};
    rig.deliver(put, 8);
    GetMessage get = HostileRig::get(8);
    get.offset = offset;
    rig.deliver(get);
  }
  EXPECT_EQ(rig.dropped(), 26u);
  AmoMessage absent = HostileRig::add();
  absent.header.segment = SegmentId::data;
  rig.deliver(absent);
  absent.header.segment = SegmentId::device;
  rig.deliver(absent);
  PutSignalMessage nothing{HostileRig::header(MessageKind::put_signal, Answer::acknowledge, 0, 8),
                           8,
                           1,
                           0,
                           0,
                           static_cast<SegmentId>(253),
                           {}};
  rig.deliver(nothing);
  EXPECT_EQ(rig.dropped(), 29u);
  EXPECT_TRUE(rig.untouched());
  rig.deliver(HostileRig::add(size - 8));
  EXPECT_EQ(rig.heap[HostileRig::kWords - 1], 1u) << "the number of a dropped request is still free";
}

TEST(HostileMessages, NumbersThatNoSourceCanHaveUsedAreDropped) {
  HostileRig rig;
  GetMessage get = HostileRig::get(8);
  for (const uint32_t sequence : {kWindow, 100000u, 0x7fffffffu}) {
    rig.deliver(HostileRig::add(0, sequence));
    get.header.sequence = sequence;
    rig.deliver(get);
  }
  EXPECT_EQ(rig.dropped(), 6u);
  EXPECT_TRUE(rig.untouched());
  rig.deliver(HostileRig::add(0, kWindow - 1));
  EXPECT_EQ(rig.heap[0], 1u);
}

TEST(HostileMessages, StagedRequestsAreDroppedWhereNothingIsStaged) {
  HostileRig rig;
  StagedMessage message{};
  message.header = HostileRig::header(MessageKind::staged_put, Answer::acknowledge);
  message.nbytes = 8;
  message.slot = kNoSlot;
  rig.deliver(message, 8);
  message.slot = 0;
  rig.deliver(message);
  message.header = HostileRig::header(MessageKind::staged_get, Answer::reply);
  rig.deliver(message);
  EXPECT_EQ(rig.dropped(), 3u);
  EXPECT_TRUE(rig.untouched());
}

TEST(HostileMessages, DescriptorsAreDroppedWhereNothingIsOpenedAnew) {
  HostileRig rig;
  rig.deliver(DescriptorMessage{HostileRig::header(MessageKind::descriptor), 100, 0}, 100);
  EXPECT_EQ(rig.dropped(), 1u);
}

/// Requests go to proxy endpoints. One that comes to the host endpoint must not end the PE.
TEST(HostileMessages, RequestsToTheHostEndpointAreDropped) {
  ScriptedRail rail, proxy_rail;
  Sleeper sleeper;
  const InitiatorConfig config{.port = Port::host, .pe = 1, .npes = 4, .cells = 16, .nonce = HostileRig::kNonce};
  ProxySide<ScriptedRail> proxy(std::span(&proxy_rail, 1), std::span<const Segment>(), config);
  HostSide<ScriptedRail> host(std::span(&rail, 1), config, HostConfig{HostThreads::one, true, 60}, proxy, sleeper);
  rail.deliver(HostileRig::add());
  rail.deliver(HostileRig::header(MessageKind::ping));
  host.poll_as_proxy();
  EXPECT_EQ(host.rails().counts(0).refused, 2u);
  EXPECT_EQ(rail.count('s'), 0);
}

/// A message that looks like one of the job, with random values; a few times something is broken.
std::vector<std::byte> random_message(std::mt19937_64& random) {
  const auto below = [&random](uint64_t n) { return random() % n; };
  const auto some = [&](uint32_t mask) {
    for (;;)
      if (const uint64_t bit = below(16); (mask >> bit & 1) != 0) return static_cast<uint8_t>(bit);
  };
  const auto kind = static_cast<MessageKind>(below(kMessageKinds));
  const MessageShape& shape = message_check::kShapes[static_cast<size_t>(kind)];
  MessageHeader header = HostileRig::header(kind, static_cast<Answer>(some(shape.answers)),
                                            static_cast<uint8_t>(below(shape.ops)), some(shape.widths));
  header.pe = static_cast<int>(below(4));
  header.port = static_cast<Port>(below(2));
  header.cell = static_cast<uint32_t>(below(18));
  header.sequence = static_cast<uint32_t>(below(6));
  std::vector<std::byte> message = HostileRig::bytes_of(header);
  while (message.size() < shape.nbytes) {
    const uint64_t word = below(8) != 0 ? 8 * below(48) : random();
    const auto bytes = HostileRig::bytes_of(word);
    message.insert(message.end(), bytes.begin(), bytes.end());
  }
  const auto payload = static_cast<uint32_t>(below(400));
  if (kind == MessageKind::put_signal) {
    auto put = read_message<PutSignalMessage>(message.data());
    put.nbytes = payload;
    put.data_segment = static_cast<SegmentId>(below(4));
    message = HostileRig::bytes_of(put);
  }
  if (kind == MessageKind::replies) {
    header.cell = static_cast<uint32_t>(below(4));
    message = HostileRig::bytes_of(header, header.cell * sizeof(ReplyItem));
  } else if (!shape.is_whole) {
    message.resize(message.size() + payload);
  }
  if (below(8) == 0) message[below(message.size())] = static_cast<std::byte>(random());
  if (below(8) == 0) message.resize(below(message.size()));
  return message;
}

/// Between operations of this PE, some of which they may answer.
TEST(HostileMessages, RandomMessagesHarmNothing) {
  std::mt19937_64 random(20260817);
  const auto below = [&random](uint64_t n) { return random() % n; };
  uint64_t delivered = 0, dropped = 0;
  set_log_level(LogLevel::error);  // a warning for each round
  for (int round = 0; round < 200; ++round) {
    HostileRig rig(1 + below(3));
    std::array<uint64_t, 64> local{};
    for (int i = 0; i < 60; ++i) {
      const Remote place{static_cast<int>(below(4)), SegmentId::heap, 8 * below(8)};
      const NetSignal signal{SegmentId::heap, 8, 1, SignalOp::set};
      if (below(3) == 0)
        (void)issue(*rig.initiator,
                    amo_op(*rig.context, place, below(2) ? kAdding : kFetching, &local[0], Local::lent));
      if (below(3) == 0)
        (void)issue(*rig.initiator, get_op(*rig.context, place, local.data(), 8 * (1 + below(64)), Local::lent));
      if (below(3) == 0)
        (void)issue(*rig.initiator,
                    put_signal_op(*rig.context, place, local.data(), 8 * below(64), signal, Local::lent));
      const std::vector<std::byte> message = random_message(random);
      rig.deliver_bytes(message);
      ++delivered;
      for (ScriptedRail& rail : rig.rails) {
        for (const ScriptedRail::Posted& posted : rail.posted)
          if (posted.slot != nullptr) rail.complete(posted.slot);
        rail.posted.clear();
      }
    }
    dropped += rig.dropped();
    rig.initiator->forget_all();
  }
  set_log_level(LogLevel::warn);
  EXPECT_GT(dropped, delivered / 10);
  EXPECT_LT(dropped, delivered - delivered / 10) << "many get past the first look";
}

/// Where the heap is staged, requests also name slots of their source.
TEST(HostileMessages, RandomMessagesToAStagedHeapHarmNothing) {
  std::mt19937_64 random(20260817);
  uint64_t delivered = 0, dropped = 0;
  set_log_level(LogLevel::error);
  for (int round = 0; round < 20; ++round) {
    StagedRig rig(Port::proxy, 1);
    StagingTerms terms{};
    rig.staging->describe_to(terms);
    rig.staging->learn_areas(std::vector<StagingTerms>(4, terms));
    for (int i = 0; i < 200; ++i) {
      std::vector<std::byte> message = random_message(random);
      if (message.size() >= sizeof(MessageHeader)) {  // rails of this rig have another nonce
        auto header = read_message<MessageHeader>(message.data());
        header.nonce_low = 0;
        header.nonce_high = 0;
        std::memcpy(message.data(), &header, sizeof header);
      }
      if (message.size() >= sizeof(StagedMessage) && random() % 2 == 0) {
        auto staged = read_message<StagedMessage>(message.data());
        staged.header.kind = random() % 2 == 0 ? MessageKind::staged_put : MessageKind::staged_get;
        staged.header.answer = staged.header.kind == MessageKind::staged_put ? Answer::acknowledge : Answer::reply;
        staged.header.op = 0;
        staged.slot = random() % 2 == 0 ? kNoSlot : random() % terms.area_nbytes;
        staged.nbytes = static_cast<uint32_t>(random() % (random() % 2 == 0 ? 64 : 10000));
        staged.signal_segment = SegmentId::heap;
        staged.signal_op = SignalOp::set;
        staged.brings_signal = random() % 2;
        const bool carries = staged.header.kind == MessageKind::staged_put && staged.slot == kNoSlot;
        message = HostileRig::bytes_of(staged, carries ? staged.nbytes % 4000 : 0);
      }
      rig.rails[0].deliver_bytes(std::move(message));
      rig.turns(4);
      ++delivered;
      for (ScriptedRail& rail : rig.rails) {
        for (const ScriptedRail::Posted& posted : rail.posted)
          if (posted.slot != nullptr) rail.complete(posted.slot);
        rail.posted.clear();
      }
    }
    rig.turns();
    dropped += rig.initiator->rails().counts(0).refused;
    rig.initiator->forget_all();
  }
  set_log_level(LogLevel::warn);
  EXPECT_GT(dropped, delivered / 10);
  EXPECT_LT(dropped, delivered - delivered / 10) << "many get past the first look";
}

}  // namespace
}  // namespace railshmem::test
