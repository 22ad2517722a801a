// SPDX-License-Identifier: BSD-3-Clause
// One request for staged data, and how far the target is with it.
#pragma once

#include <cstdint>

#include "src/plugin/copier.h"
#include "src/plugin/op.h"
#include "src/proxy/post/message.h"
#include "src/proxy/staging/bounce_pool.h"

namespace railshmem {

/// What a StagedMessage, a PutSignalMessage or a SignalMessage (no data then) asks for.
struct StagedRequest {
  MessageHeader header;
  bool gets;
  bool signals;
  SegmentId segment;  ///< of the final memory
  uint64_t offset;
  uint64_t slot;  ///< of the source, or kNoSlot
  uint32_t nbytes;
  NetSignal signal;

  static StagedRequest of(const StagedMessage& m) noexcept {
    const MessageHeader& h = m.header;
    return {h,
            h.kind == MessageKind::staged_get,
            m.brings_signal != 0,
            h.segment,
            m.offset,
            m.slot,
            m.nbytes,
            {m.signal_segment, m.signal_offset, m.signal_value, m.signal_op}};
  }
  static StagedRequest of(const PutSignalMessage& m) noexcept {
    const MessageHeader& h = m.header;
    return {h,
            false,
            true,
            m.data_segment,
            m.data_offset,
            kNoSlot,
            m.nbytes,
            {h.segment, m.signal_offset, m.value, static_cast<SignalOp>(h.op)}};
  }
  static StagedRequest of(const SignalMessage& m) noexcept {
    const MessageHeader& h = m.header;
    return {h,        false,   true, h.segment,
            m.offset, kNoSlot, 0,    {h.segment, m.offset, m.value, static_cast<SignalOp>(h.op)}};
  }
};

struct StagedOrder {
  StagedRequest request;
  Endpoint from;
  uint8_t rail;  ///< that it came over

  /// The data travels inside messages.
  bool is_small() const noexcept { return request.slot == kNoSlot; }
  /// An answer's header stands before its data.
  size_t slot_head() const noexcept { return is_small() ? sizeof(MessageHeader) : 0; }
  bool is(const StagedOrder& other) const noexcept {
    return from.pe == other.from.pe && from.port == other.from.port &&
           request.header.sequence == other.request.header.sequence;
  }
};

struct StagedJob : StagedOrder {
  /// put: to_fetch, fetching, storing; short ones, and those of shared slots, begin with storing. get: loading, then
  /// to_bring and bringing, or answering; of shared slots loading only.
  enum class Stage : uint8_t { to_fetch, fetching, storing, loading, to_bring, bringing, answering } stage;
  std::byte* data;  ///< in a slot: of this PE, or of the source where that is mapped
  bool shared;      ///< it is the source's
  bool moved;       ///< the rail has moved the data; see notify()
  bool signalled;   ///< the copier stores the signal behind the data
  SlotKind slot_kind;
  uint64_t slot;
  Copier::Ticket ticket;
  uint64_t began;  ///< StagingPart::ticks() at the copy's start
  Op transfer;     ///< between the source's slot and this one
};

}  // namespace railshmem
