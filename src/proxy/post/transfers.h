// SPDX-License-Identifier: BSD-3-Clause
// Puts and gets on their way into the rails: short ones as a whole, long ones in pieces, and the held write of a batch.
#pragma once

#include <algorithm>
#include <cstring>

#include "src/proxy/post/bulk_queue.h"
#include "src/proxy/post/desk.h"
#include "src/proxy/post/held_write.h"
#include "src/proxy/post/requests.h"

namespace railshmem {

template <Rail R>
class Transfers {
 public:
  Transfers(Desk<R>& desk, Requests<R>& requests, size_t longest_answer)
      : desk_(desk),
        requests_(requests),
        longest_answer_(desk.reads() ? 0 : longest_answer),
        longest_whole_(desk.rails.single()
                           ? desk.rails.traits().max_write
                           : std::min(desk.rails.traits().max_write,
                                      std::max({desk.tuning.stripe_min - 1, desk.rails.traits().inject, kMaxMessage}))),
        longest_at_once_(std::min(longest_whole_, kMaxMessage)),
        bulks_(desk.cells.size()) {}
  Transfers(const Transfers&) = delete;

  /// Bytes of the longest operation that goes as a whole. Longer ones go in pieces, but never with a copied source.
  size_t longest_whole() const noexcept { return longest_whole_; }

  /// Takes the operation's cell, held for its one piece or for all of them. Null: no room now.
  OpCell* open(NetContext& scope, const Transfer& t, Source source, const Outcome& outcome) noexcept {
    const bool whole = goes_whole(t.kind, t.nbytes) && !t.across_pieces;
    if (!whole && bulks_.full()) return nullptr;
    OpCell* const cell = open_cell(scope, t, source, outcome);
    if (cell != nullptr && (t.kind == OpKind::put_signal || !whole || t.nbytes > kMaxMessage)) {
      cell->lasting = true;
      ++desk_.lasting;
    }
    return cell;
  }

  /// Posts the operation as a whole, over rail `first` or another one, or queues it to go in pieces; push() must follow
  /// after queueing. On `again`, which only a whole one returns, nothing happened.
  Post start(OpCell& cell, size_t first, bool across_pieces = false) noexcept {
    if (goes_whole(cell.what.kind, cell.what.nbytes) && !across_pieces) return start_whole(cell, first);
    const RailTraits& traits = desk_.rails.traits();
    if (as_request(cell.what.kind)) {
      bulks_.add(cell, longest_answer_);
      return Post::ok;
    }
    bulks_.add(cell, BulkQueue::piece_of(cell.what.nbytes, desk_.rails.size(), desk_.tuning, traits.max_write),
               across_pieces);
    return Post::ok;
  }

  /// open() and start() of a put of one write, at most kMaxMessage bytes, in line; `channel` hears of the end of
  /// `ticket`. `again`: nothing happened.
  [[gnu::always_inline]] Post put_whole(NetContext& scope, const Transfer& t, Source source, Channel& channel,
                                        uint64_t ticket) noexcept {
    OpCell* const cell = desk_.cells.take_plain({OpKind::put, t.remote.pe, t.nbytes});
    if (cell == nullptr) [[unlikely]]
      return Post::again;
    describe(*cell, t, source);
    desk_.count_in_plain(scope, *cell, channel, ticket);
    const Post posted = start_whole(*cell, desk_.rails.pick(t.remote.pe));
    if (posted != Post::ok) [[unlikely]] {
      scope.closed(cell->what);
      desk_.cells.give(*cell);
    }
    return posted;
  }
  /// Bytes of the longest put for put_whole().
  size_t longest_at_once() const noexcept { return longest_at_once_; }

  /// For debug messages.
  std::string describe_bulks() const {
    std::string line = text("%llu bytes of long operations are not posted; in flight",
                            static_cast<unsigned long long>(bulks_.unposted()));
    for (size_t r = 0; r < desk_.rails.size(); ++r)
      line += text(" %llu", static_cast<unsigned long long>(desk_.rails.long_in_flight(r)));
    return line;
  }

  bool has_bulks() const noexcept { return !bulks_.empty(); }
  /// Posts pieces of long operations as far as rails have room; a full rail stops no other rail. An operation whose
  /// pieces are all posted goes to all_posted(cell). True when something moved.
  template <class AllPosted>
  bool push(AllPosted&& all_posted) noexcept {
    bool moved = false;
    for (size_t i = 0; i < bulks_.size();) {
      moved |= push_one(bulks_[i]);
      if (desk_.abandoned) return true;
      if (!bulks_[i].all_posted()) {
        ++i;
        continue;
      }
      OpCell& whole = *bulks_[i].whole;
      bulks_.remove(i);
      all_posted(whole);
    }
    return moved;
  }

  // ---- batches -----------------------------------------------------------------------------------------------------

  /// Posts the held write. False when the rail has no room for it; true also when no write is held.
  bool release_held(bool more = false) noexcept {
    if (held_.empty()) [[likely]]
      return true;
    OpCell& cell = held_.cell();
    const RailMask usable = desk_.rails.usable(cell.what.pe);
    if (usable == 0) return false;
    if (cell.is_word && desk_.rails.paths.recovers(cell.what.pe)) return false;
    const Post posted = desk_.post(cell, desk_.rails.after(held_.rail(), usable), more);
    if (posted != Post::again) held_.let_go(more);
    return posted != Post::again;
  }
  /// Posts the write held so far and holds this one. False when the rail has no room for the earlier write.
  bool hold(OpCell& cell) noexcept {
    const int pe = cell.what.pe;
    const size_t bound = cell.is_word ? desk_.words.rail(pe) : kNoRail;
    const bool runs_on = held_.may_run_on(bound == kNoRail ? desk_.rails.usable(pe) : RailMask{1} << bound);
    const size_t r = runs_on ? held_.rail() : bound != kNoRail ? bound : desk_.rails.pick(pe);
    if (!release_held(runs_on) || desk_.abandoned) return false;  // posting the earlier write may abandon everything
    held_.hold(cell, r);
    if (cell.is_word) desk_.words.posted(pe, r);
    return true;
  }
  void copy_source(OpCell& cell) noexcept {
    cell.local = static_cast<std::byte*>(std::memcpy(desk_.cells.buffer(cell), cell.local, cell.what.nbytes));
  }
  bool holds() const noexcept { return !held_.empty(); }

  void forget() noexcept {
    bulks_.clear();
    held_.forget();
  }

 private:
  bool as_request(OpKind kind) const noexcept { return kind == OpKind::get && longest_answer_ != 0; }
  bool goes_whole(OpKind kind, size_t nbytes) const noexcept { return nbytes <= longest_whole_ && !as_request(kind); }

  OpCell* open_cell(NetContext& scope, const Transfer& t, Source source, const Outcome& outcome) noexcept {
    OpCell* const cell = desk_.cells.take({t.kind, t.remote.pe, t.nbytes});
    if (cell == nullptr) [[unlikely]]
      return nullptr;
    cell->parts_left = 1;
    describe(*cell, t, source);
    desk_.count_in(scope, *cell, outcome);
    return cell;
  }
  [[gnu::always_inline]] void describe(OpCell& cell, const Transfer& t, Source source) noexcept {
    cell.issue = issued_++;
    cell.segment = t.remote.segment;
    cell.remote_offset = t.remote.offset;
    cell.local = t.local;
    cell.is_word = t.kind == OpKind::put && t.nbytes <= sizeof(uint64_t);
    // Another rail needs the source again if this one dies, though this one has copied it.
    if (source == Source::copied && (t.nbytes > desk_.rails.traits().inject || !desk_.rails.single()))
      copy_source(cell);
  }

  [[gnu::always_inline]] Post start_whole(OpCell& cell, size_t first) noexcept {
    if (desk_.rails.single()) return desk_.post(cell, 0);
    if (cell.is_word) return post_word(cell, first);
    return desk_.try_rails(cell.what.pe, first, [&](size_t r) { return desk_.post(cell, r); });
  }

  Post post_word(OpCell& cell, size_t first) noexcept {
    const int pe = cell.what.pe;
    const size_t bound = desk_.words.rail(pe);
    const auto attempt = [&](size_t r) {
      const Post posted = desk_.post(cell, r);
      if (posted == Post::ok) desk_.words.posted(pe, r);
      return posted;
    };
    if (bound == kNoRail) return desk_.try_rails(pe, first, attempt);
    // Where that rail is lost, its earlier words go over another rail, and this word must wait behind them.
    const bool usable = ((desk_.rails.usable(pe) >> bound) & 1) != 0 && !desk_.rails.paths.recovers(pe);
    return usable ? attempt(bound) : Post::again;
  }

  bool push_get(Bulk& bulk) noexcept {
    bool moved = false;
    // The last cell is for an answer to a peer: else two PEs whose pieces fill all cells wait for each other's answer.
    while (!bulk.all_posted() && desk_.cells.in_use() + 1 < desk_.cells.size()) {
      const size_t n = bulk.next_piece();
      const Post posted = requests_.get(*bulk.whole, bulk.posted, n);
      if (posted == Post::failed) return true;
      if (posted == Post::again) break;
      ++bulk.whole->parts_left;
      bulks_.posted(bulk, n);
      moved = true;
    }
    return moved;
  }

  bool push_one(Bulk& bulk) noexcept {
    if (as_request(bulk.whole->what.kind)) return push_get(bulk);
    const OpCell& whole = *bulk.whole;
    bool moved = false;
    for (RailMask full = 0; !bulk.all_posted();) {
      size_t n = bulk.next_piece();
      const size_t r = desk_.rails.claim(whole.what.pe, n, bulks_.unposted(), full);
      if (r == kNoRail) break;
      n = BulkQueue::shortened(n, desk_.rails.longest_piece(r));
      Remote place{whole.what.pe, whole.segment, whole.remote_offset + bulk.posted};
      if (bulk.across) n = desk_.direct->clip(place, whole.local + bulk.posted, n);
      OpCell* const piece = desk_.cells.take({whole.what.kind, whole.what.pe, n});
      if (piece == nullptr) break;
      piece->parent = whole.index;
      piece->issue = whole.issue;
      piece->segment = place.segment;
      piece->remote_offset = place.offset;
      piece->local = whole.local + bulk.posted;
      const Post posted = desk_.post(*piece, r);
      if (posted == Post::failed) return true;
      if (posted == Post::again) {
        desk_.cells.give(*piece);
        full |= RailMask{1} << r;
        continue;
      }
      ++bulk.whole->parts_left;
      desk_.rails.long_posted(r, n);
      bulks_.posted(bulk, n);
      moved = true;
    }
    return moved;
  }

  Desk<R>& desk_;
  Requests<R>& requests_;
  const size_t longest_answer_;  ///< bytes of a get's piece that travels as a request; 0: gets are reads
  const size_t longest_whole_;
  const size_t longest_at_once_;
  BulkQueue bulks_;
  uint32_t issued_ = 0;
  HeldWrite held_;  ///< the last write of a batch
};

}  // namespace railshmem
