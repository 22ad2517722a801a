// SPDX-License-Identifier: BSD-3-Clause
// This PE's symmetric memory as peers' requests name it: checked places, and words that requests change.
#pragma once

#include <array>
#include <span>

#include "src/base/log.h"
#include "src/plugin/execute.h"
#include "src/plugin/network.h"
#include "src/plugin/segment.h"
#include "src/proxy/post/message.h"
#include "src/proxy/staging/staging.h"

namespace railshmem {

/// A range outside the segments ends the job, because the source already counts on the operation. The copier of staged
/// memory updates the words there.
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

  std::byte* place(const MessageHeader& header, SegmentId id, uint64_t offset, uint64_t nbytes,
                   const char* what) const noexcept {
    const size_t index = static_cast<size_t>(id);
    const size_t size = index < kSegments ? segments_[index].nbytes : 0;
    if (offset > size || nbytes > size - offset)
      die("%s from PE %d: %llu bytes at offset %llu are outside this PE's %s of %zu bytes; does every PE use "
          "the same symmetric sizes and executable?",
          what, header.pe, static_cast<unsigned long long>(nbytes), static_cast<unsigned long long>(offset),
          name_of(id), size);
    return segments_[index].base + offset;
  }

  /// The checked place that rails reach: for a staged segment, a place in the bounce area.
  std::byte* exposed(const MessageHeader& header, SegmentId id, uint64_t offset, uint64_t nbytes,
                     const char* what) const noexcept {
    if (!is_staged(id)) [[likely]]
      return place(header, id, offset, nbytes, what);
    const size_t size = id == staging_->bounce ? staging_->area.size() : 0;
    if (offset > size || nbytes > size - offset)
      die("%s from PE %d: %llu bytes at offset %llu are outside this PE's bounce area of %zu bytes; do "
          "all PEs run the same build?",
          what, header.pe, static_cast<unsigned long long>(nbytes), static_cast<unsigned long long>(offset), size);
    return staging_->area.data() + offset;
  }

  uint64_t amo(const AmoMessage& message) const noexcept {
    const MessageHeader& header = message.header;
    const AmoOp op = static_cast<AmoOp>(header.op);
    if (header.width == 4)
      return execute_amo(word<uint32_t>(header, header.segment, message.offset, "atomic operation"), op,
                         static_cast<uint32_t>(message.operand), static_cast<uint32_t>(message.compare));
    return execute_amo(word<uint64_t>(header, header.segment, message.offset, "atomic operation"), op, message.operand,
                       message.compare);
  }

  void signal(const MessageHeader& header, SegmentId id, uint64_t offset, SignalOp op, uint64_t value,
              const char* what) const noexcept {
    if (is_staged(id)) [[unlikely]] {
      staged_amo(header, id, offset, {op == SignalOp::set ? AmoOp::set : AmoOp::add, 8, value, 0}, what);
    } else {
      execute_signal(word<uint64_t>(header, id, offset, what), op, value);
    }
  }

  /// The update of a staged word that a request asks for: an atomic operation, or an adding signal without data.
  WordAmo staged_word(const MessageHeader& header, uint64_t offset, uint64_t operand, uint64_t compare) const noexcept {
    if (header.kind == MessageKind::signal)
      return staged_word(header, header.segment, offset, {AmoOp::add, 8, operand, 0}, "signal");
    return staged_word(header, header.segment, offset, {static_cast<AmoOp>(header.op), header.width, operand, compare},
                       "atomic operation");
  }
  Copier& copier() const noexcept { return *staging_->copier; }

  /// The address of a signal word in staged memory.
  std::byte* signal_word(const MessageHeader& header, const NetSignal& signal) const noexcept {
    return reinterpret_cast<std::byte*>(word<uint64_t>(header, signal.segment, signal.offset, "signal"));
  }

  void flag(const FlagMessage& message) const noexcept {
    const MessageHeader& header = message.header;
    if (!is_staged(header.segment)) [[likely]]
      return raise_flag(word<uint64_t>(header, header.segment, message.offset, "flag"), message.value);
    if (message.value == 0) return;  // as raise_flag()
    const auto amo = [&](AmoOp op, uint64_t operand, uint64_t compare) {
      return staged_amo(header, header.segment, message.offset, {op, 8, operand, compare}, "flag");
    };
    uint64_t seen = amo(AmoOp::fetch, 0, 0);
    while (seen < message.value) {
      const uint64_t found = amo(AmoOp::compare_swap, message.value, seen);
      if (found == seen) return;
      seen = found;
    }
  }

 private:
  uint64_t staged_amo(const MessageHeader& header, SegmentId id, uint64_t offset, const NetAmo& amo,
                      const char* what) const noexcept {
    WordAmo one = staged_word(header, id, offset, amo, what);
    staging_->copier->amos({&one, 1});
    return one.old;
  }
  WordAmo staged_word(const MessageHeader& header, SegmentId id, uint64_t offset, const NetAmo& amo,
                      const char* what) const noexcept {
    std::byte* const at = amo.width == 4 ? reinterpret_cast<std::byte*>(word<uint32_t>(header, id, offset, what))
                                         : reinterpret_cast<std::byte*>(word<uint64_t>(header, id, offset, what));
    return {at, amo.width, amo.op, amo.operand, amo.compare};
  }

  template <class Word>
  Word* word(const MessageHeader& header, SegmentId id, uint64_t offset, const char* what) const noexcept {
    std::byte* const at = place(header, id, offset, sizeof(Word), what);
    if (reinterpret_cast<uintptr_t>(at) % sizeof(Word) != 0)
      die("%s from PE %d: offset %llu is not aligned to the word's %zu bytes; pass the address of a whole variable",
          what, header.pe, static_cast<unsigned long long>(offset), sizeof(Word));
    return reinterpret_cast<Word*>(at);
  }

  std::array<Segment, kSegments> segments_{};
  StagingPart* const staging_;
};

}  // namespace railshmem
