// SPDX-License-Identifier: BSD-3-Clause
// The source's side of every operation: posts on one rail, reaps its events, accounts to scopes.
//
// One thread at a time (the caller holds the endpoint). Every post either takes effect as a whole, or answers `again`
// and leaves in the caller's hands what is needed to repeat it. Nothing here waits.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <memory>
#include <vector>

#include "src/base/error.h"
#include "src/base/log.h"
#include "src/plugin/execute.h"
#include "src/plugin/network.h"
#include "src/plugin/rail.h"
#include "src/proxy/cell_pool.h"
#include "src/proxy/held_write.h"
#include "src/proxy/letterhead.h"
#include "src/proxy/message.h"
#include "src/proxy/operation.h"
#include "src/proxy/scopes.h"
#include "src/proxy/transfer.h"
#include "src/proxy/unanswered.h"

namespace railshmem {

template <Rail R>
class Initiator {
 public:
  Initiator(R& rail, const InitiatorConfig& config)
      : rail_(rail),
        letterhead_{config.port, config.pe},
        tuning_(config.tuning),
        cells_(config.cells),
        max_message_(std::min(rail.traits().max_message, kMaxMessage)),
        unanswered_(config.npes) {
    if (max_message_ < sizeof(PutSignalMessage))
      throw Error(text("rail %s carries messages of %zu bytes; %zu are needed", rail.name().c_str(), max_message_,
                       sizeof(PutSignalMessage)));
  }
  Initiator(const Initiator&) = delete;  // cells point to its scopes

  NetContext& add_scope() { return scopes_.add(); }
  /// The scope must be quiet.
  void drop_scope(const NetContext& scope) noexcept { scopes_.drop(scope); }

  // ---- posts -------------------------------------------------------------------------------------------------------
  // failed comes only while leaving: the operation is over, and its outcome was not told.

  /// Posts all segments of a put or get; counts in `scope` until they are complete.
  Post transfer(NetContext& scope, Transfer& t, Source source, const Outcome& outcome) noexcept {
    if (abandoned_) return Post::failed;
    if (!release_held()) return Post::again;
    if (t.cell == nullptr && !open(scope, t, source, outcome)) return Post::again;
    const Post posted = post_segments(t);
    if (posted == Post::ok) finish_part(*t.cell);  // the hold of open()
    return posted;
  }

  /// A put that may wait for the next one (see HeldWrite): at most kMaxMessage bytes, one write.
  Post batched_put(NetContext& scope, Transfer& t, Source source) noexcept {
    if (abandoned_) return Post::failed;
    if (t.cell == nullptr) {
      if (!open(scope, t, Source::stable, {})) return Post::again;
      if (source == Source::copied) t.local = copied(*t.cell, t.local, t.nbytes);
    }
    if (!release_held(held_.may_run_on())) return Post::again;
    held_.hold(t);
    return Post::ok;
  }

  /// False when the rail has no room for the held write; true also when there is none.
  bool release_held(bool more = false) noexcept {
    if (held_.empty()) [[likely]]
      return true;
    const Operation what = held_.cell()->what;
    const Post posted = held_.post(rail_, more);
    if (posted == Post::failed) refuse(what);
    return posted != Post::again;
  }

  /// Data, then signal. Small payloads travel inside the message; `outcome.done` tells when the source is free.
  Post put_signal(NetContext& scope, Transfer& t, Source source, const NetSignal& signal,
                  const Outcome& outcome) noexcept {
    if (abandoned_) return Post::failed;
    if (!release_held()) return Post::again;
    if (t.nbytes == 0) return signal_only(scope, t.remote.pe, signal, outcome);
    if (t.cell == nullptr) {
      if (travels_inline(t.nbytes)) return put_signal_inline(scope, t, signal, outcome);
      t.kind = OpKind::put_signal;
      if (!open(scope, t, source, outcome)) return Post::again;
      OpCell& cell = *t.cell;
      cell.then = Then::send_signal;
      cell.signal_op = signal.op;
      cell.signal_segment = signal.segment;
      cell.signal_offset = signal.offset;
      cell.signal_value = signal.value;
    }
    const Post posted = post_segments(t);
    if (posted != Post::ok) return posted;
    // Where the rail keeps a message behind the data of earlier writes, the signal need not wait for their completion.
    // Should it find no room now, it goes when the data is there. A channel's ticket needs the cell for the reply.
    if (signal_may_follow() && outcome.channel == nullptr) {
      const SignalMessage message = letterhead_.signal(scope, signal, nullptr);
      const Post followed = send({t.remote.pe, Port::proxy}, bytes_of(message), sizeof message, t.cell->what, nullptr);
      if (followed == Post::failed) return Post::failed;
      if (followed == Post::ok) {
        unanswered_.add(t.remote.pe);
        t.cell->then = Then::nothing;
        t.cell->count = &scope.writes;  // the answer may come first, while the rail still reads the source
        ++scope.writes;
      }
    }
    finish_part(*t.cell);
    return Post::ok;
  }

  /// A fetched value goes to `fetch`. Others count as messages of the scope until the target acknowledges.
  Post amo(NetContext& scope, Remote to, const NetAmo& amo, void* fetch, const Outcome& outcome) noexcept {
    if (abandoned_) return Post::failed;
    if (unanswered_.total() >= tuning_.max_unanswered || !release_held()) return Post::again;
    const bool fetches = amo_fetches(amo.op);
    OpCell* cell = nullptr;
    if (fetches || outcome.channel != nullptr) {
      if ((cell = cells_.take({OpKind::amo, to.pe, amo.width})) == nullptr) return Post::again;
      cell->fetch = fetches ? fetch : nullptr;
      cell->fetch_width = amo.width;
    }
    const AmoMessage message{
        letterhead_.header(MessageKind::amo, static_cast<uint8_t>(amo.op), amo.width, to.segment, scope, cell),
        to.offset, amo.operand, amo.compare};
    return request(scope, {OpKind::amo, to.pe, amo.width}, bytes_of(message), sizeof message, cell,
                   message.header.answer, outcome);
  }

  /// No scope waits for it, but a cell does, until the provider has taken the message over: with manual progress some
  /// providers send only while somebody polls this endpoint.
  Post flag(Remote to, uint64_t value) noexcept {
    if (abandoned_) return Post::failed;
    if (!release_held()) return Post::again;
    OpCell* cell = cells_.take({OpKind::flag, to.pe, 8});
    if (cell == nullptr) return Post::again;
    const FlagMessage message = letterhead_.flag(to, value);
    std::memcpy(cells_.buffer(*cell), &message, sizeof message);
    const Post posted = rail_.send({{to.pe, Port::proxy}, cells_.buffer(*cell), sizeof message, cell});
    if (posted == Post::ok) {
      cell->parts_left = 1;
    } else if (posted == Post::again) {
      cells_.give(*cell);
    } else {
      refuse(cell->what);
    }
    return posted;
  }

  /// A message that nobody answers or waits for: the responder's acknowledgements and replies.
  Post answer(Endpoint to, const std::byte* bytes, size_t nbytes) noexcept {
    if (abandoned_) return Post::failed;
    return send(to, bytes, nbytes, {OpKind::answer, to.pe, nbytes}, nullptr);
  }

  // ---- progress ----------------------------------------------------------------------------------------------------

  /// Reaps a batch of events and posts what waits: a held write, signals whose data has arrived. Requests of peers go
  /// to `on_request(bytes, nbytes)`. True when something moved.
  template <class OnRequest>
  bool poll(OnRequest&& on_request) noexcept {
    release_held();  // without room now, the next poll tries again
    std::array<RailEvent, kEventBatch> events;
    const size_t n = rail_.poll(events);
    for (size_t i = 0; i < n; ++i) {
      const RailEvent& event = events[i];
      switch (event.kind) {
        case RailEvent::Kind::completed:
          completed(event.slot);
          break;
        case RailEvent::Kind::failed:
          failed(event);
          break;
        case RailEvent::Kind::message:
          if (!take_answer(event)) on_request(event.bytes, event.nbytes);
          rail_.release(event);
          break;
      }
    }
    return flush_signals() || n > 0;
  }

  /// The peers are leaving: from now on failures count as completions.
  void ignore_failures() noexcept { leaving_.store(true, std::memory_order_relaxed); }

  /// A put_signal of this size is one message; a longer one is writes and then a message.
  bool travels_inline(size_t nbytes) const noexcept {
    return nbytes <= tuning_.max_inline && nbytes + sizeof(PutSignalMessage) <= max_message_;
  }

  /// Cells in flight and unanswered messages. 0: nothing needs this endpoint polled.
  size_t outstanding() const noexcept { return cells_.in_use() + unanswered_.total(); }
  /// Something here goes on only if somebody polls: a long transfer, a signal behind its data, a held write.
  bool needs_polling() const noexcept { return lasting_ > 0 || !held_.empty(); }

  R& rail() noexcept { return rail_; }
  int pe() const noexcept { return letterhead_.pe; }
  bool leaving() const noexcept { return leaving_.load(std::memory_order_relaxed); }

  /// "5 unanswered messages (2 to PE 3), put of 8 bytes to PE 3" for messages; cold.
  std::string describe_outstanding() const {
    std::string line = unanswered_.describe();
    if (const Operation one = cells_.any_in_flight(); one.kind != OpKind::none)
      line += text("%s%zu operations in flight, one of them a %s", line.empty() ? "" : ", ", cells_.in_use(),
                   describe(one).c_str());
    return line;
  }

 private:
  static constexpr size_t kEventBatch = 16;  // enough to amortise a CQ read, small enough to stay in L1
  template <class M>
  static const std::byte* bytes_of(const M& message) noexcept {
    return reinterpret_cast<const std::byte*>(&message);
  }

  /// Without inject a signal message would need a cell of its own, and all cells may be held by waiting put_signals.
  bool signal_may_follow() const noexcept {
    return rail_.traits().inject >= sizeof(SignalMessage) &&
           (rail_.traits().message_after_write || !tuning_.signal_waits_for_data);
  }

  // ---- cells -------------------------------------------------------------------------------------------------------

  /// Takes the operation's cell, held until all segments are posted.
  bool open(NetContext& scope, Transfer& t, Source source, const Outcome& outcome) noexcept {
    if (t.kind == OpKind::put_signal && unanswered_.total() >= tuning_.max_unanswered) return false;
    OpCell* cell = cells_.take({t.kind, t.remote.pe, t.nbytes});
    if (cell == nullptr) return false;
    cell->parts_left = 1;
    cell->scope = &scope;
    cell->outcome = outcome;
    if (t.kind == OpKind::put_signal) {
      ++scope.messages;  // until the signal is acknowledged; its data is covered by that
    } else {
      cell->count = t.kind == OpKind::get ? &scope.reads : &scope.writes;
      ++*cell->count;
    }
    if (source == Source::copied && t.nbytes > rail_.traits().inject) t.local = copied(*cell, t.local, t.nbytes);
    cell->lasting = t.kind == OpKind::put_signal || t.nbytes > kMaxMessage;
    if (cell->lasting) ++lasting_;
    t.cell = cell;
    return true;
  }

  std::byte* copied(const OpCell& cell, const std::byte* bytes, size_t nbytes) noexcept {
    return static_cast<std::byte*>(std::memcpy(cells_.buffer(cell), bytes, nbytes));
  }

  Post post_segments(Transfer& t) noexcept {
    const size_t max = rail_.traits().max_write;
    while (t.posted < t.nbytes) {
      const size_t n = std::min(max, t.nbytes - t.posted);
      OpCell* part = t.cell;
      if (t.posted > 0) {
        part = cells_.take({t.kind, t.remote.pe, n});
        if (part == nullptr) return Post::again;
        part->parent = t.cell->index;
      }
      const Remote at{t.remote.pe, t.remote.segment, t.remote.offset + t.posted};
      const Post posted = t.kind == OpKind::get ? rail_.read({at, t.local + t.posted, n, part})
                                                : rail_.write({at, t.local + t.posted, n, part, false});
      if (posted != Post::ok) {
        if (part != t.cell) cells_.give(*part);
        if (posted == Post::again) return Post::again;
        t.cell->outcome.channel = nullptr;  // the caller hears of it by `failed`
        refuse(t.cell->what);
        return Post::failed;
      }
      ++t.cell->parts_left;
      t.posted += n;
    }
    return Post::ok;
  }

  /// One event less to wait for. The last one ends the operation.
  void finish_part(OpCell& cell) noexcept {
    if (--cell.parts_left > 0) return;
    tell(cell.outcome.done);
    if (cell.then == Then::send_signal) {
      post_or_queue_signal(cell);
      return;
    }
    if (cell.count != nullptr) --*cell.count;
    if (cell.outcome.channel != nullptr) cell.outcome.channel->complete(cell.outcome.ticket);
    close(cell);
  }

  void close(OpCell& cell) noexcept {
    if (cell.lasting) --lasting_;
    cells_.give(cell);
  }

  void completed(OpSlot* slot) noexcept {
    if (slot == nullptr || abandoned_) return;
    OpCell& part = static_cast<OpCell&>(*slot);
    if (part.parent == kNoCell) {
      finish_part(part);
      return;
    }
    OpCell& whole = cells_[part.parent];
    cells_.give(part);
    finish_part(whole);
  }

  // ---- messages ----------------------------------------------------------------------------------------------------

  /// Sends at once what the rail copies; longer ones from the buffer of `owner`, or of a cell taken for it.
  Post send(Endpoint to, const std::byte* bytes, size_t nbytes, const Operation& what, OpCell* owner) noexcept {
    OpCell* carrier = nullptr;
    if (nbytes > rail_.traits().inject) {
      carrier = owner != nullptr ? owner : cells_.take(what);
      if (carrier == nullptr) return Post::again;
      std::byte* const buffer = cells_.buffer(*carrier);
      if (bytes != buffer) std::memcpy(buffer, bytes, nbytes);
      bytes = buffer;
    }
    const Post posted = rail_.send({to, bytes, nbytes, carrier});
    if (posted == Post::ok) {
      if (carrier != nullptr) ++carrier->parts_left;
    } else if (posted == Post::failed) {
      refuse(what);
    } else if (carrier != nullptr && carrier != owner) {
      cells_.give(*carrier);
    }
    return posted;
  }

  /// A message that the target answers. `cell` (may be null) carries it, and waits for the reply if one was asked for.
  Post request(NetContext& scope, const Operation& what, const std::byte* bytes, size_t nbytes, OpCell* cell,
               Answer answer, const Outcome& outcome) noexcept {
    const Post posted = send({what.pe, Port::proxy}, bytes, nbytes, what, cell);
    if (posted != Post::ok) {
      if (posted == Post::again && cell != nullptr) cells_.give(*cell);
      return posted;
    }
    ++scope.messages;
    unanswered_.add(what.pe);
    if (answer == Answer::reply) {
      ++cell->parts_left;
      cell->count = &scope.messages;
      cell->outcome = outcome;
    } else if (outcome.done != nullptr) {
      tell(outcome.done);
    }
    return Post::ok;
  }

  Post put_signal_inline(NetContext& scope, const Transfer& t, const NetSignal& signal,
                         const Outcome& outcome) noexcept {
    if (unanswered_.total() >= tuning_.max_unanswered) return Post::again;
    const size_t total = sizeof(PutSignalMessage) + t.nbytes;
    const Operation what{OpKind::put_signal, t.remote.pe, t.nbytes};
    const bool ticketed = outcome.channel != nullptr;
    OpCell* cell = nullptr;
    if ((ticketed || total > rail_.traits().inject) && (cell = cells_.take(what)) == nullptr) return Post::again;
    const PutSignalMessage message{letterhead_.header(MessageKind::put_signal, static_cast<uint8_t>(signal.op), 8,
                                                      signal.segment, scope, ticketed ? cell : nullptr),
                                   signal.offset,
                                   signal.value,
                                   t.remote.offset,
                                   static_cast<uint32_t>(t.nbytes),
                                   t.remote.segment,
                                   {}};
    std::array<std::byte, kMaxMessage> small;
    std::byte* const bytes = cell != nullptr ? cells_.buffer(*cell) : small.data();
    std::memcpy(bytes, &message, sizeof message);
    std::memcpy(bytes + sizeof message, t.local, t.nbytes);
    return request(scope, what, bytes, total, cell, message.header.answer, outcome);
  }

  Post signal_only(NetContext& scope, int pe, const NetSignal& signal, const Outcome& outcome) noexcept {
    if (unanswered_.total() >= tuning_.max_unanswered) return Post::again;
    OpCell* cell = nullptr;
    if (outcome.channel != nullptr && (cell = cells_.take({OpKind::signal, pe, 8})) == nullptr) return Post::again;
    const SignalMessage message = letterhead_.signal(scope, signal, cell);
    return request(scope, {OpKind::signal, pe, 8}, bytes_of(message), sizeof message, cell, message.header.answer,
                   outcome);
  }

  // ---- signals behind their data -----------------------------------------------------------------------------------

  /// All data of `cell` is in the target's memory: its signal may go, from the cell itself, so that it never lacks one.
  bool post_deferred_signal(OpCell& cell) noexcept {
    const bool ticketed = cell.outcome.channel != nullptr;
    const NetSignal signal{cell.signal_segment, cell.signal_offset, cell.signal_value, cell.signal_op};
    const SignalMessage message = letterhead_.signal(*cell.scope, signal, ticketed ? &cell : nullptr);
    const Post posted = send({cell.what.pe, Port::proxy}, bytes_of(message), sizeof message, cell.what, &cell);
    if (posted == Post::again) return false;
    if (posted == Post::failed) return true;  // given up with everything else
    unanswered_.add(cell.what.pe);
    cell.then = Then::nothing;
    cell.outcome.done = nullptr;  // told when the data was there
    if (ticketed) {
      ++cell.parts_left;
      cell.count = &cell.scope->messages;
    } else if (cell.parts_left == 0) {
      close(cell);  // the acknowledgement lowers the scope
    }
    return true;
  }

  void post_or_queue_signal(OpCell& cell) noexcept {
    if (!waiting_.empty() || !post_deferred_signal(cell)) waiting_.push(cells_, cell);
  }

  bool flush_signals() noexcept {
    bool moved = false;
    while (!waiting_.empty()) {
      OpCell& cell = waiting_.pop(cells_);  // before the post, which may give the cell back
      if (!post_deferred_signal(cell)) {
        waiting_.push_front(cell);
        break;
      }
      moved = true;
    }
    return moved;
  }

  // ---- answers -----------------------------------------------------------------------------------------------------

  bool take_answer(const RailEvent& event) noexcept {
    if (event.nbytes != sizeof(AcknowledgeMessage) && event.nbytes != sizeof(ReplyMessage)) return false;
    const MessageHeader h = read_message<MessageHeader>(event.bytes);
    if (h.kind != MessageKind::acknowledge && h.kind != MessageKind::reply) return false;
    if (abandoned_) return true;
    if (h.kind == MessageKind::acknowledge) {
      const auto message = read_message<AcknowledgeMessage>(event.bytes);
      scopes_[h.scope].messages -= message.count;
      unanswered_.remove(h.pe, message.count);
      return true;
    }
    const auto message = read_message<ReplyMessage>(event.bytes);
    OpCell& cell = cells_[h.cell];
    unanswered_.remove(h.pe, 1);
    if (cell.fetch != nullptr)
      copy_whole(static_cast<std::byte*>(cell.fetch), bytes_of(message.value), cell.fetch_width);
    finish_part(cell);
    return true;
  }

  // ---- failures ----------------------------------------------------------------------------------------------------

  /// A post was refused for good.
  void refuse(const Operation& what) noexcept {
    if (!leaving()) die_failed(what, rail_.name(), rail_.last_error());
    abandon();
  }

  void failed(const RailEvent& event) noexcept {
    if (leaving()) {
      abandon();
      return;
    }
    if (event.slot != nullptr) die_failed(static_cast<OpCell&>(*event.slot).what, rail_.name(), event.error);
    die_rail_failed(rail_.name(), event.error, describe_outstanding());
  }

  /// Counts everything as done: after the job's last barrier nobody needs it, and a peer that left cannot answer.
  void abandon() noexcept {
    if (abandoned_) return;
    abandoned_ = true;
    for (uint32_t i = 0; i < cells_.size(); ++i) {
      OpCell& cell = cells_[i];
      if (cell.what.kind == OpKind::none) continue;
      tell(cell.outcome.done);
      if (cell.outcome.channel != nullptr) cell.outcome.channel->complete(cell.outcome.ticket);
      close(cell);
    }
    scopes_.clear_all();
    waiting_ = {};
    held_.forget();
    unanswered_.clear();
  }

  R& rail_;
  const Letterhead letterhead_;
  const Tuning tuning_;
  CellPool cells_;
  const size_t max_message_;
  Scopes scopes_;
  Unanswered unanswered_;
  size_t lasting_ = 0;  ///< open cells marked so
  CellList waiting_;    ///< signals that found no room
  HeldWrite held_;      ///< the last write of a batch
  bool abandoned_ = false;
  std::atomic<bool> leaving_{false};  ///< relaxed: set once by prepare_stop(); a late reader only dies for nothing
};

}  // namespace railshmem
