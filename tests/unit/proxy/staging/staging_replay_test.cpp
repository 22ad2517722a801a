// SPDX-License-Identifier: BSD-3-Clause
// Staged operations whose rail dies: each takes effect once, and is complete when the bytes are in the final memory.
#include <gtest/gtest.h>

#include <cstring>
#include <optional>
#include <vector>

#include "include/shmem/device/push.h"
#include "src/proxy/channel_drain.h"
#include "tests/support/staged_rig.h"

namespace railshmem::test {
namespace {

constexpr uint64_t kData = 512;  ///< offsets in the heap
constexpr uint64_t kSignalled = 8;
constexpr uint32_t kPiece = 5000;

// ---- the source ----------------------------------------------------------------------------------------------------

/// A put_signal to PE 3 whose request was sent over a rail that then dies.
struct ReplaySource : StagedRig {
  ReplaySource()
      : ReplaySource([](ReplaySource& source) {
          const NetSignal signal{SegmentId::heap, kSignalled, 1, SignalOp::add};
          const Remote place{3, SegmentId::heap, kData};
          const Op op = put_signal_op(*source.context, place, source.base(), kPiece, signal, Local::lent);
          EXPECT_EQ(issue(*source.initiator, op), Post::ok);
        }) {}
  /// The put_signal that `begin(*this)` issues.
  template <class Begin>
  explicit ReplaySource(Begin&& begin) : StagedRig(Port::host, 0), context(&initiator->add_context()) {
    begin(*this);
    until([this] { return rails[0].count('s') + rails[1].count('s') > 0; });
    dead = rail_of(MessageKind::staged_put);
    alive = 1 - dead;
    request = read_message<StagedMessage>(rails[dead].posted.at(0).bytes.data());
    fail(dead, 0);
    until([this] { return !messages(alive, MessageKind::inquiry).empty(); });
  }
  /// PE 3 has executed what is before `first_missing`.
  void account(uint32_t first_missing) {
    const auto asked = messages(alive, MessageKind::inquiry);
    const auto inquiry = read_message<MessageHeader>(rails[alive].posted[asked.back()].bytes.data());
    AccountMessage message{inquiry, {}};
    message.header.kind = MessageKind::account;
    message.header.pe = 3;
    message.header.sequence = first_missing;
    rails[alive].deliver(message);
    turns();
  }
  void acknowledge(uint32_t first_missing) {
    rails[alive].deliver(AcknowledgeMessage{
        {MessageKind::acknowledge, 0, 0, Answer::none, Port::proxy, SegmentId::heap, 0, 3, 0, first_missing, 0}, 0});
    turns();
  }
  bool slot_is_intact() { return std::memcmp(staging->source(Port::host).at(request.slot), base(), kPiece) == 0; }

  NetContext* const context;
  size_t dead = 0, alive = 1;
  StagedMessage request;
};

TEST(StagingReplay, ARequestThatTheTargetHasNotExecutedIsSentAgainAsItWas) {
  ReplaySource source;
  source.turns();
  EXPECT_TRUE(source.messages(source.alive, MessageKind::staged_put).empty()) << "before the target was asked";
  source.account(0);
  const auto again = source.messages(source.alive, MessageKind::staged_put);
  ASSERT_EQ(again.size(), 1u);
  const auto message = read_message<StagedMessage>(source.rails[source.alive].posted[again[0]].bytes.data());
  EXPECT_EQ(std::memcmp(&message, &source.request, sizeof message), 0) << "number, slot and signal";
  source.complete(source.alive, again[0]);
  source.turns();
  EXPECT_TRUE(source.slot_is_intact()) << "the target has yet to read it";
  EXPECT_GT(source.context->pending(), 0u) << "sent is not executed";
  source.acknowledge(1);
  EXPECT_EQ(source.context->pending(), 0u);
}

TEST(StagingReplay, ARequestThatTheTargetHasExecutedIsNotSentAgain) {
  ReplaySource source;
  EXPECT_GT(source.context->pending(), 0u);
  source.account(1);
  EXPECT_EQ(source.context->pending(), 0u);
  EXPECT_TRUE(source.messages(source.alive, MessageKind::staged_put).empty());
}

/// A kernel's put_signal: its data is in a payload slot, which peers fetch.
TEST(StagingReplay, APayloadSlotIsHeldUntilItsRequestWasExecuted) {
  PayloadLine line{};
  std::optional<Channel> channel;
  std::optional<ChannelDrain<ScriptedRail>> drain;
  ReplaySource source([&](ReplaySource& rig) {
    ChannelMemory memory = host_channel_memory(6);
    memory.payloads = {rig.staging->payloads().data(), &line, 0};
    channel.emplace(std::move(memory));
    drain.emplace(*channel, *rig.initiator, 4);
    std::memset(rig.staging->payloads().data(), 7, rig.staging->payloads().size());
    device::push(channel->view().ring,
                 {.op = CommandOp::put_payload_signal,
                  .signal_op = SignalOp::add,
                  .pe = 3,
                  .nbytes = kPiece,
                  .remote_offset = kData,
                  .local = 9,
                  .value = payload_name(PayloadSize::large, 0),
                  .signal_offset = kSignalled,
                  .signal_value = 1},
                 device::Deadline::never());
    drain->step();
  });
  const auto freed = [&] {
    drain->step();
    return *channel->view().payloads[1].freed;
  };
  const StagingPart& part = source.staging->source(Port::host);
  const std::byte* const slot = source.staging->payloads().data() + PayloadMemory::large_offset() + 9;
  EXPECT_EQ(part.area.data() + source.request.slot, slot);
  EXPECT_TRUE(source.request.brings_signal);
  EXPECT_EQ(freed(), 0u);
  source.account(0);
  const auto again = source.messages(source.alive, MessageKind::staged_put);
  ASSERT_EQ(again.size(), 1u);
  const auto message = read_message<StagedMessage>(source.rails[source.alive].posted[again[0]].bytes.data());
  EXPECT_EQ(std::memcmp(&message, &source.request, sizeof message), 0);
  source.complete(source.alive, again[0]);
  source.turns();
  EXPECT_EQ(freed(), 0u) << "the target has yet to read it";
  source.acknowledge(1);
  EXPECT_EQ(freed(), 1u);
}

/// The rail that a request went over lives, but not the one that brought its acknowledgement.
TEST(StagingReplay, AnAccountAlsoEndsRequestsOfLivingRails) {
  StagedRig source(Port::host, 0);
  NetContext& context = source.initiator->add_context();
  const Remote place{3, SegmentId::heap, kData};
  ASSERT_EQ(issue(*source.initiator, put_op(context, place, source.base(), 2 * 8192, Local::lent)), Post::ok);
  source.until([&] { return source.rails[0].count('s') > 0 && source.rails[1].count('s') > 0; });
  source.complete(1, 0);
  source.fail(0, 0);
  source.until([&] { return !source.messages(1, MessageKind::inquiry).empty(); });
  const auto asked = source.messages(1, MessageKind::inquiry);
  AccountMessage account{read_message<MessageHeader>(source.rails[1].posted[asked.back()].bytes.data()), {}};
  account.header.kind = MessageKind::account;
  account.header.pe = 3;
  account.header.sequence = 2;
  source.rails[1].deliver(account);
  source.turns();
  EXPECT_EQ(context.pending(), 0u);
}

// ---- the target ----------------------------------------------------------------------------------------------------

/// PE 1, which was asked by PE 2 to fetch data and to add 1 to a word then.
struct Target : StagedRig {
  Target() : StagedRig(Port::proxy, 1) {
    std::memset(base(), 0, kHeap);
    request.header = {MessageKind::staged_put, 0, 8, Answer::acknowledge, Port::host, SegmentId::heap, 0, 2, 7, 0, 0};
    request.offset = kData;
    request.slot = 16384;
    request.signal_offset = kSignalled;
    request.signal_value = 1;
    request.signal_op = SignalOp::add;
    request.brings_signal = true;
    request.nbytes = kPiece;
    for (size_t i = 0; i < kPiece; ++i) data.push_back(static_cast<std::byte>(i * 13 + 5));
    BouncePool& pool = staging->target().pool(SlotKind::large);
    slot = pool.take();  // the next job's
    pool.give(slot);
  }
  void ask(size_t r) {
    rails[r].deliver(request);
    turn();
  }
  size_t reading_rail() { return rails[0].count('r') > 0 ? 0 : 1; }
  size_t read_on(size_t r) {
    for (size_t i = rails[r].posted.size(); i-- > 0;)
      if (rails[r].posted[i].what == 'r') return i;
    ADD_FAILURE() << "no read on rail " << r;
    return 0;
  }
  /// The read of the source's slot brings this.
  void bring(size_t r) {
    std::memcpy(staging->target().at(slot), data.data(), kPiece);
    complete(r, read_on(r));
  }
  bool is_stored() { return std::memcmp(base() + kData, data.data(), kPiece) == 0; }
  size_t acknowledged() {
    size_t n = 0;
    for (size_t r = 0; r < rails.size(); ++r)
      for (const size_t i : messages(r, MessageKind::acknowledge))
        n += read_message<AcknowledgeMessage>(rails[r].posted[i].bytes.data()).header.sequence == 1;
    return n;
  }
  /// What an inquiry of the source's says now: the first request missing.
  uint32_t account() {
    MessageHeader inquiry = request.header;
    inquiry.kind = MessageKind::inquiry;
    inquiry.answer = Answer::none;
    const size_t before = messages(1, MessageKind::account).size();
    rails[1].deliver(inquiry);
    until([&] { return messages(1, MessageKind::account).size() > before; });
    return read_message<AccountMessage>(rails[1].posted[messages(1, MessageKind::account).back()].bytes.data())
        .header.sequence;
  }

  StagedMessage request{};
  std::vector<std::byte> data;
  uint64_t slot;
};

TEST(StagingReplay, AcknowledgedIsWhatLiesInTheFinalMemory) {
  Target target;
  target.ask(0);
  target.bring(target.reading_rail());
  int early = 0;
  for (; target.acknowledged() == 0 && early < 1000; ++early) {
    if (!target.is_stored()) {
      EXPECT_EQ(target.heap[1], 0u) << "the signal before its data";
    }
    target.turn();
  }
  EXPECT_GT(early, 1) << "the copier was not late";
  EXPECT_EQ(target.acknowledged(), 1u);
  EXPECT_TRUE(target.is_stored());
  EXPECT_EQ(target.heap[1], 1u);
}

/// The copier executes a SET, behind the data; nobody waits between the data and the SET.
TEST(StagingReplay, ASignalThatIsSetIsSeenBehindItsData) {
  Target target;
  target.request.signal_op = SignalOp::set;
  target.request.signal_value = 17;
  target.ask(0);
  target.bring(target.reading_rail());
  for (int i = 0; target.acknowledged() == 0 && i < 1000; ++i) {
    EXPECT_EQ(target.heap[1], target.is_stored() ? 17u : 0u);
    target.turn();
  }
  EXPECT_EQ(target.acknowledged(), 1u);
  EXPECT_EQ(target.heap[1], 17u);
}

/// Signals without data, to one word: in the order in which they came, and before what reads the word later.
TEST(StagingReplay, SignalsAloneKeepTheirOrderWhileTheyAreUnderWay) {
  Target target;
  const auto header = [&](MessageKind kind, uint32_t sequence, Answer answer) {
    MessageHeader h = target.request.header;
    h.kind = kind;
    h.op = static_cast<uint8_t>(SignalOp::set);
    h.answer = answer;
    h.sequence = sequence;
    return h;
  };
  constexpr uint32_t kSignals = 40;
  for (uint32_t i = 0; i < kSignals; ++i)
    target.rails[0].deliver(SignalMessage{header(MessageKind::signal, i, Answer::acknowledge), kSignalled, i + 1});
  AmoMessage fetch{header(MessageKind::amo, kSignals, Answer::reply), kSignalled, 5, 0};
  fetch.header.op = static_cast<uint8_t>(AmoOp::fetch_add);
  target.rails[0].deliver(fetch);
  target.until([&] { return !target.messages(0, MessageKind::reply).empty(); });
  const auto reply = target.messages(0, MessageKind::reply)[0];
  EXPECT_EQ(read_message<ReplyMessage>(target.rails[0].posted[reply].bytes.data()).value, kSignals);
  target.until([&] { return target.account() == kSignals + 1; });
  EXPECT_EQ(target.heap[1], kSignals + 5);
}

TEST(StagingReplay, DataWhoseRailDiesIsFetchedOverTheOther) {
  Target target;
  target.ask(0);
  const size_t dead = target.reading_rail();
  target.fail(dead, target.read_on(dead));
  // It asks the source what that has executed, before it reads again.
  target.until([&] { return !target.messages(1 - dead, MessageKind::inquiry).empty(); });
  const auto asked = target.messages(1 - dead, MessageKind::inquiry);
  AccountMessage account{read_message<MessageHeader>(target.rails[1 - dead].posted[asked[0]].bytes.data()), {}};
  account.header.kind = MessageKind::account;
  account.header.pe = 2;
  target.rails[1 - dead].deliver(account);
  target.until([&] { return target.rails[1 - dead].count('r') > 0; });
  EXPECT_EQ(target.acknowledged(), 0u);
  EXPECT_EQ(target.heap[1], 0u);
  target.bring(1 - dead);
  target.until([&] { return target.acknowledged() > 0; });
  EXPECT_TRUE(target.is_stored());
  EXPECT_EQ(target.heap[1], 1u);
}

TEST(StagingReplay, ARepeatedRequestIsExecutedOnceHoweverLateItComes) {
  Target target;
  target.ask(0);
  target.ask(1);  // while the data is fetched
  EXPECT_EQ(target.rails[0].count('r') + target.rails[1].count('r'), 1) << "one job";
  EXPECT_EQ(target.account(), 0u) << "under way is not executed";
  const size_t r = target.reading_rail();
  target.bring(r);
  target.turn();
  target.ask(1);  // while it is copied, maybe
  target.until([&] { return target.acknowledged() > 0; });
  EXPECT_TRUE(target.is_stored());
  EXPECT_EQ(target.account(), 1u);
  const size_t before = target.acknowledged();
  std::memset(target.base() + kData, 0, kPiece);  // its reader is through with it
  target.ask(1);                                  // the acknowledgement was lost
  target.until([&] { return target.acknowledged() > before; });
  target.turns();
  EXPECT_FALSE(target.is_stored()) << "written again";
  EXPECT_EQ(target.heap[1], 1u) << "signalled again";
  EXPECT_EQ(target.rails[0].count('r') + target.rails[1].count('r'), 1);
}

}  // namespace
}  // namespace railshmem::test
