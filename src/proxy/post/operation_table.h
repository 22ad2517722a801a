// SPDX-License-Identifier: BSD-3-Clause
// The operations in flight of one initiator, and the rails that carry them: how each begins, is posted and ends.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>

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
class OperationTable {
 public:
  OperationTable(std::span<R> rail_span, const InitiatorConfig& config)
      : headers{config.port, config.pe, config.nonce},
        tuning(config.tuning),
        staging(config.staging),
        direct(config.direct),
        proves_rails(config.proves_rails),
        lost(config.lost),
        rails_(rail_span, config.pe, config.npes, config.tuning),
        cells_(config.cells),
        words_(rail_span.size(), config.npes),
        longest_by_rail_(rails_.single() ? rails_.traits().inject : 0) {
    if (tuning.checks_data) rails_.leave_room(kSealBytes, kMaxMessage);
    if (lost != nullptr) gone_.prepare(config.npes, config.cells);
  }
  OperationTable(const OperationTable&) = delete;  // its users share it by reference

  /// Throws Error where the rails carry too short ones.
  size_t longest_message() const {
    const size_t longest = std::min(rails_.traits().max_message, kMaxMessage);
    const size_t least = staging != nullptr ? sizeof(StagedMessage) + 1 : sizeof(PutSignalMessage);
    if (longest < least)
      throw Error(text("rail %s carries messages of %zu bytes; %zu are needed%s", rails_[0].name().c_str(), longest,
                       least, staging != nullptr ? " for staging" : ""));
    return longest;
  }

  const HeaderBuilder headers;
  const Tuning tuning;
  StagingPart* const staging;        ///< null: rails reach all memory
  const DirectMemory* const direct;  ///< null: rails reach no GPU memory directly
  const bool proves_rails;           ///< see InitiatorConfig
  const LostPeers* const lost;       ///< null: the death of any peer ends this PE

  RailSet<R>& rails() noexcept { return rails_; }
  const RailSet<R>& rails() const noexcept { return rails_; }
  CellPool& cells() noexcept { return cells_; }
  const CellPool& cells() const noexcept { return cells_; }
  WordOrder& words() noexcept { return words_; }
  /// Peers that have died, or may have died: what is under way to them counts as done.
  GonePeers& gone() noexcept { return gone_; }
  const GonePeers& gone() const noexcept { return gone_; }

  /// Everything counts as done from now on. Initiator::poll() settles it.
  void abandon() noexcept { abandoned_ = true; }
  bool abandoned() const noexcept { return abandoned_; }
  /// The peers leave: failures count as completions. Any thread may say so; a late reader only dies for nothing.
  void leave() noexcept { leaving_.store(true, std::memory_order_relaxed); }
  bool leaving() const noexcept { return leaving_.load(std::memory_order_relaxed); }
  /// A rail failed an access of loop_back().
  void note_lost_flush(size_t r) noexcept { lost_flushes_ |= RailMask{1} << r; }
  /// The rails that note_lost_flush() named since the last call.
  RailMask take_lost_flushes() noexcept { return std::exchange(lost_flushes_, 0); }

  // ---- the life of a cell ------------------------------------------------------------------------------------------

  /// A cell that holds a put, get or put_signal, or one with data for its target; null when all cells are in flight.
  /// Nobody waits for the cell until count_in().
  [[gnu::always_inline]] OpCell* hold(const Op& op) noexcept {
    OpCell* const cell = cells_.take_for_data({op.kind, op.remote.pe, op.nbytes});
    if (cell == nullptr) [[unlikely]]
      return nullptr;
    cell->parts_left = 1;
    cell->issue = issued_++;
    cell->segment = op.remote.segment;
    cell->remote_offset = op.remote.offset;
    cell->local = op.local;
    cell->is_word = op.kind == OpKind::put && words_.orders(op.nbytes);
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
    ++lasting_;
  }
  bool needs_polling() const noexcept { return lasting_ > 0; }
  /// Gives all cells back, and tells whoever waits for their operations.
  void drop_all() noexcept {
    for (uint32_t i = 0; i < cells_.size(); ++i) {
      OpCell& cell = cells_[i];
      if (cell.what.kind == OpKind::none) continue;
      notify_end(cell.outcome);
      cells_.give(cell);
    }
    lasting_ = 0;
  }
  /// The operation of `cell`, which is `what`, is complete, and its last event has come.
  [[gnu::always_inline]] void end(OpCell& cell, const Operation& what) noexcept {
    count_out(cell, what);
    cells_.give(cell);
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
    cells_.give(cell);
    if (gone_.awaits_event(cell.index)) [[unlikely]]
      cells_.retire(cell, rail);
  }

  /// Whether gets may be reads. Otherwise gets are requests for data. Such a request leaves no event of its own, so the
  /// rail must copy it.
  bool reads() const noexcept {
    if (tuning.checks_data) return rails_.traits().inject < sizeof(GetMessage);
    return rails_.single() || rails_.traits().reads_may_fail || rails_.traits().inject < sizeof(GetMessage);
  }

  // ---- posts -------------------------------------------------------------------------------------------------------

  /// Rails to try for a write or read, and the one to begin with.
  struct CandidateRails {
    size_t first;
    RailMask rails;  ///< empty: none now
  };
  /// All rails that reach `pe`, from `first` on; a word must take the rail of the words before it.
  [[gnu::always_inline]] CandidateRails candidates(const OpCell& cell, size_t first) noexcept {
    if (rails_.single()) return {0, 1};
    if (cell.is_word) return candidates_of_word(cell.what.pe, first);
    return {first, rails_.usable(cell.what.pe)};
  }

  /// Tries each rail that reaches `pe` once, from `first` on, until one returns something other than `again`.
  template <class Attempt>
  Post try_rails(int pe, size_t first, Attempt&& attempt) noexcept {
    RailMask left = rails_.usable(pe);
    for (size_t r = first; left != 0; r = rails_.after(r, left)) {
      const Post posted = attempt(r);
      if (posted != Post::again) return posted;
      left &= ~(RailMask{1} << r);
    }
    return Post::again;
  }

  /// Posts one write or read, of a piece or again. Its completion ends one part of the cell.
  Post post(OpCell& cell, size_t r, bool more = false) noexcept {
    if (gone_.swallows(cell.what.pe)) [[unlikely]]
      return swallow(cell, r);
    return posted(cell, r,
                  cell.what.kind == OpKind::get ? rails_[r].read(cell.read()) : rails_[r].write(cell.write(more)));
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
    OpCell* const cell = cells_.take({OpKind::flush, headers.pe, sizeof(uint64_t)});
    if (cell == nullptr) return Post::again;
    cell->parts_left = 1;
    cell->segment = place.segment;
    cell->remote_offset = place.offset;
    cell->local = local;
    cell->outcome.done = done;
    const Post post = posted(*cell, r, writes ? rails_[r].write(cell->write(false)) : rails_[r].read(cell->read()));
    if (post != Post::ok) cells_.give(*cell);
    return post;
  }

  /// Posts a message. With a carrier, the message's completion is one more part of that cell.
  Post send(size_t r, Endpoint to, const std::byte* bytes, size_t nbytes, OpCell* carrier,
            const Operation& what) noexcept {
    if (gone_.swallows(to.pe)) [[unlikely]] {
      if (carrier == nullptr) return Post::ok;
      ++carrier->parts_left;
      return swallow(*carrier, r);
    }
    const Post posted =
        tuning.checks_data ? send_sealed(r, to, bytes, nbytes, carrier) : rails_[r].send({to, bytes, nbytes, carrier});
    if (posted == Post::ok && carrier != nullptr) {
      ++carrier->parts_left;
      carrier->state.on<Event::post>();
    }
    return account(posted, what, r, nbytes, carrier != nullptr);
  }

  /// Whether a failure may be the death of a peer, without which this PE goes on. Then the operation is in doubt; a
  /// rail that another one may replace leaves that to the failover.
  [[gnu::cold, gnu::noinline]] bool doubts(const Operation& what, size_t r, int error) noexcept {
    if (lost == nullptr || !rails_.single() || what.pe == headers.pe) return false;
    gone_.doubt({what, r, error, now_ns()});
    return true;
  }

  /// Instead of a post to a peer that is gone or in doubt.
  [[gnu::cold, gnu::noinline]] Post swallow(OpCell& cell, size_t r) noexcept {
    cell.rail = static_cast<uint8_t>(r);
    cell.state.on<Event::swallow>();
    rails_.expect(r);
    cell.swallowed = true;
    gone_.swallow(cell.index);
    return Post::ok;
  }

  /// Drops a message that came over rail `r`: nothing is done about it but to count and name it.
  [[gnu::cold, gnu::noinline]] void refuse(size_t r, Flaw flaw, const std::byte* bytes, size_t nbytes) noexcept {
    rails_.count_refused(r);
    refused_.add(flaw, bytes, nbytes, rails_[r].name(), now_ns());
  }

  /// The length of a message without its seal. A damaged one of this job ends the job, because nothing in it can be
  /// relied on, its sender least of all. Strangers seal nothing, and theirs are refused later.
  [[gnu::noinline]] size_t open_seal(size_t r, const std::byte* bytes, size_t nbytes) const noexcept {
    if (seal_holds(bytes, nbytes)) return nbytes - kSealBytes;
    if (nbytes < sizeof(MessageHeader) || read_message<MessageHeader>(bytes).nonce() != headers.nonce) return nbytes;
    die("a message of %zu bytes over rail %s was damaged on its way (SHMEM_CHECK_DATA=1 found that its checksum is "
        "wrong): a NIC, a cable, a switch or the memory of a host is faulty; SHMEM_OFI_NICS can leave this rail out",
        nbytes, rails_[r].name().c_str());
  }

  [[gnu::cold]] void log_cells() const {
    for (uint32_t i = 0; i < cells_.size(); ++i) {
      const OpCell& cell = cells_[i];
      if (cell.what.kind == OpKind::none) continue;
      log_debug("cell %u: %s, rail %u of usable 0x%x, parts left %u, %s, part of %d", i, describe(cell.what).c_str(),
                cell.rail, rails_.usable(cell.what.pe), cell.parts_left, name_of(cell.state.now()),
                static_cast<int>(cell.parent));
    }
  }

  /// The longest put whose source a post copies, into the cell's buffer or, over a single rail, into the provider's.
  size_t longest_copied() const noexcept { return std::max(longest_by_rail_, kMaxMessage); }
  /// Copies the source into the cell's buffer, which has room for kMaxMessage bytes.
  void copy_source(OpCell& cell) noexcept {
    cell.local = static_cast<std::byte*>(std::memcpy(cells_.buffer(cell), cell.local, cell.what.nbytes));
  }

 private:
  [[gnu::always_inline]] void count_out(OpCell& cell, const Operation& what) noexcept {
    if (cell.context != nullptr) [[likely]]
      cell.context->closed(what);
    if (cell.is_word) words_.completed(what.pe);
    notify_end(cell.outcome);
    if (cell.lasting) --lasting_;
  }

  /// Seals the message where it is if a carrier keeps it, else a copy, which the rail copies again.
  [[gnu::noinline]] Post send_sealed(size_t r, Endpoint to, const std::byte* bytes, size_t nbytes,
                                     OpCell* carrier) noexcept {
    std::array<std::byte, kMaxMessage> copy;
    std::byte* message = copy.data();
    if (carrier != nullptr)
      message = cells_.buffer(*carrier);
    else
      std::memcpy(message, bytes, nbytes);
    seal(message, nbytes);
    return rails_[r].send({to, message, nbytes + kSealBytes, carrier});
  }

  [[gnu::noinline]] CandidateRails candidates_of_word(int pe, size_t first) const noexcept {
    const size_t bound = words_.rail(pe);
    if (bound == kNoRail) return {first, rails_.usable(pe)};
    // Where that rail is lost, its earlier words go over another rail, and this word must wait behind them.
    return {bound, rails_.paths.recovers(pe) ? 0 : rails_.usable(pe) & RailMask{1} << bound};
  }
  [[gnu::always_inline]] Post account(Post posted, const Operation& what, size_t r, size_t nbytes,
                                      bool evented) noexcept {
    if (posted != Post::ok) [[unlikely]]
      return account_refused(posted, what, r);
    if (evented) rails_.expect(r);
    rails_.count(r, posted, nbytes);
    return posted;
  }
  [[gnu::noinline]] Post account_refused(Post posted, const Operation& what, size_t r) noexcept {
    if (posted == Post::failed) {
      if (leaving()) {
        abandon();  // the initiator settles the rest at its next poll
        return posted;
      }
      if (doubts(what, r, rails_[r].last_error())) return Post::again;  // the next post is swallowed
      if (!rails_.lose(r, what.pe, what.kind != OpKind::answer))
        die_failed(what, rails_[r].name(), rails_[r].last_error());
      if (what.kind == OpKind::flush) note_lost_flush(r);
    }
    rails_.count(r, Post::again, 0);  // another rail may take it
    rails_.paths.refused(r, what.pe);
    return Post::again;
  }

  RailSet<R> rails_;
  CellPool cells_;
  WordOrder words_;
  size_t lasting_ = 0;      ///< open cells with OpCell::lasting
  bool abandoned_ = false;  ///< everything counts as done
  GonePeers gone_;
  RailMask lost_flushes_ = 0;  ///< rails that failed an access of the flush; see Flusher
  std::atomic<bool> leaving_{false};
  /// The longest source that a rail copies well enough. Another rail needs the source again if this one dies, though
  /// this one has copied it.
  const size_t longest_by_rail_;
  uint32_t issued_ = 0;
  RefusedMessages refused_;
};

}  // namespace railshmem
