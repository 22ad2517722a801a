// SPDX-License-Identifier: BSD-3-Clause
// An initiator of PE 0 over rails that the test plays itself.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "tests/support/issue.h"
#include "tests/support/scripted_rail.h"

namespace railshmem::test {

inline const NetSignal kSignal{SegmentId::heap, 8, 1, SignalOp::set};
inline const NetAmo kAdd{AmoOp::add, 8, 1, 0};

struct RigOptions {
  size_t rails = 1;
  RailTraits shape{64, 1 << 20, 4096, false};
  size_t cells = 8;
  Tuning tuning{};
  const LostPeers* lost = nullptr;
};

/// Small pieces and windows, so that a test of a few KiB sees several of them.
inline Tuning small_pieces() {
  Tuning tuning;
  tuning.stripe_min = 8192;
  tuning.shortest_piece = 4096;
  tuning.longest_piece = 16384;
  tuning.rail_window = 32768;
  return tuning;
}

struct InitiatorRig {
  static constexpr int kPe = 3;  ///< the target, unless a test says otherwise

  explicit InitiatorRig(const RigOptions& options = {}) : rails(options.rails), completed_(options.rails) {
    for (ScriptedRail& each : rails) each.shape = options.shape;
    initiator.emplace(std::span(rails), InitiatorConfig{.port = Port::host,
                                                        .pe = 0,
                                                        .npes = 4,
                                                        .cells = options.cells,
                                                        .tuning = options.tuning,
                                                        .lost = options.lost});
    context = &initiator->add_context();
    for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * 31 + (i >> 8) * 7);
  }

  Op put_of(size_t nbytes, int pe = kPe, Local use = Local::lent) {
    return put_op(*context, {pe, SegmentId::heap, 100}, bytes.data(), nbytes, use);
  }
  Post put(size_t nbytes, int pe = kPe, const Outcome& outcome = {}) {
    return issue(*initiator, with(put_of(nbytes, pe), outcome));
  }
  Post put_signal(size_t nbytes, int pe = kPe, const Outcome& outcome = {}) {
    const Remote to{pe, SegmentId::heap, 100};
    return issue(*initiator, with(put_signal_op(*context, to, bytes.data(), nbytes, kSignal, Local::lent), outcome));
  }
  /// An atomic operation on the word at 8 of `pe`.
  Post amo(const NetAmo& amo, void* fetch = nullptr, int pe = kPe) {
    return issue(*initiator, amo_op(*context, {pe, SegmentId::heap, 8}, amo, fetch, Local::lent));
  }
  Post add(int pe = kPe) { return amo(kAdd, nullptr, pe); }

  /// Whether an operation of 8 bytes may be issued now.
  bool in_order(OpKind kind, int pe = kPe, NetContext* other = nullptr) {
    Op op = put_of(8, pe);
    op.kind = kind;
    if (other != nullptr) op.context = other;
    initiator->choose_route(op);
    return initiator->in_order(op, op.context->fences);
  }

  bool poll() {
    return initiator->poll([](size_t, const std::byte*, size_t) { FAIL() << "a request for an initiator"; });
  }
  /// Polls until every rail's events are taken: a rail where nothing is expected is polled only now and then.
  void poll_all() {
    for (int i = 0; i < 64; ++i) poll();
  }

  /// The target has executed all requests before `first_missing`, and those after it whose bit is set.
  void acknowledge(uint32_t first_missing, uint64_t executed = 0, int pe = kPe, size_t r = 0) {
    rails[r].deliver(AcknowledgeMessage{
        {MessageKind::acknowledge, 0, 0, Answer::none, Port::proxy, SegmentId::heap, 0, pe, 0, first_missing, 0},
        executed});
    poll_all();
  }
  void reply(const MessageHeader& asked, uint64_t value, int pe = kPe, size_t r = 0) {
    rails[r].deliver(ReplyMessage{
        {MessageKind::reply, 0, 0, Answer::none, Port::proxy, SegmentId::heap, 0, pe, asked.cell, asked.sequence, 0},
        value});
    poll_all();
  }

  /// Everything posted on rail `r` with a slot since the last call is complete.
  size_t complete(size_t r) {
    size_t events = 0;
    for (; completed_[r] < rails[r].posted.size(); ++completed_[r])
      if (OpSlot* slot = rails[r].posted[completed_[r]].slot) {
        rails[r].complete(slot);
        ++events;
      }
    return events;
  }
  /// Completes posts on all rails, until nothing more is posted.
  void complete_all() {
    for (bool moved = true; moved;) {
      moved = false;
      for (size_t r = 0; r < rails.size(); ++r) moved |= complete(r) > 0;
      poll_all();
    }
  }

  void forget_posts() {
    for (size_t r = 0; r < rails.size(); ++r) {
      rails[r].posted.clear();
      completed_[r] = 0;
    }
  }

  int count(char what) const {
    int n = 0;
    for (const ScriptedRail& each : rails) n += each.count(what);
    return n;
  }
  size_t posted() const {
    size_t n = 0;
    for (const ScriptedRail& each : rails) n += each.posted.size();
    return n;
  }
  /// The rail of the only post there is.
  size_t rail_of_only_post() const {
    EXPECT_EQ(posted(), 1u);
    for (size_t r = 0; r < rails.size(); ++r)
      if (!rails[r].posted.empty()) return r;
    return rails.size();
  }

  std::vector<ScriptedRail> rails;
  ScriptedRail& rail = rails[0];
  std::optional<Initiator<ScriptedRail>> initiator;
  NetContext* context;
  std::vector<std::byte> bytes = std::vector<std::byte>(1 << 17);

 private:
  std::vector<size_t> completed_;  ///< by rail, how many of the posts
};

}  // namespace railshmem::test
