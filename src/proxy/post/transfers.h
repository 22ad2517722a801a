// SPDX-License-Identifier: BSD-3-Clause
// Puts and gets that do not leave at once: long ones go in pieces, and the last write of a batch is held.
#pragma once

#include <algorithm>

#include "src/proxy/post/bulk_queue.h"
#include "src/proxy/post/coalesced_write.h"
#include "src/proxy/post/operation_table.h"
#include "src/proxy/post/requests.h"

namespace railshmem {

template <Rail R>
class Transfers {
 public:
  Transfers(OperationTable<R>& table, Requests<R>& requests, size_t longest_answer)
      : table_(table),
        requests_(requests),
        longest_answer_(table.reads() ? 0 : longest_answer),
        longest_whole_(table.rails().single() ? table.rails().traits().max_write
                                              : std::min(table.rails().traits().max_write,
                                                         std::max({table.tuning.stripe_min - 1,
                                                                   table.rails().traits().inject, kMaxMessage}))),
        bulks_(table.cells().size()) {}
  Transfers(const Transfers&) = delete;

  /// Whether the operation goes as one write or read. Others go in pieces, never with a copied source.
  [[gnu::always_inline]] bool goes_whole(OpKind kind, size_t nbytes) const noexcept {
    return nbytes <= longest_whole_ && (kind != OpKind::get || longest_answer_ == 0);
  }

  /// Takes over an operation that goes in pieces; push() must follow. Null: no room now, and nothing happened.
  OpCell* issue(const Op& op) noexcept {
    if (bulks_.full()) return nullptr;
    OpCell* const cell = table_.hold(op);
    if (cell == nullptr) return nullptr;
    table_.make_lasting(*cell);
    table_.count_in(*cell, {op.kind, op.remote.pe, op.nbytes}, op.context, op.outcome);
    const size_t piece = as_request(op.kind) ? longest_answer_
                                             : BulkQueue::piece_of(op.nbytes, table_.rails().size(), table_.tuning,
                                                                   table_.rails().traits().max_write);
    bulks_.add(*cell, piece, op.across_pieces);
    return cell;
  }

  /// For debug messages.
  std::string describe_bulks() const {
    std::string line = text("%llu bytes of long operations are not posted; in flight",
                            static_cast<unsigned long long>(bulks_.unposted()));
    for (size_t r = 0; r < table_.rails().size(); ++r)
      line += text(" %llu", static_cast<unsigned long long>(table_.rails().long_in_flight(r)));
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
      if (table_.abandoned()) return true;
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

  /// Posts the coalesced write. False when the rail has no room for it; true also when no write is held.
  bool release_held(bool more = false) noexcept {
    if (coalesced_.empty()) [[likely]]
      return true;
    OpCell& cell = coalesced_.cell();
    const RailMask usable = table_.rails().usable(cell.what.pe);
    if (usable == 0) return false;
    if (cell.is_word && table_.rails().paths.recovers(cell.what.pe)) return false;
    const Post posted = table_.post(cell, table_.rails().after(coalesced_.rail(), usable), more);
    if (posted != Post::again) coalesced_.let_go(more);
    return posted != Post::again;
  }
  /// Posts the write held so far and holds this one. On `again` the rail has no room for the earlier write, and nothing
  /// happened.
  Post hold(const Op& op) noexcept {
    const int pe = op.remote.pe;
    OpCell* const cell = table_.hold(op);
    if (cell == nullptr) return Post::again;
    const size_t bound = cell->is_word ? table_.words().rail(pe) : kNoRail;
    const bool runs_on = coalesced_.may_run_on(bound == kNoRail ? table_.rails().usable(pe) : RailMask{1} << bound);
    const size_t r = runs_on ? coalesced_.rail() : bound != kNoRail ? bound : table_.rails().pick(pe);
    const bool released = release_held(runs_on);
    if (!released || table_.abandoned()) {  // posting the earlier write may abandon everything
      table_.cells().give(*cell);
      return table_.abandoned() ? Post::failed : Post::again;
    }
    // The rail copies a held source only when the write leaves, which is after the call.
    if (op.is_copied() && cell->local == op.local) table_.copy_source(*cell);
    table_.count_in(*cell, {op.kind, op.remote.pe, op.nbytes}, op.context, op.outcome);
    coalesced_.hold(*cell, r);
    if (cell->is_word) table_.words().posted(pe, r);
    return Post::ok;
  }
  bool holds() const noexcept { return !coalesced_.empty(); }

  void forget() noexcept {
    bulks_.clear();
    coalesced_.forget();
  }

 private:
  bool as_request(OpKind kind) const noexcept { return kind == OpKind::get && longest_answer_ != 0; }

  bool push_get(Bulk& bulk) noexcept {
    bool moved = false;
    // The last cell is for an answer to a peer: else two PEs whose pieces fill all cells wait for each other's answer.
    while (!bulk.all_posted() && table_.cells().in_use() + 1 < table_.cells().size()) {
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
      const size_t r = table_.rails().claim(whole.what.pe, n, bulks_.unposted(), full);
      if (r == kNoRail) break;
      n = BulkQueue::shortened(n, table_.rails().longest_piece(r));
      Remote place{whole.what.pe, whole.segment, whole.remote_offset + bulk.posted};
      if (bulk.across) n = table_.direct->clip(place, whole.local + bulk.posted, n);
      OpCell* const piece = table_.cells().take({whole.what.kind, whole.what.pe, n});
      if (piece == nullptr) break;
      piece->parent = whole.index;
      piece->issue = whole.issue;
      piece->segment = place.segment;
      piece->remote_offset = place.offset;
      piece->local = whole.local + bulk.posted;
      const Post posted = table_.post(*piece, r);
      if (posted == Post::failed) return true;
      if (posted == Post::again) {
        table_.cells().give(*piece);
        full |= RailMask{1} << r;
        continue;
      }
      ++bulk.whole->parts_left;
      table_.rails().long_posted(r, n);
      bulks_.posted(bulk, n);
      moved = true;
    }
    return moved;
  }

  OperationTable<R>& table_;
  Requests<R>& requests_;
  const size_t longest_answer_;  ///< bytes of a get's piece that travels as a request; 0: gets are reads
  const size_t longest_whole_;
  BulkQueue bulks_;
  CoalescedWrite coalesced_;  ///< the last write of a batch
};

}  // namespace railshmem
