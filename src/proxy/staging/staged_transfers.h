// SPDX-License-Identifier: BSD-3-Clause
// The source's side of staging: puts and gets of which one end is memory that rails cannot reach. See staging.h.
#pragma once

#include <algorithm>
#include <cstring>
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
        pieces_(desk, requests, part, max_message, most_) {
    wholes_.reserve(most_);
  }
  StagedTransfers(const StagedTransfers&) = delete;

  /// Either end of the transfer is out of the rails' reach. `local` null: it is the library's own.
  bool concerns(const Remote& remote, const void* local) const noexcept {
    return part_.stages(remote.segment) || (local != nullptr && part_.holds(local));
  }

  /// For what concerns(): rails reach both ends after all, and `t` is now one for them.
  bool goes_direct(Transfer& t, bool signals) const noexcept {
    if (desk_.direct == nullptr || desk_.direct->empty()) [[likely]]
      return false;
    const DirectMemory& direct = *desk_.direct;
    const bool far = !t.local_is_ours && direct.has(t.local);
    if (!far && !t.local_is_ours && part_.holds(t.local)) return false;
    // As messages gets bring what the target's CPU reads.
    if (t.kind == OpKind::get && !(desk_.reads() && (!far || direct.takes_gets()))) return false;
    if (signals && !far && pieces_.is_short(t.nbytes)) return false;  // travels inside the signal's message
    const bool to_device = t.remote.segment == SegmentId::device;
    if (part_.stages(t.remote.segment) && !(to_device && direct.covered(t.remote, t.nbytes) == t.nbytes)) return false;
    if (far && direct.covered(t.local, t.nbytes) < t.nbytes) return false;
    Remote place = t.remote;
    const bool across = direct.clip(place, t.local, t.nbytes) < t.nbytes;
    if (across && t.nbytes <= kMaxMessage) return false;  // what is short goes in one access
    if (!across) t.remote = place;
    t.across_pieces = across;
    t.is_direct = true;
    t.local_is_far = far;
    return true;
  }
  /// A get that rails did is over.
  void got(const OpCell& get) const noexcept {
    if (desk_.direct != nullptr) desk_.direct->got(get.local);
  }

  /// Takes over a put, get or put_signal (`signal` not null); step() must follow. outcome.done tells of a put when its
  /// source is free. On `again` nothing happened.
  Post start(NetContext& scope, const Transfer& t, const NetSignal* signal, const Outcome& outcome) noexcept {
    const bool put = t.kind != OpKind::get;
    if (put && pieces_.is_short(t.nbytes) && (t.local_is_ours || !part_.holds(t.local)))
      return signal != nullptr ? requests_.put_signal(scope, t, *signal, outcome) : short_put(scope, t, outcome);
    if (wholes_.size() == most_) return Post::again;
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
      if (longest(kind) < t.nbytes) whole->then = Then::send_signal;  // else the one piece brings it
    }
    desk_.count_in(scope, *whole, outcome);
    wholes_.push_back({whole, 0});
    return Post::ok;
  }

  /// True when something moved. Parts that end go to finish_part(cell).
  template <class FinishPart>
  bool step(FinishPart&& finish_part) noexcept {
    bool moved = pieces_.step(finish_part);
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
    pieces_.answered(piece, finish_part);
  }

  /// Nobody waits any more.
  void forget() noexcept {
    wholes_.clear();
    pieces_.forget();
  }

 private:
  struct Whole {
    OpCell* whole;
    size_t issued;
    bool all_issued() const noexcept { return issued == whole->what.nbytes; }
  };

  /// Bytes of a piece. Where nothing may be read (RailTraits::reads_may_fail) a target would fetch a slot by a message
  /// for each few KiB, so the data of a put goes along with the requests.
  size_t longest(OpKind kind) const noexcept {
    const bool by_slot = kind == OpKind::staged_get || desk_.reads() || pieces_.longest_inline() == 0;
    return by_slot ? part_.longest() : pieces_.longest_inline();
  }

  /// The next piece. False: no room now.
  template <class FinishPart>
  bool issue(Whole& w, FinishPart&& finish_part) noexcept {
    const size_t at = w.issued;
    const size_t n = std::min(w.whole->what.nbytes - at, longest(w.whole->what.kind));
    w.issued += n;  // before it starts: it may end at once
    if (pieces_.start(*w.whole, at, n, finish_part)) return true;
    w.issued = at;
    return false;
  }

  /// From memory that the CPU reads: the message has it.
  Post short_put(NetContext& scope, const Transfer& t, const Outcome& outcome) noexcept {
    const Operation what{OpKind::staged_put, t.remote.pe, t.nbytes};
    return requests_.ask(scope, what, outcome, [&](OpCell& cell, std::byte* bytes) {
      cell.segment = t.remote.segment;
      cell.remote_offset = t.remote.offset;
      const StagedMessage message = desk_.letterhead.staged(MessageKind::staged_put, cell);
      std::memcpy(bytes, &message, sizeof message);
      std::memcpy(bytes + sizeof message, t.local, t.nbytes);
      return sizeof message + t.nbytes;
    });
  }

  Desk<R>& desk_;
  Requests<R>& requests_;
  StagingPart& part_;
  const size_t most_;
  StagedPieces<R> pieces_;
  std::vector<Whole> wholes_;  ///< with pieces yet to be issued, oldest first
};

}  // namespace railshmem
