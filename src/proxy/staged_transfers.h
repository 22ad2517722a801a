// SPDX-License-Identifier: BSD-3-Clause
// The source's side of staging: puts and gets of which one end is memory that rails cannot reach. See staging.h.
#pragma once

#include <algorithm>
#include <cstring>
#include <vector>

#include "src/proxy/desk.h"
#include "src/proxy/requests.h"
#include "src/proxy/staging.h"

namespace railshmem {

/// Fixed capacities: nothing here allocates after construction.
///
/// A transfer is a cell, the whole, and one cell more per piece (OpKind::staged_piece), which is a request. Never do
/// they take all cells: serving peers' requests needs some, and two PEs could wait for each other.
template <Rail R>
class StagedTransfers {
 public:
  StagedTransfers(Desk<R>& desk, Requests<R>& requests, StagingPart& part, size_t max_message)
      : desk_(desk),
        requests_(requests),
        part_(part),
        longest_inline_(std::min({desk.tuning.max_inline, max_message - sizeof(StagedMessage),
                                  part.small.slot_nbytes() - sizeof(StagedMessage)})),
        most_wholes_(std::max<size_t>(desk.cells.size() / 4, 1)),
        most_pieces_(most_wholes_) {
    wholes_.reserve(most_wholes_);
    copies_.reserve(most_pieces_);
    ready_.reserve(most_pieces_);
  }
  StagedTransfers(const StagedTransfers&) = delete;

  /// Either end of the transfer is out of the rails' reach.
  bool concerns(const Remote& remote, const void* local) const noexcept {
    return part_.stages(remote.segment) || part_.holds(local);
  }

  /// Takes over a put, get or put_signal (`signal` not null); step() must follow. outcome.done tells of a put when its
  /// source is free. On `again` nothing happened.
  Post start(NetContext& scope, const Transfer& t, const NetSignal* signal, const Outcome& outcome) noexcept {
    const bool put = t.kind != OpKind::get;
    if (put && t.nbytes <= longest_inline_ && !part_.holds(t.local))
      return signal != nullptr ? requests_.put_signal(scope, t, *signal, outcome)
                               : requests_.staged_put(scope, t, outcome);
    if (wholes_.size() == most_wholes_) return Post::again;
    const OpKind kind = signal != nullptr ? OpKind::put_signal : put ? OpKind::staged_put : OpKind::staged_get;
    OpCell* const whole = desk_.cells.take({kind, t.remote.pe, t.nbytes});
    if (whole == nullptr) return Post::again;
    whole->parts_left = 1;  // a hold, until all pieces are on their way
    whole->segment = t.remote.segment;
    whole->remote_offset = t.remote.offset;
    whole->local = t.local;
    whole->staging = t.nbytes;
    whole->lasting = true;
    ++desk_.lasting;
    if (signal != nullptr) {
      whole->signal_op = signal->op;
      whole->signal_segment = signal->segment;
      whole->signal_offset = signal->offset;
      whole->signal_value = signal->value;
      if (next_piece(*whole, 0) < t.nbytes) whole->then = Then::send_signal;  // else the one piece brings it
    }
    desk_.count_in(scope, *whole, outcome);
    wholes_.push_back({whole, 0});
    return Post::ok;
  }

  /// True when something moved. Parts that end go to finish_part(cell).
  template <class FinishPart>
  bool step(FinishPart&& finish_part) noexcept {
    bool moved = false;
    for (size_t i = 0; i < copies_.size();) {
      const Copying copying = copies_[i];
      if (!part_.copier->finished(copying.ticket)) {
        ++i;
        continue;
      }
      copies_[i] = copies_.back();
      copies_.pop_back();
      copied(desk_.cells[copying.cell], finish_part);
      moved = true;
    }
    moved |= send_ready();
    for (size_t i = 0; i < wholes_.size() && !desk_.abandoned;) {
      while (!wholes_[i].all_issued() && issue(wholes_[i], finish_part)) moved = true;
      if (!wholes_[i].all_issued()) {
        ++i;
        continue;
      }
      OpCell& whole = *wholes_[i].whole;
      wholes_.erase(wholes_.begin() + static_cast<std::ptrdiff_t>(i));
      finish_part(whole);
    }
    return moved;
  }

  /// A piece's request was executed at the target.
  template <class FinishPart>
  void answered(OpCell& piece, FinishPart&& finish_part) noexcept {
    if (gets(piece)) {
      copy(piece, piece.local, part_.pool(short_piece(piece)).at(piece.staging), finish_part);
    } else {
      end(piece, finish_part);
    }
  }

  /// Nobody waits any more.
  void forget() noexcept {
    wholes_.clear();
    copies_.clear();
    ready_.clear();
    pieces_ = 0;
  }

 private:
  struct Whole {
    OpCell* whole;
    size_t issued;
    bool all_issued() const noexcept { return issued == whole->what.nbytes; }
  };
  struct Copying {
    uint32_t cell;
    Copier::Ticket ticket;
  };

  bool gets(const OpCell& piece) const noexcept { return desk_.cells[piece.parent].what.kind == OpKind::staged_get; }
  bool short_piece(const OpCell& piece) const noexcept { return piece.what.nbytes <= longest_inline_; }
  size_t next_piece(const OpCell& whole, size_t issued) const noexcept {
    return std::min(whole.what.nbytes - issued, part_.large.slot_nbytes());
  }

  /// The next piece of a transfer. False: no slot or cell now.
  template <class FinishPart>
  bool issue(Whole& w, FinishPart&& finish_part) noexcept {
    OpCell& whole = *w.whole;
    const size_t n = next_piece(whole, w.issued);
    BouncePool& pool = part_.pool(n <= longest_inline_);
    if (pool.empty() || pieces_ == most_pieces_) return false;
    OpCell* const piece = desk_.cells.take({OpKind::staged_piece, whole.what.pe, n});
    if (piece == nullptr) return false;
    ++pieces_;
    ++whole.parts_left;
    piece->parent = whole.index;
    piece->staging = pool.take();
    piece->segment = whole.segment;
    piece->remote_offset = whole.remote_offset + w.issued;
    piece->local = whole.local + w.issued;
    w.issued += n;
    if (whole.what.kind == OpKind::staged_get) {
      // Only a reply ends it, whose value is of no width; or data, for the slot.
      piece->fetch = pool.at(piece->staging);
      if (!send(*piece)) ready_.push_back(piece->index);
    } else {
      copy(*piece, pool.at(piece->staging), piece->local, finish_part);
    }
    return true;
  }

  template <class FinishPart>
  void copy(OpCell& piece, std::byte* to, const std::byte* from, FinishPart&& finish_part) noexcept {
    const Copier::Ticket ticket = part_.copier->start(to, from, piece.what.nbytes);
    if (part_.copier->finished(ticket)) return copied(piece, finish_part);
    copies_.push_back({piece.index, ticket});
  }

  template <class FinishPart>
  void copied(OpCell& piece, FinishPart&& finish_part) noexcept {
    if (gets(piece)) return end(piece, finish_part);
    OpCell& whole = desk_.cells[piece.parent];
    whole.staging -= piece.what.nbytes;
    if (whole.staging == 0) {
      tell(whole.outcome.done);  // the source is free
      whole.outcome.done = nullptr;
    }
    if (!ready_.empty() || !send(piece)) ready_.push_back(piece.index);
  }

  bool send_ready() noexcept {
    size_t kept = 0;
    for (size_t i = 0; i < ready_.size(); ++i)
      if (desk_.abandoned || !send(desk_.cells[ready_[i]])) ready_[kept++] = ready_[i];
    const bool moved = kept < ready_.size();
    ready_.resize(kept);
    return moved;
  }

  bool send(OpCell& piece) noexcept {
    const OpCell& whole = desk_.cells[piece.parent];
    const bool get = gets(piece);
    const bool brief = short_piece(piece);
    StagedMessage message{};
    message.header.kind = get ? MessageKind::staged_get : MessageKind::staged_put;
    message.header.answer = get ? Answer::reply : Answer::acknowledge;
    message.header.segment = piece.segment;
    message.offset = piece.remote_offset;
    message.slot = brief ? kNoSlot : piece.staging;
    message.nbytes = static_cast<uint32_t>(piece.what.nbytes);
    if (whole.what.kind == OpKind::put_signal && whole.then == Then::nothing) {
      message.header.op = static_cast<uint8_t>(whole.signal_op);
      message.header.width = 8;
      message.header.unused = static_cast<uint16_t>(whole.signal_segment);
      message.signal_offset = whole.signal_offset;
      message.signal_value = whole.signal_value;
    }
    const std::byte* const payload = brief && !get ? part_.small.at(piece.staging) : nullptr;
    return requests_.staged_piece(piece, message, payload) == Post::ok;
  }

  template <class FinishPart>
  void end(OpCell& piece, FinishPart&& finish_part) noexcept {
    OpCell& whole = desk_.cells[piece.parent];
    part_.pool(short_piece(piece)).give(piece.staging);
    desk_.cells.give(piece);
    --pieces_;
    finish_part(whole);
  }

  Desk<R>& desk_;
  Requests<R>& requests_;
  StagingPart& part_;
  const size_t longest_inline_;
  const size_t most_wholes_;
  const size_t most_pieces_;
  std::vector<Whole> wholes_;    ///< with pieces yet to be issued, oldest first
  std::vector<Copying> copies_;  ///< under way
  std::vector<uint32_t> ready_;  ///< pieces whose request found no room
  size_t pieces_ = 0;
};

}  // namespace railshmem
