// SPDX-License-Identifier: BSD-3-Clause
// The source of staged operations: which pieces there are, and who waits for whose slot.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tests/support/staged_rig.h"

namespace railshmem::test {
namespace {

struct SourceRig : StagedRig {
  explicit SourceRig(const RailTraits& shape = {0, 1 << 20, 4096, false})
      : StagedRig(Port::host, 0, shape), context(&initiator->add_context()) {}

  Post put(int pe, size_t nbytes, const NetSignal* signal = nullptr) {
    const Remote to{pe, SegmentId::heap, 0};
    return issue(*initiator, signal != nullptr ? put_signal_op(*context, to, base(), nbytes, *signal, Local::lent)
                                               : put_op(*context, to, base(), nbytes, Local::lent));
  }
  /// Requests for pieces that were sent to `pe`.
  std::vector<StagedMessage> requests(int pe) {
    std::vector<StagedMessage> found;
    for (size_t r = 0; r < rails.size(); ++r)
      for (const size_t i : messages(r, MessageKind::staged_put))
        if (rails[r].posted[i].to.pe == pe)
          found.push_back(read_message<StagedMessage>(rails[r].posted[i].bytes.data()));
    return found;
  }
  void acknowledge(int pe, uint32_t first_missing) {
    rails[0].deliver(AcknowledgeMessage{
        {MessageKind::acknowledge, 0, 0, Answer::none, Port::proxy, SegmentId::heap, 0, pe, 0, first_missing, 0}, 0});
    turns();
  }
  /// Fails the rail of a request to PE 3, which is then being asked what it has executed.
  void let_pe_3_recover() {
    ASSERT_EQ(put(3, 5000), Post::ok);
    turns();
    const size_t dead = rail_of(MessageKind::staged_put);
    fail(dead, 0);
    until([&] { return !messages(1 - dead, MessageKind::inquiry).empty(); });
  }
  void complete_all(size_t r) {
    for (size_t i = 0; i < rails[r].posted.size(); ++i) complete(r, i);
    rails[r].posted.clear();
    turns();
  }

  NetContext* context;
};

/// Two slots, three pieces: the third leaves with the first acknowledgement, without any clock.
TEST(StagingSource, AnAcknowledgementSendsThePieceThatWaitsForItsSlot) {
  SourceRig source;
  ASSERT_EQ(source.put(3, 3 * 8192), Post::ok);
  source.turns();
  ASSERT_EQ(source.requests(3).size(), 2u);
  source.acknowledge(3, 1);
  EXPECT_EQ(source.requests(3).size(), 2u) << "the rail still has the message";
  source.complete_all(0);
  source.complete_all(1);
  const auto more = source.requests(3);
  ASSERT_EQ(more.size(), 1u);
  EXPECT_EQ(more[0].offset, 2u * 8192);
  source.acknowledge(3, 3);
  source.complete_all(0);
  source.complete_all(1);
  EXPECT_EQ(source.context->pending(), 0u);
}

TEST(StagingSource, PiecesOfALongPutGoOverAllRails) {
  SourceRig source;
  ASSERT_EQ(source.put(3, 2 * 8192), Post::ok);
  source.turns();
  EXPECT_EQ(source.messages(0, MessageKind::staged_put).size(), 1u);
  EXPECT_EQ(source.messages(1, MessageKind::staged_put).size(), 1u);
}

/// Where the target could fetch a slot only by messages, the data goes along at once.
TEST(StagingSource, WithoutReadsPutsTravelInsideTheirRequests) {
  SourceRig source({64, 1 << 20, 4096, false, false, false});
  constexpr size_t kBytes = 20000;
  const NetSignal signal{SegmentId::heap, 0, 1, SignalOp::add};
  ASSERT_EQ(source.put(3, kBytes, &signal), Post::ok);
  source.turns();
  std::vector<int> times(kBytes);
  for (size_t r = 0; r < 2; ++r) {
    const auto found = source.messages(r, MessageKind::staged_put);
    EXPECT_GE(found.size(), 2u) << "over both rails";
    for (const size_t i : found) {
      const auto& bytes = source.rails[r].posted[i].bytes;
      const auto message = read_message<StagedMessage>(bytes.data());
      EXPECT_EQ(message.slot, kNoSlot);
      EXPECT_FALSE(message.brings_signal) << "the signal would come before other pieces";
      ASSERT_EQ(bytes.size(), sizeof message + message.nbytes);
      ASSERT_LE(message.offset + message.nbytes, kBytes);
      EXPECT_TRUE(std::equal(bytes.begin() + sizeof message, bytes.end(), source.base() + message.offset));
      for (size_t b = 0; b < message.nbytes; ++b) ++times[message.offset + b];
    }
  }
  EXPECT_TRUE(std::all_of(times.begin(), times.end(), [](int n) { return n == 1; }));
  EXPECT_TRUE(source.messages(0, MessageKind::signal).empty() && source.messages(1, MessageKind::signal).empty());
  const auto pieces = static_cast<uint32_t>(source.requests(3).size());
  source.complete_all(0);
  source.complete_all(1);
  source.acknowledge(3, pieces);
  EXPECT_EQ(source.messages(0, MessageKind::signal).size() + source.messages(1, MessageKind::signal).size(), 1u);
  source.acknowledge(3, pieces + 1);
  EXPECT_EQ(source.context->pending(), 0u);
}

/// One of two slots is held by a request to PE 3, which is being asked what it has executed.
TEST(StagingSource, APeThatRecoversTakesNoSlotFromOthers) {
  SourceRig source;
  ASSERT_NO_FATAL_FAILURE(source.let_pe_3_recover());
  ASSERT_EQ(source.put(3, 8 * 8192), Post::ok);
  source.turns();
  ASSERT_EQ(source.put(2, 5000), Post::ok);
  source.turns();
  EXPECT_EQ(source.requests(2).size(), 1u);
  EXPECT_EQ(source.requests(3).size(), 1u) << "the first one";
}

/// More transfers to the PE that recovers than one pass looks at.
TEST(StagingSource, ManyThatWaitForOnePeKeepNobodyBack) {
  SourceRig source;
  ASSERT_NO_FATAL_FAILURE(source.let_pe_3_recover());
  for (int i = 0; i < 12; ++i) ASSERT_EQ(source.put(3, 5000), Post::ok);
  source.turns();
  ASSERT_EQ(source.put(2, 5000), Post::ok);
  source.turns();
  EXPECT_EQ(source.requests(2).size(), 1u);
  EXPECT_EQ(source.requests(3).size(), 1u) << "the first one";
}

/// One of two slots is held by the first put. Each of the others gets the other slot in its turn.
TEST(StagingSource, TransfersGetASlotInTheOrderOfTheirCalls) {
  SourceRig source;
  std::vector<uint64_t> offsets;
  for (uint64_t i = 0; i < 14; ++i)
    ASSERT_EQ(issue(*source.initiator,
                    put_op(*source.context, Remote{3, SegmentId::heap, 4000 * i}, source.base(), 6000, Local::lent)),
              Post::ok);
  source.turns();
  for (uint32_t seen = 0; offsets.size() < 14;) {
    const auto now = source.requests(3);
    ASSERT_FALSE(now.empty()) << "after " << offsets.size();
    for (const StagedMessage& message : now) offsets.push_back(message.offset);
    seen += static_cast<uint32_t>(now.size());
    source.complete_all(0);
    source.complete_all(1);
    source.acknowledge(3, seen);
  }
  EXPECT_EQ(source.context->pending(), 0u);
  std::vector<uint64_t> sorted = offsets;
  std::sort(sorted.begin(), sorted.end());
  for (size_t i = 0; i < sorted.size(); ++i) EXPECT_EQ(sorted[i], 4000 * i);
  for (size_t i = 0; i + 2 < offsets.size(); i += 2)
    EXPECT_LT(std::max(offsets[i], offsets[i + 1]), 4000 * (i + 2)) << "two at a time";
}

/// The CPU must not read there, however short the put.
TEST(StagingSource, WhatOnlyCopiesReachIsCopiedFirst) {
  SourceRig source;
  const std::vector<std::byte> device(100, std::byte{7}), host(100, std::byte{8});
  auto& copier = static_cast<LateCopier&>(*source.staging->source(Port::host).copier);
  copier.alone = device;
  const Remote to{3, SegmentId::heap, 0};
  const Remote unstaged{3, SegmentId::data, 0};
  const auto route = [&](const std::byte* from, bool ours) {
    Op op = put_op(*source.context, unstaged, from, 1, ours ? Local::ours : Local::lent);
    source.initiator->choose_route(op);
    return op.route;
  };
  EXPECT_EQ(route(&device[99], false), Route::staged);
  EXPECT_EQ(route(&host[99], false), Route::whole);
  EXPECT_EQ(route(&device[99], true), Route::whole);
  uint64_t copies = 0;
  for (const auto* bytes : {&device, &host}) {
    ASSERT_EQ(issue(*source.initiator, put_op(*source.context, to, bytes->data(), 100, Local::lent)), Post::ok);
    source.turns();
    EXPECT_EQ(copier.started(), copies += bytes == &device) << "only what the CPU cannot read";
  }
  ASSERT_EQ(issue(*source.initiator, put_op(*source.context, to, device.data(), 8, Local::ours)), Post::ok);
  source.turns();
  EXPECT_EQ(copier.started(), copies);
  const auto found = source.requests(3);
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].nbytes, 100u);
  EXPECT_EQ(found[2].nbytes, 8u);
}

/// What kernels stored where peers fetch it: as many requests leave as there are puts, though a rail has one bounce
/// slot.
TEST(StagingSource, DataInPayloadSlotsIsFetchedFromThereWithoutACopy) {
  SourceRig source;
  std::byte* const payloads = source.staging->payloads().data();
  auto& part = source.staging->source(Port::host);
  const auto& copier = static_cast<LateCopier&>(*part.copier);
  constexpr size_t kPuts = 6, kBytes = 6000;
  const NetSignal signal{SegmentId::heap, 0, 1, SignalOp::add};
  for (size_t i = 0; i < kPuts; ++i) {
    const Remote to{3, SegmentId::heap, 0};
    const std::byte* const from = payloads + i * kBytes + 3;
    ASSERT_EQ(
        issue(*source.initiator, i % 2 == 0 ? put_op(*source.context, to, from, kBytes, Local::lent)
                                            : put_signal_op(*source.context, to, from, kBytes, signal, Local::lent)),
        Post::ok);
  }
  source.turns();
  const auto found = source.requests(3);
  ASSERT_EQ(found.size(), kPuts);
  std::vector<uint64_t> slots;
  for (const StagedMessage& message : found) {
    EXPECT_EQ(message.nbytes, kBytes);
    EXPECT_EQ(message.brings_signal,
              (message.slot - static_cast<uint64_t>(payloads + 3 - part.area.data())) / kBytes % 2);
    slots.push_back(message.slot);
  }
  std::sort(slots.begin(), slots.end());
  for (size_t i = 0; i < kPuts; ++i) EXPECT_EQ(part.area.data() + slots[i], payloads + i * kBytes + 3);
  EXPECT_EQ(copier.started(), 0u);
  source.complete_all(0);
  source.complete_all(1);
  source.acknowledge(3, kPuts);
  EXPECT_EQ(source.context->pending(), 0u);
  // No payload slot went into the pool of bounce slots.
  ASSERT_EQ(source.put(3, 4 * 8192), Post::ok);
  source.turns();
  for (const StagedMessage& message : source.requests(3)) EXPECT_LT(part.area.data() + message.slot, payloads);
}

/// The chunk may be shorter than a payload slot.
TEST(StagingSource, APayloadLongerThanAChunkGoesInPieces) {
  SourceRig source;
  std::byte* const payloads = source.staging->payloads().data();
  const Remote to{3, SegmentId::heap, 0};
  ASSERT_EQ(issue(*source.initiator, put_op(*source.context, to, payloads, 16384 + 100, Local::lent)), Post::ok);
  source.turns();
  const auto found = source.requests(3);
  ASSERT_EQ(found.size(), 3u);
  for (const StagedMessage& message : found) {
    if (message.slot == kNoSlot) {
      EXPECT_EQ(message.nbytes, 100u);
    } else {
      EXPECT_EQ(source.staging->source(Port::host).area.data() + message.slot, payloads + message.offset);
    }
  }
}

/// The peer writes into the kernel's slot, or sends the data, which goes there.
TEST(StagingSource, AGetIntoAPayloadSlotNeedsNoCopy) {
  for (const size_t nbytes : {size_t{6000}, size_t{500}}) {
    SourceRig source;
    auto& part = source.staging->source(Port::host);
    std::byte* const place = source.staging->payloads().data() + 4096 + 3;
    const Remote from{3, SegmentId::heap, 0};
    ASSERT_EQ(issue(*source.initiator, get_op(*source.context, from, place, nbytes, Local::lent)), Post::ok);
    source.turns();
    const size_t r = source.rail_of(MessageKind::staged_get), request = source.messages(r, MessageKind::staged_get)[0];
    const auto message = read_message<StagedMessage>(source.rails[r].posted[request].bytes.data());
    EXPECT_EQ(message.nbytes, nbytes);
    if (nbytes == 6000) {
      EXPECT_EQ(part.area.data() + message.slot, place);
    } else {
      EXPECT_EQ(message.slot, kNoSlot);
    }
    source.complete(r, request);
    source.turns();
    EXPECT_EQ(source.context->pending(), 1u);
    std::vector<std::byte> answer(sizeof(MessageHeader) + (nbytes == 500 ? nbytes : sizeof(uint64_t)), std::byte{7});
    const MessageHeader header{nbytes == 500 ? MessageKind::data : MessageKind::reply,
                               0,
                               0,
                               Answer::none,
                               Port::proxy,
                               SegmentId::heap,
                               0,
                               3,
                               message.header.cell,
                               message.header.sequence,
                               0};
    std::memcpy(answer.data(), &header, sizeof header);
    source.rails[r].deliver_bytes(answer);
    source.turns();
    EXPECT_EQ(source.context->pending(), 0u);
    EXPECT_EQ(static_cast<const LateCopier&>(*part.copier).started(), 0u);
    if (nbytes == 500) {
      EXPECT_EQ(std::count(place, place + nbytes, std::byte{7}), 500);
    }
  }
}

TEST(StagingSource, AShortPayloadTravelsInsideItsMessage) {
  SourceRig source;
  std::byte* const payloads = source.staging->payloads().data();
  std::fill_n(payloads, 1000, std::byte{9});
  ASSERT_EQ(
      issue(*source.initiator, put_op(*source.context, Remote{3, SegmentId::heap, 0}, payloads, 1000, Local::lent)),
      Post::ok);
  source.turns();
  const size_t r = source.rail_of(MessageKind::staged_put);
  const auto& bytes = source.rails[r].posted.at(source.messages(r, MessageKind::staged_put).at(0)).bytes;
  ASSERT_EQ(bytes.size(), sizeof(StagedMessage) + 1000);
  EXPECT_EQ(std::count(bytes.begin() + sizeof(StagedMessage), bytes.end(), std::byte{9}), 1000);
}

}  // namespace
}  // namespace railshmem::test
