// SPDX-License-Identifier: BSD-3-Clause
// What the parts of an initiator share: rails, cells, and how one post is accounted for.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "src/base/cpu.h"
#include "src/base/error.h"
#include "src/base/log.h"
#include "src/plugin/port.h"
#include "src/plugin/rail_keeper.h"
#include "src/proxy/post/cell_pool.h"
#include "src/proxy/post/header_builder.h"
#include "src/proxy/post/lost_peers.h"
#include "src/proxy/post/operation.h"
#include "src/proxy/post/refused_messages.h"
#include "src/proxy/post/seal.h"
#include "src/proxy/rails/direct_memory.h"
#include "src/proxy/rails/rail_set.h"
#include "src/proxy/rails/tuning.h"
#include "src/proxy/rails/word_order.h"

namespace railshmem {

class PeerNews;
struct StagingPart;

/// The identity of an endpoint, and what its initiator may use.
struct InitiatorConfig {
  Port port;
  int pe;
  int npes;
  size_t cells;
  Tuning tuning{};
  RailKeeper* keeper = nullptr;          ///< opens dead rails anew; null: they stay dead
  StagingPart* staging = nullptr;        ///< null: rails reach all memory
  const DirectMemory* direct = nullptr;  ///< GPU memory that rails reach without staging; null: none
  bool proves_rails = false;        ///< peers use a reopened rail only after it has reached this PE itself; see Flusher
  size_t ports = ports_with(1);     ///< of each PE
  PeerNews* news = nullptr;         ///< what peers say of their rails; null where `keeper` is
  const LostPeers* lost = nullptr;  ///< peers that have died; null: a failed operation ends this PE
  Nonce nonce{};                    ///< of the job: what all its messages carry
};

template <Rail R>
class Desk {
 public:
  Desk(std::span<R> rail_span, const InitiatorConfig& config)
      : rails(rail_span, config.pe, config.npes, config.tuning),
        headers{config.port, config.pe, config.nonce},
        tuning(config.tuning),
        staging(config.staging),
        direct(config.direct),
        proves_rails(config.proves_rails),
        lost(config.lost),
        cells(config.cells),
        words(rail_span.size(), config.npes),
        longest_by_rail_(rails.single() ? rails.traits().inject : 0) {
    if (tuning.checks_data) rails.leave_room(kSealBytes, kMaxMessage);
    if (lost != nullptr) gone.prepare(config.npes, config.cells);
  }
  Desk(const Desk&) = delete;  // its users share it by reference

  /// Throws Error where the rails carry too short ones.
  size_t longest_message() const {
    const size_t longest = std::min(rails.traits().max_message, kMaxMessage);
    const size_t least = staging != nullptr ? sizeof(StagedMessage) + 1 : sizeof(PutSignalMessage);
    if (longest < least)
      throw Error(text("rail %s carries messages of %zu bytes; %zu are needed%s", rails[0].name().c_str(), longest,
                       least, staging != nullptr ? " for staging" : ""));
    return longest;
  }

  RailSet<R> rails;
  const HeaderBuilder headers;
  const Tuning tuning;
  StagingPart* const staging;        ///< null: rails reach all memory
  const DirectMemory* const direct;  ///< null: rails reach no GPU memory directly
  const bool proves_rails;           ///< see InitiatorConfig
  const LostPeers* const lost;       ///< null: the death of any peer ends this PE
  CellPool cells;
  WordOrder words;
  size_t lasting = 0;                ///< open cells with OpCell::lasting
  bool abandoned = false;            ///< everything counts as done
  GonePeers gone;                    ///< what is under way to them counts as done
  RailMask lost_flushes = 0;         ///< rails that failed an access of the flush; see Flusher
  std::atomic<bool> leaving{false};  ///< relaxed: set once by prepare_stop(); a late reader only dies for nothing

  // ---- the life of a cell ------------------------------------------------------------------------------------------

  /// A cell that holds a put, get or put_signal, or one with data for its target; null when all cells are in flight.
  /// Nobody waits for the cell until count_in().
  [[gnu::always_inline]] OpCell* hold(const Op& op) noexcept {
    OpCell* const cell = cells.take_for_data({op.kind, op.remote.pe, op.nbytes});
    if (cell == nullptr) [[unlikely]]
      return nullptr;
    cell->parts_left = 1;
    cell->issue = issued_++;
    cell->segment = op.remote.segment;
    cell->remote_offset = op.remote.offset;
    cell->local = op.local;
    cell->is_word = op.kind == OpKind::put && words.orders(op.nbytes);
    if (op.is_copied() && op.nbytes > longest_by_rail_) copy_source(*cell);
    return cell;
  }
  /// The operation of `cell`, which is `what`, is on its way: its context waits for it, and `outcome` hears of its end.
  [[gnu::always_inline]] void count_in(OpCell& cell, const Operation& what, NetContext* context,
                                       const Outcome& outcome) noexcept {
    // Copied word by word: the words stay in registers, while a copy of the whole struct would wait for the stores that
    // made it (decision 0029).
    cell.outcome.done = outcome.done;
    cell.outcome.channel = outcome.channel;
    cell.outcome.ticket = outcome.ticket;
    cell.outcome.payload = outcome.payload;
    cell.context = context;
    if (context != nullptr) context->opened(what);
  }
  /// The operation goes on only if somebody polls.
  void make_lasting(OpCell& cell) noexcept {
    cell.lasting = true;
    ++lasting;
  }
  /// The operation of `cell`, which is `what`, is complete, and its last event has come.
  [[gnu::always_inline]] void end(OpCell& cell, const Operation& what) noexcept {
    count_out(cell, what);
    cells.give(cell);
  }
  /// The operation of `cell` is complete.
  void end(OpCell& cell) noexcept {
    count_out(cell, cell.what);
    give(cell);
  }
  /// Gives a cell back. It stays out of use while a rail may still tell its event, because its peer is gone: else the
  /// event would end the next operation of the cell.
  void give(OpCell& cell) noexcept {
    const uint8_t rail = cell.rail;
    cells.give(cell);
    if (gone.awaits_event(cell.index)) [[unlikely]]
      cells.retire(cell, rail);
  }

  /// Whether gets may be reads. Otherwise gets are requests for data. Such a request leaves no event of its own, so the
  /// rail must copy it.
  bool reads() const noexcept {
    if (tuning.checks_data) return rails.traits().inject < sizeof(GetMessage);
    return rails.single() || rails.traits().reads_may_fail || rails.traits().inject < sizeof(GetMessage);
  }

  // ---- posts -------------------------------------------------------------------------------------------------------

  /// Rails to try for a write or read, and the one to begin with.
  struct CandidateRails {
    size_t first;
    RailMask rails;  ///< empty: none now
  };
  /// All rails that reach `pe`, from `first` on; a word must take the rail of the words before it.
  [[gnu::always_inline]] CandidateRails candidates(const OpCell& cell, size_t first) noexcept {
    if (rails.single()) return {0, 1};
    if (cell.is_word) return candidates_of_word(cell.what.pe, first);
    return {first, rails.usable(cell.what.pe)};
  }

  /// Tries each rail that reaches `pe` once, from `first` on, until one returns something other than `again`.
  template <class Attempt>
  Post try_rails(int pe, size_t first, Attempt&& attempt) noexcept {
    RailMask left = rails.usable(pe);
    for (size_t r = first; left != 0; r = rails.after(r, left)) {
      const Post posted = attempt(r);
      if (posted != Post::again) return posted;
      left &= ~(RailMask{1} << r);
    }
    return Post::again;
  }

  /// Posts one write or read, of a piece or again. Its completion ends one part of the cell.
  Post post(OpCell& cell, size_t r, bool more = false) noexcept {
    if (gone.swallows(cell.what.pe)) [[unlikely]]
      return swallow(cell, r);
    return posted(cell, r,
                  cell.what.kind == OpKind::get ? rails[r].read(cell.read()) : rails[r].write(cell.write(more)));
  }
  /// Accounts for a write or read of the cell, to which rail `r` said `post`.
  template <Event kHow = Event::post>
  [[gnu::always_inline]] Post posted(OpCell& cell, size_t r, Post post) noexcept {
    if (post == Post::ok) [[likely]] {
      cell.rail = static_cast<uint8_t>(r);
      cell.state.on<kHow>();
    }
    return account(post, cell.what, r, cell.what.nbytes, true);
  }

  /// An access of this PE to 8 bytes of its own memory, over rail `r` and no other. Its completion ends the operation.
  Post loop_back(size_t r, bool writes, const Remote& place, std::byte* local, bool* done) noexcept {
    OpCell* const cell = cells.take({OpKind::flush, headers.pe, sizeof(uint64_t)});
    if (cell == nullptr) return Post::again;
    cell->parts_left = 1;
    cell->segment = place.segment;
    cell->remote_offset = place.offset;
    cell->local = local;
    cell->outcome.done = done;
    const Post post = posted(*cell, r, writes ? rails[r].write(cell->write(false)) : rails[r].read(cell->read()));
    if (post != Post::ok) cells.give(*cell);
    return post;
  }

  /// Posts a message. With a carrier, the message's completion is one more part of that cell.
  Post send(size_t r, Endpoint to, const std::byte* bytes, size_t nbytes, OpCell* carrier,
            const Operation& what) noexcept {
    if (gone.swallows(to.pe)) [[unlikely]] {
      if (carrier == nullptr) return Post::ok;
      ++carrier->parts_left;
      return swallow(*carrier, r);
    }
    const Post posted =
        tuning.checks_data ? send_sealed(r, to, bytes, nbytes, carrier) : rails[r].send({to, bytes, nbytes, carrier});
    if (posted == Post::ok && carrier != nullptr) {
      ++carrier->parts_left;
      carrier->state.on<Event::post>();
    }
    return account(posted, what, r, nbytes, carrier != nullptr);
  }

  /// Whether a failure may be the death of a peer, without which this PE goes on. Then the operation is in doubt; a
  /// rail that another one may replace leaves that to the failover.
  [[gnu::cold, gnu::noinline]] bool doubts(const Operation& what, size_t r, int error) noexcept {
    if (lost == nullptr || !rails.single() || what.pe == headers.pe) return false;
    gone.doubt({what, r, error, now_ns()});
    return true;
  }

  /// Instead of a post to a peer that is gone or in doubt.
  [[gnu::cold, gnu::noinline]] Post swallow(OpCell& cell, size_t r) noexcept {
    cell.rail = static_cast<uint8_t>(r);
    cell.state.on<Event::swallow>();
    rails.expect(r);
    cell.swallowed = true;
    gone.swallow(cell.index);
    return Post::ok;
  }

  /// Drops a message that came over rail `r`: nothing is done about it but to count and name it.
  [[gnu::cold, gnu::noinline]] void refuse(size_t r, Flaw flaw, const std::byte* bytes, size_t nbytes) noexcept {
    rails.count_refused(r);
    refused_.add(flaw, bytes, nbytes, rails[r].name(), now_ns());
  }

  /// The length of a message without its seal. A damaged one of this job ends the job, because nothing in it can be
  /// relied on, its sender least of all. Strangers seal nothing, and theirs are refused later.
  [[gnu::noinline]] size_t open_seal(size_t r, const std::byte* bytes, size_t nbytes) const noexcept {
    if (seal_holds(bytes, nbytes)) return nbytes - kSealBytes;
    if (nbytes < sizeof(MessageHeader) || read_message<MessageHeader>(bytes).nonce() != headers.nonce) return nbytes;
    die("a message of %zu bytes over rail %s was damaged on its way (SHMEM_CHECK_DATA=1 found that its checksum is "
        "wrong): a NIC, a cable, a switch or the memory of a host is faulty; SHMEM_OFI_NICS can leave this rail out",
        nbytes, rails[r].name().c_str());
  }

  [[gnu::cold]] void log_cells() const {
    for (uint32_t i = 0; i < cells.size(); ++i) {
      const OpCell& cell = cells[i];
      if (cell.what.kind == OpKind::none) continue;
      log_debug("cell %u: %s, rail %u of usable 0x%x, parts left %u, %s, part of %d", i, describe(cell.what).c_str(),
                cell.rail, rails.usable(cell.what.pe), cell.parts_left, name_of(cell.state.now()),
                static_cast<int>(cell.parent));
    }
  }

  /// The longest put whose source a post copies, into the cell's buffer or, over a single rail, into the provider's.
  size_t longest_copied() const noexcept { return std::max(longest_by_rail_, kMaxMessage); }
  /// Copies the source into the cell's buffer, which has room for kMaxMessage bytes.
  void copy_source(OpCell& cell) noexcept {
    cell.local = static_cast<std::byte*>(std::memcpy(cells.buffer(cell), cell.local, cell.what.nbytes));
  }

 private:
  [[gnu::always_inline]] void count_out(OpCell& cell, const Operation& what) noexcept {
    if (cell.context != nullptr) [[likely]]
      cell.context->closed(what);
    if (cell.is_word) words.completed(what.pe);
    notify_end(cell.outcome);
    if (cell.lasting) --lasting;
  }

  /// Seals the message where it is if a carrier keeps it, else a copy, which the rail copies again.
  [[gnu::noinline]] Post send_sealed(size_t r, Endpoint to, const std::byte* bytes, size_t nbytes,
                                     OpCell* carrier) noexcept {
    std::array<std::byte, kMaxMessage> copy;
    std::byte* message = copy.data();
    if (carrier != nullptr)
      message = cells.buffer(*carrier);
    else
      std::memcpy(message, bytes, nbytes);
    seal(message, nbytes);
    return rails[r].send({to, message, nbytes + kSealBytes, carrier});
  }

  [[gnu::noinline]] CandidateRails candidates_of_word(int pe, size_t first) const noexcept {
    const size_t bound = words.rail(pe);
    if (bound == kNoRail) return {first, rails.usable(pe)};
    // Where that rail is lost, its earlier words go over another rail, and this word must wait behind them.
    return {bound, rails.paths.recovers(pe) ? 0 : rails.usable(pe) & RailMask{1} << bound};
  }
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
      if (doubts(what, r, rails[r].last_error())) return Post::again;  // the next post is swallowed
      if (!rails.lose(r, what.pe, what.kind != OpKind::answer))
        die_failed(what, rails[r].name(), rails[r].last_error());
      if (what.kind == OpKind::flush) lost_flushes |= RailMask{1} << r;
    }
    rails.count(r, Post::again, 0);  // another rail may take it
    rails.paths.refused(r, what.pe);
    return Post::again;
  }

  /// The longest source that a rail copies well enough. Another rail needs the source again if this one dies, though
  /// this one has copied it.
  const size_t longest_by_rail_;
  uint32_t issued_ = 0;
  RefusedMessages refused_;
};

}  // namespace railshmem
