// SPDX-License-Identifier: BSD-3-Clause
// Updates of staged words that peers ask for: collected during a turn, executed together, each once and in order.
#include <gtest/gtest.h>

#include <vector>

#include "tests/support/staged_rig.h"

namespace railshmem::test {
namespace {

struct WordTarget : StagedRig {
  WordTarget() : StagedRig(Port::proxy, 1) { heap.assign(heap.size(), 0); }

  template <class M>
  void arrive(const M& message, size_t r = 0) {
    responder->execute(r, reinterpret_cast<const std::byte*>(&message), sizeof message);
  }
  MessageHeader header(MessageKind kind, uint8_t op, int pe, uint32_t sequence, Answer answer) {
    return {kind, op, 8, answer, Port::host, SegmentId::heap, 0, pe, sequence, sequence, 0};
  }
  AmoMessage amo(AmoOp op, uint64_t word, uint64_t operand, uint32_t sequence, int pe = 2) {
    return {header(MessageKind::amo, static_cast<uint8_t>(op), pe, sequence,
                   amo_fetches(op) ? Answer::reply : Answer::acknowledge),
            8 * word, operand, 0};
  }
  SignalMessage signal(SignalOp op, uint64_t word, uint64_t value, uint32_t sequence, int pe = 2) {
    return {header(MessageKind::signal, static_cast<uint8_t>(op), pe, sequence, Answer::acknowledge), 8 * word, value};
  }
  uint64_t trips() { return static_cast<LateCopier&>(*staging->target().copier).trips(); }
  /// Values of all replies so far, by the number of the request.
  std::vector<uint64_t> replies(size_t requests) {
    std::vector<uint64_t> values(requests, ~uint64_t{0});
    for (const ScriptedRail& rail : rails)
      for (const ScriptedRail::Posted& p : rail.posted) {
        const auto h = read_message<MessageHeader>(p.bytes.data());
        if (h.kind == MessageKind::reply)
          values.at(h.sequence) = read_message<ReplyMessage>(p.bytes.data()).value;
        else if (h.kind == MessageKind::replies)
          for (uint32_t i = 0; i < h.cell; ++i) {
            ReplyItem item;
            std::memcpy(&item, p.bytes.data() + sizeof h + i * sizeof item, sizeof item);
            values.at(item.sequence) = item.value;
          }
      }
    return values;
  }
};

TEST(WordRequests, ThoseOfOneTurnTakeOneTripAndAreAnsweredWithWhatTheyFound) {
  WordTarget target;
  for (uint32_t i = 0; i < 40; ++i) target.arrive(target.amo(AmoOp::fetch_add, i % 4, 1 + i % 4, i));
  EXPECT_TRUE(target.responder->owes_answers());
  EXPECT_EQ(target.trips(), 0u) << "collected";
  target.responder->flush();
  EXPECT_EQ(target.trips(), 1u);
  EXPECT_EQ(std::vector<uint64_t>(target.heap.begin(), target.heap.begin() + 4),
            (std::vector<uint64_t>{10, 20, 30, 40}));
  target.turns();
  const std::vector<uint64_t> found = target.replies(40);
  for (uint32_t i = 0; i < 40; ++i) EXPECT_EQ(found[i], (i / 4) * (1 + i % 4)) << i;
  EXPECT_FALSE(target.responder->owes_answers());
}

TEST(WordRequests, MoreThanFitAreAllExecuted) {
  WordTarget target;
  for (uint32_t i = 0; i < 200; ++i) target.arrive(target.amo(AmoOp::add, i % 50, 1, i));
  target.turns();
  for (size_t word = 0; word < 50; ++word) EXPECT_EQ(target.heap[word], 4u);
}

TEST(WordRequests, WhatComesBetweenFindsWhatWasBefore) {
  WordTarget target;
  target.arrive(target.amo(AmoOp::add, 1, 5, 0));
  target.arrive(target.signal(SignalOp::add, 1, 6, 1));
  target.arrive(target.signal(SignalOp::set, 1, 100, 2));
  target.arrive(target.amo(AmoOp::fetch_add, 1, 1, 3));
  target.turns();
  EXPECT_EQ(target.heap[1], 101u);
  EXPECT_EQ(target.replies(4)[3], 100u) << "the set came before it";
}

TEST(WordRequests, ARepeatedOneIsExecutedOnceAndAnsweredAlike) {
  WordTarget target;
  target.arrive(target.amo(AmoOp::fetch_add, 0, 7, 0), 0);
  target.arrive(target.amo(AmoOp::fetch_add, 0, 7, 1), 0);
  target.arrive(target.amo(AmoOp::fetch_add, 0, 7, 1), 1);  // its rail seemed dead
  target.turns();
  EXPECT_EQ(target.heap[0], 14u);
  size_t answers = 0;
  for (const ScriptedRail& rail : target.rails)
    for (const ScriptedRail::Posted& p : rail.posted) {
      const auto h = read_message<MessageHeader>(p.bytes.data());
      if (h.kind != MessageKind::reply || h.sequence != 1) continue;
      EXPECT_EQ(read_message<ReplyMessage>(p.bytes.data()).value, 7u);
      ++answers;
    }
  EXPECT_GE(answers, 1u);
  target.arrive(target.amo(AmoOp::fetch_add, 0, 7, 0), 1);
  target.turns();
  EXPECT_EQ(target.heap[0], 14u);
}

}  // namespace
}  // namespace railshmem::test
