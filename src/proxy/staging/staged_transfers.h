// SPDX-License-Identifier: BSD-3-Clause
// The source's side of staging: puts and gets of which one end is memory that rails cannot reach. See staging.h.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "src/proxy/post/desk.h"
#include "src/proxy/post/requests.h"
#include "src/proxy/staging/staged_pieces.h"
#include "src/proxy/staging/staging.h"

namespace railshmem {

/// Fixed capacities: nothing here allocates after construction.
///
/// A transfer is a cell, the whole, and one cell more per piece. Never do they take all cells: serving peers' requests
/// needs some, and two PEs could wait for each other.
template <Rail R>
class StagedTransfers {
 public:
  StagedTransfers(Desk<R>& desk, Requests<R>& requests, StagingPart& part, size_t max_message)
      : desk_(desk),
        requests_(requests),
        part_(part),
        most_(std::max<size_t>(desk.cells.size() / 4, 1)),
        pieces_(desk, requests, part, max_message, most_),
        wholes_(std::bit_ceil(most_)) {}
  StagedTransfers(const StagedTransfers&) = delete;

  /// Whether either end of a put, get or put_signal is out of the rails' reach.
  [[gnu::always_inline]] bool concerns(const Op& op) const noexcept {
    return part_.stages(op.remote.segment) || (!op.local_is_ours() && part_.holds(op.local));
  }

  /// Chooses the route of an operation that it concerns() and that rails do after all, or that one message does.
  /// Returns false where the operation is for issue().
  bool avoids_staging(Op& op) const noexcept {
    if (goes_direct(op)) return true;
    if (!op.puts() || !pieces_.is_short(op.nbytes) || (!op.local_is_ours() && part_.holds(op.local))) return false;
    op.route = Route::message;
    if (op.kind == OpKind::put) op.kind = OpKind::staged_put;
    return true;
  }
  /// A get that rails did is over.
  void got(const OpCell& get) const noexcept {
    if (desk_.direct != nullptr) desk_.direct->got(get.local);
  }

  /// Takes over an operation of Route::staged; step() must follow. outcome.done tells of a put when its source is free.
  /// On `again` nothing happened.
  Post issue(const Op& op) noexcept {
    if (end_ - first_ == wholes_.size()) return Post::again;
    const OpKind kind = op.kind == OpKind::put   ? OpKind::staged_put
                        : op.kind == OpKind::get ? OpKind::staged_get
                                                 : op.kind;
    OpCell* const whole = desk_.cells.take({kind, op.remote.pe, op.nbytes});
    if (whole == nullptr) return Post::again;
    whole->parts_left = 1;  // a hold, until all pieces are on their way
    whole->segment = op.remote.segment;
    whole->remote_offset = op.remote.offset;
    whole->local = op.local;
    whole->staging = op.nbytes;
    desk_.make_lasting(*whole);
    if (kind == OpKind::put_signal) {
      whole->signal = op.detail.signal;
      if (longest(kind) < op.nbytes) whole->request = RequestStage::owed;  // else the one piece brings it
    }
    desk_.count_in(*whole, whole->what, op.context, op.outcome);
    at(end_++) = {whole, 0, op.remote.pe, 0};
    return Post::ok;
  }

  /// True when something moved. Parts that end go to finish_part(cell).
  template <class FinishPart>
  bool step(FinishPart&& finish_part) noexcept {
    bool moved = pieces_.step(finish_part);
    PieceRoom room = PieceRoom::found;
    int full_pe = -1;     // the last one that takes no request
    uint8_t lacking = 0;  // kinds of slots, as Whole::lacks
    for (uint64_t next = first_; next != end_ && room != PieceRoom::none && !desk_.abandoned; ++next) {
      Whole& w = at(next);
      // Hundreds may wait. Their cells are looked at only when there may be room.
      if (w.whole == nullptr || w.pe == full_pe || (w.lacks & lacking) != 0) continue;
      room = PieceRoom::found;
      while (!w.all_issued() && (room = issue(w, finish_part)) == PieceRoom::found) moved = true;
      if (!w.all_issued()) {
        if (room == PieceRoom::no_peer) full_pe = w.pe;
        if (room == PieceRoom::no_slot) lacking |= w.lacks;
        continue;
      }
      OpCell& whole = *std::exchange(w.whole, nullptr);
      finish_part(whole);
    }
    while (first_ != end_ && at(first_).whole == nullptr) ++first_;
    return moved;
  }

  /// A piece's request was executed at the target.
  template <class FinishPart>
  void answered(OpCell& piece, FinishPart&& finish_part) noexcept {
    pieces_.answered(piece, finish_part);
  }

  /// Nobody waits any more.
  void forget() noexcept {
    first_ = end_;
    pieces_.forget();
  }

 private:
  struct Whole {
    OpCell* whole;  ///< null: nothing is left to issue
    size_t issued;
    int pe;
    uint8_t lacks;  ///< the kind of slot that the next piece did not get, as a bit; 0: none
    bool all_issued() const noexcept { return issued == whole->what.nbytes; }
  };

  /// Makes `op` one for rails, where they reach both ends after all.
  bool goes_direct(Op& op) const noexcept {
    if (desk_.direct == nullptr || desk_.direct->empty()) [[likely]]
      return false;
    const DirectMemory& direct = *desk_.direct;
    const bool far = !op.local_is_ours() && direct.has(op.local);
    if (!far && !op.local_is_ours() && part_.holds(op.local)) return false;
    // As messages gets bring what the target's CPU reads.
    if (op.kind == OpKind::get && !(desk_.reads() && (!far || direct.takes_gets()))) return false;
    if (op.kind == OpKind::put_signal && !far && pieces_.is_short(op.nbytes)) return false;  // goes with the signal
    const bool to_device = op.remote.segment == SegmentId::device;
    if (part_.stages(op.remote.segment) && !(to_device && direct.covered(op.remote, op.nbytes) == op.nbytes))
      return false;
    if (far && direct.covered(op.local, op.nbytes) < op.nbytes) return false;
    Remote place = op.remote;
    const bool across = direct.clip(place, op.local, op.nbytes) < op.nbytes;
    if (across && op.nbytes <= kMaxMessage) return false;  // what is short goes in one access
    if (!across) op.remote = place;
    op.across_pieces = across;
    op.is_direct = true;
    op.local_is_far = far;
    return true;
  }

  /// Bytes of a piece. Where nothing may be read (RailTraits::reads_may_fail) a target would fetch a slot by a message
  /// for each few KiB, so the data of a put goes along with the requests.
  size_t longest(OpKind kind) const noexcept {
    const bool by_slot = kind == OpKind::staged_get || desk_.reads() || pieces_.longest_inline() == 0;
    return by_slot ? part_.longest() : pieces_.longest_inline();
  }

  Whole& at(uint64_t position) noexcept { return wholes_[position & (wholes_.size() - 1)]; }

  /// The next piece.
  template <class FinishPart>
  PieceRoom issue(Whole& w, FinishPart&& finish_part) noexcept {
    const size_t at = w.issued;
    const size_t n = std::min(w.whole->what.nbytes - at, longest(w.whole->what.kind));
    w.issued += n;  // before it starts: it may end at once
    const PieceRoom room = pieces_.start(*w.whole, at, n, finish_part);
    if (room == PieceRoom::found) return room;
    w.issued = at;
    w.lacks = room == PieceRoom::no_slot ? static_cast<uint8_t>(1 << static_cast<int>(pieces_.kind_of(n))) : uint8_t{0};
    return room;
  }

  Desk<R>& desk_;
  Requests<R>& requests_;
  StagingPart& part_;
  const size_t most_;
  StagedPieces<R> pieces_;
  std::vector<Whole> wholes_;  ///< a ring: those with pieces yet to be issued, oldest first
  uint64_t first_ = 0;         ///< positions only grow
  uint64_t end_ = 0;
};

}  // namespace railshmem
