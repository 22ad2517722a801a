// SPDX-License-Identifier: BSD-3-Clause
// The source's pieces of staged transfers, each on its way through a slot: copy, request, answer. See staging.h.
#pragma once

#include <algorithm>
#include <cstring>
#include <vector>

#include "src/proxy/post/operation_table.h"
#include "src/proxy/post/requests.h"
#include "src/proxy/staging/copy_list.h"
#include "src/proxy/staging/staging.h"

namespace railshmem {

/// What a piece found when it was to start. no_slot: none of its kind. no_peer: its PE takes no request now. none:
/// there is no room for any piece.
enum class PieceRoom : uint8_t { found, no_slot, no_peer, none };

/// Fixed capacities: nothing here allocates after construction. Cells of pieces are of kind staged_piece, with the slot
/// in OpCell::staging.
template <Rail R>
class StagedPieces {
 public:
  StagedPieces(OperationTable<R>& table, Requests<R>& requests, StagingPart& part, size_t max_message, size_t most)
      : table_(table),
        requests_(requests),
        part_(part),
        longest_inline_(std::min({table.tuning.max_inline, max_message - sizeof(StagedMessage),
                                  part.pool(SlotKind::small).slot_nbytes() - sizeof(StagedMessage)})),
        most_(most),
        copies_(most) {
    ready_.reserve(most_);
  }

  /// Data of up to this length travels inside messages.
  size_t longest_inline() const noexcept { return longest_inline_; }
  bool is_short(size_t nbytes) const noexcept { return nbytes <= longest_inline_; }

  /// Of the slot that a piece of so many bytes takes.
  SlotKind kind_of(size_t nbytes) const noexcept { return is_short(nbytes) ? SlotKind::small : part_.kind_for(nbytes); }

  /// Piece `at` to `at + n` of a transfer, one part more of it. Unless room is found nothing happens.
  template <class FinishPart>
  PieceRoom start(OpCell& whole, size_t at, size_t n, FinishPart&& finish_part) noexcept {
    BouncePool& pool = part_.pool(kind_of(n));
    const bool is_there = part_.is_payload(whole.local);  // peers reach the kernel's slot
    if (under_way_ == most_) return PieceRoom::none;
    if (!is_there && pool.empty()) return PieceRoom::no_slot;
    // One that cannot be sent would keep a slot from those to other PEs.
    if (!requests_.may_send(whole.what.pe)) return PieceRoom::no_peer;
    OpCell* const piece = table_.cells().take({OpKind::staged_piece, whole.what.pe, n});
    if (piece == nullptr) return PieceRoom::none;
    ++under_way_;
    ++whole.parts_left;
    piece->parent = whole.index;
    piece->unordered = n < whole.what.nbytes;
    piece->staging = is_there ? static_cast<uint64_t>(whole.local + at - part_.area.data()) : pool.take();
    piece->segment = whole.segment;
    piece->remote_offset = whole.remote_offset + at;
    piece->local = whole.local + at;
    if (whole.what.kind == OpKind::staged_get) {
      // Only a reply ends it, whose value is of no width; or data, for the slot.
      piece->fetch = part_.at(piece->staging);
      if (!send(*piece)) ready_.push_back(piece->index);
    } else if (is_there) {
      copied(*piece, finish_part);
    } else {
      copy(*piece, pool.at(piece->staging), piece->local, finish_part);
    }
    return PieceRoom::found;
  }

  /// True when something moved. Parts that end go to finish_part(whole).
  template <class FinishPart>
  bool step(FinishPart&& finish_part) noexcept {
    const bool moved = copies_.step(*part_.copier, [&](uint32_t cell, uint64_t began) {
      OpCell& piece = table_.cells()[cell];
      part_.copied(began, piece.what.nbytes);
      copied(piece, finish_part);
    });
    return send_ready() || moved;
  }

  /// The target has executed the piece's request.
  template <class FinishPart>
  void answered(OpCell& piece, FinishPart&& finish_part) noexcept {
    if (gets(piece) && !part_.is_payload(piece.local)) {
      copy(piece, piece.local, part_.at(piece.staging), finish_part);
    } else {
      end(piece, finish_part);
    }
  }

  void forget() noexcept {
    copies_.clear();
    ready_.clear();
    under_way_ = 0;
  }

 private:
  bool gets(const OpCell& piece) const noexcept { return table_.cells()[piece.parent].what.kind == OpKind::staged_get; }

  template <class FinishPart>
  void copy(OpCell& piece, std::byte* to, const std::byte* from, FinishPart&& finish_part) noexcept {
    const uint64_t began = part_.ticks();
    const Copier::Ticket ticket = part_.copier->start(to, from, piece.what.nbytes);
    if (!part_.copier->finished(ticket)) return copies_.add(piece.index, ticket, began);
    part_.copied(began, piece.what.nbytes);
    copied(piece, finish_part);
  }

  template <class FinishPart>
  void copied(OpCell& piece, FinishPart&& finish_part) noexcept {
    if (gets(piece)) return end(piece, finish_part);
    OpCell& whole = table_.cells()[piece.parent];
    if ((whole.staging -= piece.what.nbytes) == 0) {
      notify(whole.outcome.done);  // the source is free
      whole.outcome.done = nullptr;
    }
    if (!ready_.empty() || !send(piece)) ready_.push_back(piece.index);
  }

  bool send_ready() noexcept {
    size_t kept = 0;
    for (size_t i = 0; i < ready_.size(); ++i)
      if (table_.abandoned() || !send(table_.cells()[ready_[i]])) ready_[kept++] = ready_[i];
    const size_t before = ready_.size();
    ready_.resize(kept);
    return kept < before;
  }

  bool send(OpCell& piece) noexcept {
    const OpCell& whole = table_.cells()[piece.parent];
    const bool get = gets(piece), brief = is_short(piece.what.nbytes);
    const MessageKind kind = get ? MessageKind::staged_get : MessageKind::staged_put;
    // The one piece of a put_signal brings the signal, which otherwise follows when all are there.
    const bool signals = whole.what.kind == OpKind::put_signal && whole.state.has_no_request();
    return requests_.ask_from(piece, [&](std::byte* bytes) {
      StagedMessage message = table_.headers.staged(kind, piece, signals ? &whole : nullptr);
      if (!brief) message.slot = piece.staging;
      std::memcpy(bytes, &message, sizeof message);
      if (get || !brief) return sizeof message;
      std::memcpy(bytes + sizeof message, part_.at(piece.staging), piece.what.nbytes);
      return sizeof message + piece.what.nbytes;
    }) == Post::ok;
  }

  template <class FinishPart>
  void end(OpCell& piece, FinishPart&& finish_part) noexcept {
    OpCell& whole = table_.cells()[piece.parent];
    if (!part_.is_payload(piece.local)) part_.pool(kind_of(piece.what.nbytes)).give(piece.staging);
    table_.give(piece);
    --under_way_;
    finish_part(whole);
  }

  OperationTable<R>& table_;
  Requests<R>& requests_;
  StagingPart& part_;
  const size_t longest_inline_;
  const size_t most_;
  CopyList copies_;
  std::vector<uint32_t> ready_;  ///< pieces whose request found no room
  size_t under_way_ = 0;
};

}  // namespace railshmem
