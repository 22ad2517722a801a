// SPDX-License-Identifier: BSD-3-Clause
// The source's side of staging: puts and gets of which one end is memory that rails cannot reach. See staging.h.
#pragma once

#include <algorithm>
#include <cstdint>

#include "src/proxy/post/operation_table.h"
#include "src/proxy/post/requests.h"
#include "src/proxy/staging/staged_pieces.h"
#include "src/proxy/staging/staging.h"
#include "src/proxy/staging/waiting_transfers.h"

namespace railshmem {

/// Fixed capacities: nothing here allocates after construction.
///
/// A transfer is a cell, the whole, and one cell more per piece. Never do they take all cells: serving peers' requests
/// needs some, and two PEs could wait for each other.
template <Rail R>
class StagedTransfers {
 public:
  StagedTransfers(OperationTable<R>& table, Requests<R>& requests, StagingPart& part, size_t max_message)
      : table_(table),
        requests_(requests),
        part_(part),
        most_(std::max<size_t>(table.cells().size() / 4, 1)),
        pieces_(table, requests, part, max_message, most_),
        waiting_(most_) {}
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
    if (table_.direct != nullptr) table_.direct->got(get.local);
  }

  /// Takes over an operation of Route::staged; step() must follow. outcome.done tells of a put when its source is free.
  /// On `again` nothing happened.
  Post issue(const Op& op) noexcept {
    if (waiting_.full()) return Post::again;
    const OpKind kind = op.kind == OpKind::put   ? OpKind::staged_put
                        : op.kind == OpKind::get ? OpKind::staged_get
                                                 : op.kind;
    OpCell* const whole = table_.cells().take({kind, op.remote.pe, op.nbytes});
    if (whole == nullptr) return Post::again;
    whole->parts_left = 1;  // a hold, until all pieces are on their way
    whole->segment = op.remote.segment;
    whole->remote_offset = op.remote.offset;
    whole->local = op.local;
    whole->staging = op.nbytes;
    table_.make_lasting(*whole);
    if (kind == OpKind::put_signal) {
      whole->signal = op.detail.signal;
      if (longest(kind) < op.nbytes) whole->state.on<Event::owe_signal>();  // else the one piece brings it
    }
    table_.count_in(*whole, whole->what, op.context, op.outcome);
    waiting_.add(takes_next(*whole, 0), *whole);
    return Post::ok;
  }

  /// True when something moved. Parts that end go to finish_part(cell).
  template <class FinishPart>
  bool step(FinishPart&& finish_part) noexcept {
    bool moved = pieces_.step(finish_part);
    for (const PieceTakes what : {PieceTakes::nothing, PieceTakes::large, PieceTakes::medium, PieceTakes::small}) {
      int full_pe = -1;  // the last one that takes no request
      waiting_.walk(
          what, [&](WaitingTransfer& w) { return advance(what, w, full_pe, moved, finish_part); },
          [this](const WaitingTransfer& w) { return takes_next(*w.whole, w.issued); });
    }
    return moved;
  }

  /// A piece's request was executed at the target.
  template <class FinishPart>
  void answered(OpCell& piece, FinishPart&& finish_part) noexcept {
    pieces_.answered(piece, finish_part);
  }

  /// Nobody waits any more.
  void forget() noexcept {
    waiting_.clear();
    pieces_.forget();
  }

 private:
  using Verdict = WaitingTransfers::Verdict;

  /// Makes `op` one for rails, where they reach both ends after all.
  bool goes_direct(Op& op) const noexcept {
    if (table_.direct == nullptr || table_.direct->empty()) [[likely]]
      return false;
    const DirectMemory& direct = *table_.direct;
    const bool far = !op.local_is_ours() && direct.has(op.local);
    if (!far && !op.local_is_ours() && part_.holds(op.local)) return false;
    // As messages gets bring what the target's CPU reads.
    if (op.kind == OpKind::get && !(table_.reads() && (!far || direct.takes_gets()))) return false;
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
    const bool by_slot = kind == OpKind::staged_get || table_.reads() || pieces_.longest_inline() == 0;
    return by_slot ? part_.longest() : pieces_.longest_inline();
  }

  size_t next_piece(const OpCell& whole, size_t issued) const noexcept {
    return std::min(whole.what.nbytes - issued, longest(whole.what.kind));
  }
  PieceTakes takes_next(const OpCell& whole, size_t issued) const noexcept {
    return part_.is_payload(whole.local) ? PieceTakes::nothing : takes(pieces_.kind_of(next_piece(whole, issued)));
  }

  /// Starts the pieces of one transfer for which there is room and which take this.
  template <class FinishPart>
  Verdict advance(PieceTakes what, WaitingTransfer& w, int& full_pe, bool& moved, FinishPart&& finish_part) noexcept {
    OpCell& whole = *w.whole;
    if (table_.abandoned()) return Verdict::stop;
    if (whole.what.pe == full_pe) return Verdict::stays;
    while (!w.all_issued()) {
      const size_t at = w.issued, n = next_piece(whole, at);
      if (takes_next(whole, at) != what) return Verdict::moves;
      w.issued += n;  // before it starts: it may end at once
      const PieceRoom room = pieces_.start(whole, at, n, finish_part);
      if (room == PieceRoom::found) {
        moved = true;
        continue;
      }
      w.issued = at;
      if (room != PieceRoom::no_peer) return Verdict::stop;
      full_pe = whole.what.pe;
      return Verdict::stays;
    }
    finish_part(whole);
    return Verdict::done;
  }

  OperationTable<R>& table_;
  Requests<R>& requests_;
  StagingPart& part_;
  const size_t most_;
  StagedPieces<R> pieces_;
  WaitingTransfers waiting_;
};

}  // namespace railshmem
