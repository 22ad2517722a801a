// SPDX-License-Identifier: BSD-3-Clause
// This PE's symmetric memory as peers' requests name it: checked places, and words that requests change.
#pragma once

#include <array>
#include <span>

#include "src/plugin/execute.h"
#include "src/plugin/network.h"
#include "src/plugin/segment.h"
#include "src/proxy/post/message.h"
#include "src/proxy/post/message_check.h"
#include "src/proxy/staging/staging.h"

namespace railshmem {

/// check() says whether a request may be executed; everything else expects that it may. The copier of staged memory
/// updates the words there.
class TargetMemory {
 public:
  /// Where `staging` is null, all memory is host memory.
  TargetMemory(std::span<const Segment> segments, StagingPart* staging) : staging_(staging) {
    for (const Segment& segment : segments) segments_[static_cast<size_t>(segment.id)] = segment;
  }

  bool is_staged(SegmentId id) const noexcept {
    const auto index = static_cast<size_t>(id);
    return index < kSegments && segments_[index].kind == MemoryKind::staged;
  }

  /// Whether all memory that the request names is there. The message has passed check_message().
  Flaw check(const MessageHeader& header, const std::byte* bytes) const noexcept {
    switch (header.kind) {
      case MessageKind::amo:
        return flaw_unless(has_word(header.segment, read_message<AmoMessage>(bytes).offset, header.width));
      case MessageKind::signal:
        return flaw_unless(has_word(header.segment, read_message<SignalMessage>(bytes).offset, 8));
      case MessageKind::flag:
        return flaw_unless(has_word(header.segment, read_message<FlagMessage>(bytes).offset, 8));
      case MessageKind::put_signal: {
        const auto m = read_message<PutSignalMessage>(bytes);
        return flaw_unless(has_word(header.segment, m.signal_offset, 8) &&
                           has(m.data_segment, m.data_offset, m.nbytes));
      }
      case MessageKind::get: {
        const auto m = read_message<GetMessage>(bytes);
        return flaw_unless(exposes(header.segment, m.offset, m.nbytes));
      }
      case MessageKind::staged_put:
      case MessageKind::staged_get: {
        const auto m = read_message<StagedMessage>(bytes);
        return flaw_unless(staging_ != nullptr && has(header.segment, m.offset, m.nbytes) &&
                           (m.brings_signal == 0 || has_word(m.signal_segment, m.signal_offset, 8)));
      }
      default:
        return Flaw::none;
    }
  }

  std::byte* place(SegmentId id, uint64_t offset) const noexcept {
    return segments_[static_cast<size_t>(id)].base + offset;
  }
  /// The place that rails reach: for a staged segment, a place in the bounce area.
  std::byte* exposed(SegmentId id, uint64_t offset) const noexcept {
    return is_staged(id) ? staging_->area.data() + offset : place(id, offset);
  }

  /// The address of a word, or null where this PE has none there. `width` is 4 or 8.
  std::byte* find_word(SegmentId id, uint64_t offset, size_t width) const noexcept {
    return has_word(id, offset, width) ? place(id, offset) : nullptr;
  }

  /// The update of an AmoMessage at `bytes`; returns the old value.
  static uint64_t amo(std::byte* word, const MessageHeader& header, const std::byte* bytes) noexcept {
    const auto op = static_cast<AmoOp>(header.op);
    const auto operand = read_at<uint64_t>(bytes + offsetof(AmoMessage, operand));
    const auto compare = read_at<uint64_t>(bytes + offsetof(AmoMessage, compare));
    if (header.width == 4)
      return execute_amo(reinterpret_cast<uint32_t*>(word), op, static_cast<uint32_t>(operand),
                         static_cast<uint32_t>(compare));
    return execute_amo(reinterpret_cast<uint64_t*>(word), op, operand, compare);
  }
  uint64_t amo(const MessageHeader& header, const std::byte* bytes) const noexcept {
    return amo(place(header.segment, read_at<uint64_t>(bytes + offsetof(AmoMessage, offset))), header, bytes);
  }

  void signal(SegmentId id, uint64_t offset, SignalOp op, uint64_t value) const noexcept {
    if (is_staged(id)) [[unlikely]] {
      staged_amo(id, offset, {op == SignalOp::set ? AmoOp::set : AmoOp::add, 8, value, 0});
    } else {
      execute_signal(word<uint64_t>(id, offset), op, value);
    }
  }

  /// The update of a staged word that a request asks for: an atomic operation, or an adding signal without data.
  WordAmo staged_word(const MessageHeader& header, uint64_t offset, uint64_t operand, uint64_t compare) const noexcept {
    if (header.kind == MessageKind::signal) return staged_word(header.segment, offset, {AmoOp::add, 8, operand, 0});
    return staged_word(header.segment, offset, {static_cast<AmoOp>(header.op), header.width, operand, compare});
  }
  Copier& copier() const noexcept { return *staging_->copier; }

  /// The address of a signal word in staged memory.
  std::byte* signal_word(const NetSignal& signal) const noexcept { return place(signal.segment, signal.offset); }

  void flag(const FlagMessage& message) const noexcept {
    const MessageHeader& header = message.header;
    if (!is_staged(header.segment)) [[likely]]
      return raise_flag(word<uint64_t>(header.segment, message.offset), message.value);
    if (message.value == 0) return;  // as raise_flag()
    const auto amo = [&](AmoOp op, uint64_t operand, uint64_t compare) {
      return staged_amo(header.segment, message.offset, {op, 8, operand, compare});
    };
    uint64_t seen = amo(AmoOp::fetch, 0, 0);
    while (seen < message.value) {
      const uint64_t found = amo(AmoOp::compare_swap, message.value, seen);
      if (found == seen) return;
      seen = found;
    }
  }

 private:
  static Flaw flaw_unless(bool there) noexcept { return there ? Flaw::none : Flaw::place; }
  static bool within(size_t size, uint64_t offset, uint64_t nbytes) noexcept {
    return offset <= size && nbytes <= size - offset;
  }
  bool has(SegmentId id, uint64_t offset, uint64_t nbytes) const noexcept {
    return within(segments_[static_cast<size_t>(id)].nbytes, offset, nbytes);
  }
  bool has_word(SegmentId id, uint64_t offset, size_t width) const noexcept {
    return has(id, offset, width) && (reinterpret_cast<uintptr_t>(place(id, offset)) & (width - 1)) == 0;
  }
  bool exposes(SegmentId id, uint64_t offset, uint64_t nbytes) const noexcept {
    if (!is_staged(id)) [[likely]]
      return has(id, offset, nbytes);
    return id == staging_->bounce && within(staging_->area.size(), offset, nbytes);
  }

  uint64_t staged_amo(SegmentId id, uint64_t offset, const NetAmo& amo) const noexcept {
    WordAmo one = staged_word(id, offset, amo);
    staging_->copier->amos({&one, 1});
    return one.old;
  }
  WordAmo staged_word(SegmentId id, uint64_t offset, const NetAmo& amo) const noexcept {
    return {place(id, offset), amo.width, amo.op, amo.operand, amo.compare};
  }

  template <class Word>
  Word* word(SegmentId id, uint64_t offset) const noexcept {
    return reinterpret_cast<Word*>(place(id, offset));
  }

  std::array<Segment, kSegments> segments_{};
  StagingPart* const staging_;
};

}  // namespace railshmem
