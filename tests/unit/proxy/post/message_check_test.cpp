// SPDX-License-Identifier: BSD-3-Clause
#include "src/proxy/post/message_check.h"

#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "src/base/log.h"
#include "src/proxy/job_nonce.h"
#include "src/proxy/post/refused_messages.h"
#include "tests/support/hostile_rig.h"

namespace railshmem::test {
namespace {

constexpr MessageRules kRules{HostileRig::kNonce, 4, 2, kMaxMessage};

Flaw check(const std::vector<std::byte>& bytes) {
  return check_message(kRules, bytes.data(), bytes.size());
}
template <class M>
Flaw check(const M& message, size_t more = 0) {
  return check(HostileRig::bytes_of(message, more));
}

StagedMessage staged(MessageKind kind, uint64_t slot, uint32_t nbytes) {
  StagedMessage message{};
  message.header = HostileRig::header(kind, kind == MessageKind::staged_put ? Answer::acknowledge : Answer::reply);
  message.slot = slot;
  message.nbytes = nbytes;
  return message;
}

/// One message of each kind, as a PE of the job sends it.
std::vector<std::vector<std::byte>> one_of_each() {
  const auto bytes = [](const auto& message, size_t more = 0) { return HostileRig::bytes_of(message, more); };
  MessageHeader replies = HostileRig::header(MessageKind::replies);
  replies.cell = 2;
  return {
      bytes(HostileRig::add()),
      bytes(
          PutSignalMessage{
              HostileRig::header(MessageKind::put_signal, Answer::acknowledge, 1, 8), 0, 1, 8, 24, SegmentId::heap, {}},
          24),
      bytes(SignalMessage{HostileRig::header(MessageKind::signal, Answer::acknowledge, 0, 8), 0, 1}),
      bytes(FlagMessage{HostileRig::header(MessageKind::flag, Answer::none, 0, 8), 0, 1}),
      bytes(HostileRig::get(100)),
      bytes(DescriptorMessage{HostileRig::header(MessageKind::descriptor), 40, 31}, 40),
      bytes(staged(MessageKind::staged_put, kNoSlot, 16), 16),
      bytes(staged(MessageKind::staged_get, 4096, 8192)),
      bytes(AcknowledgeMessage{HostileRig::header(MessageKind::acknowledge), 0}),
      bytes(ReplyMessage{HostileRig::header(MessageKind::reply), 7}),
      bytes(replies, 2 * sizeof(ReplyItem)),
      bytes(HostileRig::header(MessageKind::data), 100),
      bytes(HostileRig::header(MessageKind::ping)),
      bytes(HostileRig::header(MessageKind::pong)),
      bytes(HostileRig::header(MessageKind::inquiry)),
      bytes(AccountMessage{HostileRig::header(MessageKind::account), {}})};
}

TEST(MessageCheck, MessagesOfTheJobPass) {
  const auto all = one_of_each();
  ASSERT_EQ(all.size(), kMessageKinds);
  for (size_t kind = 0; kind < all.size(); ++kind) {
    EXPECT_EQ(read_message<MessageHeader>(all[kind].data()).kind, static_cast<MessageKind>(kind));
    EXPECT_EQ(check(all[kind]), Flaw::none) << "kind " << kind;
  }
  EXPECT_EQ(check(staged(MessageKind::staged_put, 4096, 8192)), Flaw::none) << "the data is in a slot";
}

TEST(MessageCheck, EveryOtherLengthIsFlawed) {
  for (const auto& whole : one_of_each()) {
    for (size_t n = 0; n < whole.size(); ++n) {
      const std::vector<std::byte> cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(n));
      const bool data = n > sizeof(MessageHeader) && whole[0] == static_cast<std::byte>(MessageKind::data);
      EXPECT_EQ(check(cut), data ? Flaw::none : Flaw::length) << "the length of data is for its request to know";
    }
    std::vector<std::byte> longer = whole;
    longer.push_back(std::byte{0});
    const bool is_data = whole[0] == static_cast<std::byte>(MessageKind::data);
    EXPECT_EQ(check(longer), is_data ? Flaw::none : Flaw::length);
    longer.resize(kMaxMessage + 1);
    EXPECT_EQ(check(longer), Flaw::length);
  }
}

/// Applies `bend` to the header of every kind of message, and expects the flaw.
void expect_all(Flaw flaw, const std::function<void(MessageHeader&)>& bend) {
  for (std::vector<std::byte> message : one_of_each()) {
    auto header = read_message<MessageHeader>(message.data());
    bend(header);
    std::memcpy(message.data(), &header, sizeof header);
    EXPECT_EQ(check(message), flaw) << "kind " << static_cast<int>(header.kind);
  }
}

TEST(MessageCheck, AnotherNonceIsFlawedWhateverElseIsRight) {
  expect_all(Flaw::nonce, [](MessageHeader& h) { h.nonce_low ^= 1; });
  expect_all(Flaw::nonce, [](MessageHeader& h) { h.nonce_low = 0; });
  expect_all(Flaw::nonce, [](MessageHeader& h) { h.nonce_high ^= 0x8000; });
}

TEST(MessageCheck, FieldsOfTheHeaderAreLimited) {
  expect_all(Flaw::sender, [](MessageHeader& h) { h.pe = 4; });
  expect_all(Flaw::sender, [](MessageHeader& h) { h.pe = -1; });
  expect_all(Flaw::sender, [](MessageHeader& h) { h.pe = 1 << 20; });
  expect_all(Flaw::sender, [](MessageHeader& h) { h.port = Port::rings; });
  expect_all(Flaw::sender, [](MessageHeader& h) { h.port = static_cast<Port>(255); });
  expect_all(Flaw::kind, [](MessageHeader& h) { h.kind = static_cast<MessageKind>(kMessageKinds); });
  expect_all(Flaw::kind, [](MessageHeader& h) { h.kind = static_cast<MessageKind>(255); });
  expect_all(Flaw::field, [](MessageHeader& h) { h.op = 12; });
  expect_all(Flaw::field, [](MessageHeader& h) { h.op = 255; });
  for (const int width : {1, 7, 9, 16, 24, 40, 255})
    expect_all(Flaw::field, [width](MessageHeader& h) { h.width = static_cast<uint8_t>(width); });
  for (const int answer : {3, 8, 11, 255})
    expect_all(Flaw::field, [answer](MessageHeader& h) { h.answer = static_cast<Answer>(answer); });
  expect_all(Flaw::field, [](MessageHeader& h) { h.segment = static_cast<SegmentId>(kSegments); });
  expect_all(Flaw::field, [](MessageHeader& h) { h.segment = static_cast<SegmentId>(253); });
}

TEST(MessageCheck, FieldsBehindTheHeaderAreLimited) {
  PutSignalMessage put{HostileRig::header(MessageKind::put_signal, Answer::acknowledge, 0, 8),
                       0,
                       1,
                       0,
                       0,
                       static_cast<SegmentId>(253),
                       {}};
  EXPECT_EQ(check(put), Flaw::field);
  put.data_segment = SegmentId::heap;
  put.nbytes = ~uint32_t{0};
  EXPECT_EQ(check(put, 8), Flaw::length);
  EXPECT_EQ(check(HostileRig::get(0)), Flaw::length);
  EXPECT_EQ(check(HostileRig::get(kMaxMessage - sizeof(MessageHeader))), Flaw::none);
  EXPECT_EQ(check(HostileRig::get(kMaxMessage - sizeof(MessageHeader) + 1)), Flaw::length);
  EXPECT_EQ(check(HostileRig::get(40000)), Flaw::length) << "more than an answer can bring";
  EXPECT_EQ(check(DescriptorMessage{HostileRig::header(MessageKind::descriptor), 8, 32}, 8), Flaw::field);
  MessageHeader replies = HostileRig::header(MessageKind::replies);
  for (const uint32_t count : {0u, 33u, 1u << 28}) {
    replies.cell = count;
    EXPECT_EQ(check(replies, (count % 64) * sizeof(ReplyItem)), Flaw::length);
  }
  MessageHeader ping = HostileRig::header(MessageKind::ping, Answer::none, static_cast<uint8_t>(PingNews::no_link));
  ping.cell = 32;
  EXPECT_EQ(check(ping), Flaw::field) << "no PE has so many rails";
  StagedMessage brings = staged(MessageKind::staged_put, 0, 8);
  brings.brings_signal = 2;
  EXPECT_EQ(check(brings), Flaw::field);
  brings.brings_signal = 1;
  EXPECT_EQ(check(brings), Flaw::none);
  brings.signal_segment = static_cast<SegmentId>(200);
  EXPECT_EQ(check(brings), Flaw::field);
  brings = staged(MessageKind::staged_get, 0, 8);
  brings.brings_signal = 1;
  EXPECT_EQ(check(brings), Flaw::field) << "a get brings none";
  EXPECT_EQ(check(staged(MessageKind::staged_put, kNoSlot, 0)), Flaw::length);
  AmoMessage fetch = HostileRig::add();
  fetch.header.op = static_cast<uint8_t>(AmoOp::fetch_add);
  EXPECT_EQ(check(fetch), Flaw::field) << "an acknowledgement brings no value";
}

TEST(JobNonce, AllPesMakeItOfAllShares) {
  std::vector<std::vector<std::byte>> descriptors;
  for (int pe = 0; pe < 3; ++pe)
    descriptors.push_back(
        add_nonce_share(std::vector<std::byte>(static_cast<size_t>(pe), std::byte{7}), random_nonce_share()));
  const JobDescriptors job = take_nonce_shares(descriptors);
  for (size_t pe = 0; pe < 3; ++pe) EXPECT_EQ(job.descriptors[pe], std::vector<std::byte>(pe, std::byte{7}));
  EXPECT_EQ(take_nonce_shares(descriptors).nonce, job.nonce);
  for (int pe = 0; pe < 3; ++pe) {
    auto other = descriptors;
    other[static_cast<size_t>(pe)].back() ^= std::byte{1};  // bit 56, above those that travel
    other[static_cast<size_t>(pe)][other[static_cast<size_t>(pe)].size() - 8] ^= std::byte{1};
    EXPECT_NE(take_nonce_shares(other).nonce, job.nonce) << "PE " << pe << " has a part in it";
  }
  descriptors[1].resize(7);
  EXPECT_ANY_THROW(take_nonce_shares(descriptors));
}

TEST(RefusedMessages, AreNamedAtOnceAndThenNowAndThen) {
  RefusedMessages refused;
  const auto message = HostileRig::bytes_of(HostileRig::add());
  const uint64_t before = warnings_logged();
  uint64_t now = 1'000'000'000;
  testing::internal::CaptureStderr();
  for (int i = 0; i < 1000; ++i) refused.add(Flaw::place, message.data(), message.size(), "a rail", ++now);
  EXPECT_EQ(warnings_logged(), before + 1);
  now += 10'000'000'000;
  refused.add(Flaw::nonce, message.data(), message.size(), "a rail", now);
  EXPECT_EQ(warnings_logged(), before + 2);
  refused.add(Flaw::length, nullptr, 0, "a rail", now + 20'000'000'000);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("rail a rail dropped a message of 48 bytes (amo) that claims to come from PE 2"),
            std::string::npos)
      << said;
  EXPECT_NE(said.find("(999 more since the last warning)"), std::string::npos) << said;
  EXPECT_NE(said.find("a message of 0 bytes: its length"), std::string::npos) << said;
}

}  // namespace
}  // namespace railshmem::test
