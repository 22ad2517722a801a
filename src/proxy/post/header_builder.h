// SPDX-License-Identifier: BSD-3-Clause
// The parts that all messages of one endpoint have in common.
#pragma once

#include "src/plugin/network.h"
#include "src/proxy/post/cell_pool.h"
#include "src/proxy/post/message.h"

namespace railshmem {

struct HeaderBuilder {
  Port port;
  int pe;
  Nonce nonce{};

  /// A request from `cell`, which waits for the answer. Its sequence number is given when it is sent.
  MessageHeader header(MessageKind kind, uint8_t op, uint8_t width, SegmentId segment, const OpCell& cell,
                       Answer answer = Answer::acknowledge) const noexcept {
    return {kind, op, width, answer, port, segment, nonce.high, pe, cell.index, cell.sequence, nonce.low};
  }

  /// A message that nobody counts or waits for.
  MessageHeader bare(MessageKind kind) const noexcept {
    return {kind, 0, 0, Answer::none, port, SegmentId::heap, nonce.high, pe, kNoCell, 0, nonce.low};
  }
  /// An answer: to the request of this cell, or with another number that its kind gives to `cell`.
  MessageHeader answer(MessageKind kind, uint32_t cell, uint32_t sequence = 0) const noexcept {
    return {kind, 0, 0, Answer::none, port, SegmentId::heap, nonce.high, pe, cell, sequence, nonce.low};
  }

  /// A staged put or get, or a piece of one, without a slot. It brings the signal of `signals`, if not null.
  StagedMessage staged(MessageKind kind, const OpCell& cell, const OpCell* signals = nullptr) const noexcept {
    StagedMessage message{};
    const Answer answer = kind == MessageKind::staged_get ? Answer::reply : Answer::acknowledge;
    message.header = header(kind, 0, 0, cell.segment, cell, answer);
    message.offset = cell.remote_offset;
    message.slot = kNoSlot;
    message.nbytes = static_cast<uint32_t>(cell.what.nbytes);
    if (signals == nullptr) return message;
    message.brings_signal = 1;
    message.signal_op = signals->signal.op;
    message.signal_segment = signals->signal.segment;
    message.signal_offset = signals->signal.offset;
    message.signal_value = signals->signal.value;
    return message;
  }

  SignalMessage signal(const NetSignal& signal, const OpCell& cell) const noexcept {
    return {header(MessageKind::signal, static_cast<uint8_t>(signal.op), 8, signal.segment, cell), signal.offset,
            signal.value};
  }
};

}  // namespace railshmem
