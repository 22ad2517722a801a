// SPDX-License-Identifier: BSD-3-Clause
// What the parts of an initiator share: rails, cells, and how one post is accounted for.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "src/proxy/post/cell_pool.h"
#include "src/proxy/post/letterhead.h"
#include "src/proxy/post/operation.h"
#include "src/proxy/post/transfer.h"
#include "src/proxy/rails/direct_memory.h"
#include "src/proxy/rails/rail_set.h"
#include "src/proxy/rails/word_order.h"

namespace railshmem {

template <Rail R>
class Desk {
 public:
  Desk(std::span<R> rail_span, const InitiatorConfig& config)
      : rails(rail_span, config.pe, config.npes, config.tuning),
        letterhead{config.port, config.pe},
        tuning(config.tuning),
        staging(config.staging),
        direct(config.direct),
        proves_rails(config.proves_rails),
        cells(config.cells),
        words(rail_span.size(), config.npes) {}
  Desk(const Desk&) = delete;  // its users share it by reference

  RailSet<R> rails;
  const Letterhead letterhead;
  const Tuning tuning;
  StagingPart* const staging;        ///< null: rails reach all memory
  const DirectMemory* const direct;  ///< null: rails reach no GPU memory directly
  const bool proves_rails;           ///< see InitiatorConfig
  CellPool cells;
  WordOrder words;
  size_t lasting = 0;                ///< open cells with OpCell::lasting
  bool abandoned = false;            ///< everything counts as done
  RailMask lost_flushes = 0;         ///< rails that failed an access of the flush; see Flusher
  std::atomic<bool> leaving{false};  ///< relaxed: set once by prepare_stop(); a late reader only dies for nothing

  // ---- the life of a cell ------------------------------------------------------------------------------------------

  void count_in(NetContext& scope, OpCell& cell, const Outcome& outcome) noexcept {
    cell.scope = &scope;
    // Copied word by word: the words stay in registers, while a copy of the whole struct would wait for the stores that
    // made it (decision 0037).
    cell.outcome.done = outcome.done;
    cell.outcome.channel = outcome.channel;
    cell.outcome.ticket = outcome.ticket;
    cell.outcome.tickets = outcome.tickets;
    scope.opened(cell.what);
  }
  /// Counts in a cell of take_plain(), whose end only `channel` hears of, as `ticket`.
  [[gnu::always_inline]] void count_in_plain(NetContext& scope, OpCell& cell, Channel& channel,
                                             uint64_t ticket) noexcept {
    cell.scope = &scope;
    cell.outcome.channel = &channel;
    cell.outcome.ticket = ticket;
    scope.opened({OpKind::put, cell.what.pe, cell.what.nbytes});
  }
  [[gnu::always_inline]] void end_plain(OpCell& cell) noexcept {
    cell.scope->closed({OpKind::put, cell.what.pe, cell.what.nbytes});
    if (cell.is_word) words.completed(cell.what.pe);
    cell.outcome.channel->complete(cell.outcome.ticket);
    cells.give_plain(cell);
  }
  /// The operation is complete.
  [[gnu::always_inline]] void end(OpCell& cell) noexcept {
    if (cell.scope != nullptr) cell.scope->closed(cell.what);
    if (cell.is_word) words.completed(cell.what.pe);
    tell(cell.outcome.done);
    finish_commands(cell.outcome);
    if (cell.lasting) --lasting;
    cells.give(cell);
  }

  /// Whether gets may be reads. Otherwise gets are requests for data. Such a request leaves no event of its own, so the
  /// rail must copy it.
  bool reads() const noexcept {
    return rails.single() || rails.traits().reads_may_fail || rails.traits().inject < sizeof(GetMessage);
  }

  // ---- posts -------------------------------------------------------------------------------------------------------

  /// Tries each rail that reaches `pe` once, from `first` on, until one returns something other than `again`.
  template <class Attempt>
  Post try_rails(int pe, size_t first, Attempt&& attempt) noexcept {
    const RailMask usable = rails.usable(pe);
    if (usable == 0) return Post::again;
    size_t r = first;
    do {
      const Post posted = attempt(r);
      if (posted != Post::again) return posted;
      r = rails.after((r + 1) % rails.size(), usable);
    } while (r != first);
    return Post::again;
  }

  /// Posts one write or read, of a whole operation or of a piece. Its completion ends one part of the cell.
  [[gnu::always_inline]] Post post(OpCell& cell, size_t r, bool more = false) noexcept {
    const size_t n = cell.what.nbytes;
    cell.rail = static_cast<uint8_t>(r);
    const Post posted = cell.what.kind == OpKind::get ? rails[r].read({cell.remote(), cell.local, n, &cell})
                                                      : rails[r].write({cell.remote(), cell.local, n, &cell, more});
    if (posted == Post::ok) [[likely]]
      cell.in_flight = true;
    return account(posted, cell.what, r, n, posted == Post::ok);
  }

  /// An access of this PE to its own memory, over rail `r` and no other. Its completion ends the operation.
  Post loop(OpCell& cell, size_t r, bool writes) noexcept {
    const size_t n = cell.what.nbytes;
    cell.rail = static_cast<uint8_t>(r);
    const Post posted = writes ? rails[r].write({cell.remote(), cell.local, n, &cell, false})
                               : rails[r].read({cell.remote(), cell.local, n, &cell});
    if (posted == Post::ok) cell.in_flight = true;
    return account(posted, cell.what, r, n, posted == Post::ok);
  }

  /// Posts a message. With a carrier, the message's completion is one more part of that cell.
  Post send(size_t r, Endpoint to, const std::byte* bytes, size_t nbytes, OpCell* carrier,
            const Operation& what) noexcept {
    const Post posted = rails[r].send({to, bytes, nbytes, carrier});
    if (posted == Post::ok && carrier != nullptr) {
      ++carrier->parts_left;
      carrier->in_flight = true;
    }
    return account(posted, what, r, nbytes, carrier != nullptr);
  }

 private:
  [[gnu::always_inline]] Post account(Post posted, const Operation& what, size_t r, size_t nbytes,
                                      bool evented) noexcept {
    if (posted != Post::ok) [[unlikely]]
      return account_refused(posted, what, r);
    if (evented) rails.expect(r);
    rails.count(r, posted, nbytes);
    return posted;
  }
  [[gnu::noinline]] Post account_refused(Post posted, const Operation& what, size_t r) noexcept {
    if (posted == Post::failed) {
      if (leaving.load(std::memory_order_relaxed)) {
        abandoned = true;  // the initiator settles the rest at its next poll
        return posted;
      }
      if (!rails.lose(r, what.pe, what.kind != OpKind::answer))
        die_failed(what, rails[r].name(), rails[r].last_error());
      if (what.kind == OpKind::flush) lost_flushes |= RailMask{1} << r;
    }
    rails.count(r, Post::again, 0);  // another rail may take it
    rails.paths.refused(r, what.pe);
    return Post::again;
  }
};

}  // namespace railshmem
