// SPDX-License-Identifier: BSD-3-Clause
// The source's side of every operation: posts on the rails of one port, reaps their events, accounts to scopes.
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
#include "src/proxy/bulk_queue.h"
#include "src/proxy/cell_pool.h"
#include "src/proxy/held_write.h"
#include "src/proxy/letterhead.h"
#include "src/proxy/message.h"
#include "src/proxy/operation.h"
#include "src/proxy/outbox.h"
#include "src/proxy/rail_set.h"
#include "src/proxy/scopes.h"
#include "src/proxy/transfer.h"

namespace railshmem {

template <Rail R>
class Initiator {
 public:
  Initiator(std::span<R> rails, const InitiatorConfig& config)
      : rails_(rails, config.pe, config.tuning.rail_window),
        letterhead_{config.port, config.pe},
        tuning_(config.tuning),
        cells_(config.cells),
        max_message_(std::min(rails_.traits().max_message, kMaxMessage)),
        longest_whole_(rails_.single() ? rails_.traits().max_write
                                       : std::min(rails_.traits().max_write,
                                                  std::max({config.tuning.stripe_min - 1, rails_.traits().inject,
                                                            kMaxMessage}))),  // what is copied goes at once
        scopes_(config.npes),
        outbox_(config.npes),
        bulks_(config.cells / 2) {
    if (max_message_ < sizeof(PutSignalMessage))
      throw Error(text("rail %s carries messages of %zu bytes; %zu are needed", rails_[0].name().c_str(), max_message_,
                       sizeof(PutSignalMessage)));
  }
  Initiator(const Initiator&) = delete;  // cells point to its scopes

  NetContext& add_scope() { return scopes_.add(); }
  /// The scope must be quiet.
  void drop_scope(const NetContext& scope) noexcept { scopes_.drop(scope); }

  // ---- posts -------------------------------------------------------------------------------------------------------
  // failed comes only while leaving: the operation is over, and its outcome was not told.

  /// True when an operation of this kind to `pe` may be posted now without passing what the scope's last fence holds
  /// back. Rails keep no order among each other, so it waits for what is pending from before, to this PE only; a single
  /// rail that keeps order needs no wait.
  bool in_order(NetContext& scope, int pe, OpKind kind) noexcept {
    PeerCounts& peer = scope.peer(pe);
    if (peer.epoch == scope.fences) [[likely]]
      return true;
    if (peer.ordered() > 0 && tuning_.keeps_order) {
      const RailTraits& traits = rails_.traits();
      if (!rails_.single() || peer.messages > 0) return false;
      if (!(kind == OpKind::put ? traits.write_after_write : traits.message_after_write)) return false;
      if (!traits.write_after_write) return true;  // the next put has to wait nevertheless
    }
    peer.epoch = scope.fences;
    return true;
  }

  /// Posts a put or get, or takes it over if it is long; counts in `scope` until it is complete.
  Post transfer(NetContext& scope, Transfer& t, Source source, const Outcome& outcome) noexcept {
    if (!release_held()) return Post::again;
    if (abandoned_) return Post::failed;  // perhaps by the held one
    if (t.cell == nullptr && !open(scope, t, source, outcome)) return Post::again;
    return start(*t.cell);
  }

  /// A put that may wait for the next one (see HeldWrite): at most kMaxMessage bytes, one write.
  Post batched_put(NetContext& scope, Transfer& t, Source source) noexcept {
    if (abandoned_) return Post::failed;
    if (t.cell == nullptr) {
      if (!open(scope, t, Source::stable, {})) return Post::again;
      if (source == Source::copied) copy_source(*t.cell);
    }
    const bool runs_on = held_.may_run_on(rails_.usable(t.remote.pe));
    const size_t r = runs_on ? held_.rail() : rails_.pick(t.remote.pe);
    if (!release_held(runs_on)) return Post::again;
    if (abandoned_) return Post::failed;  // by the one before, and this one's cell with it
    held_.hold(*t.cell, r);
    return Post::ok;
  }

  /// False when the rail has no room for the held write; true also when there is none.
  bool release_held(bool more = false) noexcept {
    if (held_.empty()) [[likely]]
      return true;
    const Post posted = post_piece(held_.cell(), held_.rail(), more);
    if (posted != Post::again) held_.let_go(more);
    return posted != Post::again;
  }

  /// Data, then signal. Small payloads travel inside the message; `outcome.done` tells when the source is free.
  Post put_signal(NetContext& scope, Transfer& t, Source source, const NetSignal& signal,
                  const Outcome& outcome) noexcept {
    if (!release_held()) return Post::again;
    if (abandoned_) return Post::failed;  // perhaps by the held one
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
    OpCell& cell = *t.cell;
    ++cell.parts_left;  // a hold, lest a piece that completes at once ends the operation here
    const Post posted = start(cell);
    if (posted == Post::ok && signal_may_follow(cell)) follow_with_signal(cell);
    if (posted == Post::failed) return posted;
    finish_part(cell);
    return posted;
  }

  /// A fetched value goes to `fetch`. Others count as messages of the scope until the target acknowledges.
  Post amo(NetContext& scope, Remote to, const NetAmo& amo, void* fetch, const Outcome& outcome) noexcept {
    const Operation what{OpKind::amo, to.pe, amo.width};
    OpCell* const cell = take_request(what);
    if (cell == nullptr) return abandoned_ ? Post::failed : Post::again;
    const bool fetches = amo_fetches(amo.op);
    cell->fetch = fetches ? fetch : nullptr;
    cell->fetch_width = amo.width;
    const AmoMessage message{letterhead_.header(MessageKind::amo, static_cast<uint8_t>(amo.op), amo.width, to.segment,
                                                *cell, fetches ? Answer::reply : Answer::acknowledge),
                             to.offset, amo.operand, amo.compare};
    return request(&scope, *cell, message, outcome);
  }

  /// No scope waits for it. With several rails it is acknowledged, because one may die with it; else it only keeps a
  /// cell until the provider has taken it over: some send only while somebody polls this endpoint.
  Post flag(Remote to, uint64_t value) noexcept {
    OpCell* const cell = take_request({OpKind::flag, to.pe, 8});
    if (cell == nullptr) return abandoned_ ? Post::failed : Post::again;
    const Answer answer = rails_.single() ? Answer::none : Answer::acknowledge;
    const FlagMessage message{letterhead_.header(MessageKind::flag, 0, 8, to.segment, *cell, answer), to.offset, value};
    return request(nullptr, *cell, message, {});
  }

  /// A message that nobody answers or waits for: the responder's acknowledgements and replies. Over rail `r` if it can.
  Post answer(size_t r, Endpoint to, const std::byte* bytes, size_t nbytes) noexcept {
    if (abandoned_) return Post::failed;
    const Operation what{OpKind::answer, to.pe, nbytes};
    const size_t rail = rails_.after(r, rails_.usable(to.pe));
    OpCell* carrier = nullptr;
    if (nbytes > rails_.traits().inject) {
      if ((carrier = cells_.take(what)) == nullptr) return Post::again;
      std::memcpy(cells_.buffer(*carrier), bytes, nbytes);
      bytes = cells_.buffer(*carrier);
      carrier->rail = static_cast<uint8_t>(rail);
    }
    const Post posted = send(rail, to, bytes, nbytes, carrier, what);
    if (posted == Post::again && carrier != nullptr) cells_.give(*carrier);
    return posted;
  }

  // ---- progress ----------------------------------------------------------------------------------------------------

  /// Reaps a batch of events per rail and posts what waits: a held write, pieces of long operations, signals whose data
  /// has arrived. Requests of peers go to `on_request(rail, bytes, nbytes)`. True when something moved.
  template <class OnRequest>
  bool poll(OnRequest&& on_request) noexcept {
    release_held();  // without room now, the next poll tries again
    bool moved = false;
    const bool all = letterhead_.port == Port::proxy || ++turn_ % kTurnsPerIdleRail == 0;
    for (size_t r = 0; r < rails_.size(); ++r)
      if (all || rails_.single() || rails_.waits_for(r)) moved |= poll_rail(r, on_request);
    if (!bulks_.empty()) moved |= push_bulks();
    return flush_signals() || moved;
  }

  /// The peers are leaving: from now on failures count as completions.
  void ignore_failures() noexcept { leaving_.store(true, std::memory_order_relaxed); }

  /// A put_signal of this size is one message; a longer one is writes and then a message.
  bool travels_inline(size_t nbytes) const noexcept {
    return nbytes <= tuning_.max_inline && nbytes + sizeof(PutSignalMessage) <= max_message_;
  }

  /// Cells in flight, those of unanswered requests included. 0: nothing needs this endpoint polled.
  size_t outstanding() const noexcept { return cells_.in_use(); }
  /// Something here goes on only if somebody polls: a long transfer, a signal behind its data, a held write.
  bool needs_polling() const noexcept { return lasting_ > 0 || !held_.empty(); }

  RailSet<R>& rails() noexcept { return rails_; }
  const RailTraits& traits() const noexcept { return rails_.traits(); }
  std::string name() const { return rails_.name(); }
  int pe() const noexcept { return letterhead_.pe; }
  bool leaving() const noexcept { return leaving_.load(std::memory_order_relaxed); }

  /// "5 atomics or signals unanswered, 2 of them by PE 3, 7 operations in flight, one of them ..."; cold.
  std::string describe_outstanding() const {
    std::string line = outbox_.describe(cells_);
    if (const Operation one = cells_.any_in_flight(); one.kind != OpKind::none)
      line += text("%s%zu operations in flight, one of them a %s", line.empty() ? "" : ", ", cells_.in_use(),
                   describe(one).c_str());
    return line;
  }

 private:
  static constexpr size_t kEventBatch = 16;          // enough to amortise a CQ read, small enough to stay in L1
  static constexpr uint32_t kTurnsPerIdleRail = 16;  // a look at a rail where nothing is expected costs a system call

  template <class M>
  static const std::byte* bytes_of(const M& message) noexcept {
    return reinterpret_cast<const std::byte*>(&message);
  }

  // ---- puts and gets -----------------------------------------------------------------------------------------------

  /// Takes the operation's cell, held for its one piece or for all of them.
  bool open(NetContext& scope, Transfer& t, Source source, const Outcome& outcome) noexcept {
    if (t.kind == OpKind::put_signal && !outbox_.has_room(t.remote.pe, cells_)) return false;
    if (t.nbytes > longest_whole_ && bulks_.full()) return false;  // before it has a cell: pieces need that
    OpCell* cell = cells_.take({t.kind, t.remote.pe, t.nbytes});
    if (cell == nullptr) return false;
    cell->parts_left = 1;
    cell->segment = t.remote.segment;
    cell->remote_offset = t.remote.offset;
    cell->local = t.local;
    count_in(scope, *cell, outcome);
    if (source == Source::copied && t.nbytes > rails_.traits().inject) copy_source(*cell);
    cell->lasting = t.kind == OpKind::put_signal || t.nbytes > std::min(kMaxMessage, longest_whole_);
    if (cell->lasting) ++lasting_;
    t.cell = cell;
    return true;
  }

  void count_in(NetContext& scope, OpCell& cell, const Outcome& outcome) noexcept {
    cell.scope = &scope;
    cell.outcome = outcome;
    scope.opened(cell.what);
  }

  void copy_source(OpCell& cell) noexcept {
    cell.local = static_cast<std::byte*>(std::memcpy(cells_.buffer(cell), cell.local, cell.what.nbytes));
  }

  /// Posts a whole, or queues it to go in pieces. On `again` nothing happened.
  Post start(OpCell& cell) noexcept {
    if (cell.what.nbytes <= longest_whole_) return post_anywhere(cell);
    bulks_.add(cell, BulkQueue::piece_of(cell.what.nbytes, rails_.size(), tuning_, rails_.traits().max_write));
    push_bulks();
    return abandoned_ ? Post::failed : Post::ok;
  }

  Post post_anywhere(OpCell& cell) noexcept {
    const int pe = cell.what.pe;
    const size_t first = cell.what.kind == OpKind::put_signal ? request_rail(pe) : rails_.pick(pe);
    return try_rails(pe, first, [&](size_t r) { return post_piece(cell, r); });
  }

  /// One try on each rail that reaches `pe`, from `first` on, until one does not answer `again`.
  template <class Attempt>
  Post try_rails(int pe, size_t first, Attempt&& attempt) noexcept {
    const RailMask usable = rails_.usable(pe);
    size_t r = first;
    do {
      const Post posted = attempt(r);
      if (posted != Post::again) return posted;
      r = rails_.after((r + 1) % rails_.size(), usable);
    } while (r != first);
    return Post::again;
  }

  /// One write or read, of a whole operation or of a piece.
  Post post_piece(OpCell& cell, size_t r, bool more = false) noexcept {
    const size_t n = cell.what.nbytes;
    cell.rail = static_cast<uint8_t>(r);
    const Post posted = cell.what.kind == OpKind::get ? rails_[r].read({cell.remote(), cell.local, n, &cell})
                                                      : rails_[r].write({cell.remote(), cell.local, n, &cell, more});
    if (posted == Post::ok) [[likely]] {
      rails_.expect(r);
    } else if (posted == Post::failed) {
      cell.outcome.channel = nullptr;  // the caller hears of it by `failed`
      refuse(cell.what, r);
    }
    rails_.count(r, posted, n);
    return posted;
  }

  /// Posts pieces of long operations as far as rails have room. A full rail stops no other.
  bool push_bulks() noexcept {
    bool moved = false;
    for (size_t i = 0; i < bulks_.size();) {
      moved |= push(bulks_[i]);
      if (abandoned_) return true;
      if (!bulks_[i].all_posted()) {
        ++i;
        continue;
      }
      OpCell& whole = *bulks_[i].whole;
      bulks_.remove(i);
      finish_part(whole);  // the hold of open()
    }
    return moved;
  }

  bool push(Bulk& bulk) noexcept {
    const OpCell& whole = *bulk.whole;
    bool moved = false;
    for (RailMask full = 0; !bulk.all_posted();) {
      const size_t n = bulk.next_piece();
      const size_t r = rails_.claim(whole.what.pe, n, bulks_.unposted(), full);
      if (r == kNoRail) break;
      OpCell* const piece = cells_.take({whole.what.kind, whole.what.pe, n});
      if (piece == nullptr) break;
      piece->parent = whole.index;
      piece->segment = whole.segment;
      piece->remote_offset = whole.remote_offset + bulk.posted;
      piece->local = whole.local + bulk.posted;
      const Post posted = post_piece(*piece, r);
      if (posted == Post::failed) return true;
      if (posted == Post::again) {
        cells_.give(*piece);
        full |= RailMask{1} << r;
        continue;
      }
      ++bulk.whole->parts_left;
      rails_.long_posted(r, n);
      bulks_.posted(bulk, n);
      moved = true;
    }
    return moved;
  }

  /// One event less to wait for. The last one ends the operation, or the data's part of it.
  void finish_part(OpCell& cell) noexcept {
    if (--cell.parts_left > 0) return;
    if (cell.then == Then::send_signal) {
      tell(cell.outcome.done);
      cell.outcome.done = nullptr;
      post_or_queue_signal(cell);
    } else if (!cell.awaits_answer) {
      end(cell);
    } else if (cell.what.kind == OpKind::put_signal) {
      tell(cell.outcome.done);  // the source is free
      cell.outcome.done = nullptr;
    }
  }

  void end(OpCell& cell) noexcept {
    if (cell.scope != nullptr) cell.scope->closed(cell.what);
    tell(cell.outcome.done);
    if (cell.outcome.channel != nullptr) cell.outcome.channel->complete(cell.outcome.ticket);
    if (cell.lasting) --lasting_;
    cells_.give(cell);
  }

  // ---- events ------------------------------------------------------------------------------------------------------

  template <class OnRequest>
  bool poll_rail(size_t r, OnRequest&& on_request) noexcept {
    std::array<RailEvent, kEventBatch> events;
    const size_t n = rails_[r].poll(events);
    for (size_t i = 0; i < n; ++i) {
      const RailEvent& event = events[i];
      switch (event.kind) {
        case RailEvent::Kind::completed:
          completed(event.slot);
          break;
        case RailEvent::Kind::failed:
          failed(event, r);
          break;
        case RailEvent::Kind::message:
          if (!take_answer(event)) on_request(r, event.bytes, event.nbytes);
          rails_[r].release(event);
          break;
      }
    }
    return n > 0;
  }

  void completed(OpSlot* slot) noexcept {
    if (slot == nullptr || abandoned_) return;
    OpCell& part = static_cast<OpCell&>(*slot);
    rails_.came(part.rail);
    if (part.parent == kNoCell) {
      finish_part(part);
      return;
    }
    OpCell& whole = cells_[part.parent];
    rails_.long_completed(part.rail, part.what.nbytes);
    cells_.give(part);
    finish_part(whole);
  }

  bool take_answer(const RailEvent& event) noexcept {
    if (event.nbytes != sizeof(AcknowledgeMessage) && event.nbytes != sizeof(ReplyMessage)) return false;
    const MessageHeader h = read_message<MessageHeader>(event.bytes);
    if (h.kind != MessageKind::acknowledge && h.kind != MessageKind::reply) return false;
    if (abandoned_) return true;
    if (h.kind == MessageKind::acknowledge) {
      const auto message = read_message<AcknowledgeMessage>(event.bytes);
      outbox_.acknowledge(cells_, h.pe, h.sequence, message.executed, [this](OpCell& cell) { answered(cell); });
      return true;
    }
    const auto message = read_message<ReplyMessage>(event.bytes);
    OpCell& cell = cells_[h.cell];
    // A request that was sent twice is answered twice.
    if (!cell.awaits_answer || cell.sequence != h.sequence || cell.what.pe != h.pe) return true;
    copy_whole(static_cast<std::byte*>(cell.fetch), bytes_of(message.value), cell.fetch_width);
    outbox_.remove(cells_, cell);
    answered(cell);
    return true;
  }

  void answered(OpCell& cell) noexcept {
    rails_.came(cell.rail);
    if (cell.parts_left == 0) end(cell);
  }

  // ---- requests ----------------------------------------------------------------------------------------------------

  /// The cell of a request; null when it cannot go now.
  OpCell* take_request(const Operation& what) noexcept {
    if (abandoned_ || !outbox_.has_room(what.pe, cells_) || !release_held() || abandoned_) return nullptr;
    OpCell* const cell = cells_.take(what);
    if (cell != nullptr) cell->sequence = outbox_.next(what.pe);
    return cell;
  }

  template <class M>
  Post request(NetContext* scope, OpCell& cell, const M& message, const Outcome& outcome) noexcept {
    std::memcpy(cells_.buffer(cell), &message, sizeof message);
    return request(scope, cell, sizeof message, message.header.answer, outcome);
  }

  /// Sends the message in the cell's buffer, over whichever rail takes it. The cell stays until the target has
  /// answered.
  Post request(NetContext* scope, OpCell& cell, size_t nbytes, Answer answer, const Outcome& outcome) noexcept {
    cell.request_bytes = static_cast<uint32_t>(nbytes);
    const Post posted = send_anywhere(cell, answer == Answer::none);
    if (posted != Post::ok) {
      if (posted == Post::again) cells_.give(cell);
      return posted;
    }
    if (scope != nullptr) count_in(*scope, cell, outcome);
    if (answer == Answer::none) return posted;
    outbox_.add(cells_, cell);
    rails_.expect(cell.rail);
    if (answer == Answer::acknowledge) {
      tell(cell.outcome.done);  // nothing of the caller's is needed any more
      cell.outcome.done = nullptr;
    }
    return posted;
  }

  /// `evented`: leaves an event even when the rail copies it.
  Post send_anywhere(OpCell& cell, bool evented) noexcept {
    const int pe = cell.what.pe;
    const bool copied = cell.request_bytes <= rails_.traits().inject && !evented;
    const auto attempt = [&](size_t r) {
      cell.rail = static_cast<uint8_t>(r);
      return send(r, {pe, Port::proxy}, cells_.buffer(cell), cell.request_bytes, copied ? nullptr : &cell, cell.what);
    };
    return request_goes_after_another(pe) ? attempt(request_rail(pe)) : try_rails(pe, rails_.pick(pe), attempt);
  }

  /// Requests to one PE that are under way together take one rail, so that they arrive in the order of the program.
  /// The standard asks for that only behind a fence, but programs that set a word twice rely on the second to stay.
  bool request_goes_after_another(int pe) const noexcept { return outbox_.newest(pe, cells_) != nullptr; }
  size_t request_rail(int pe) noexcept {
    const OpCell* const newest = outbox_.newest(pe, cells_);
    return newest != nullptr ? rails_.after(newest->rail, rails_.usable(pe)) : rails_.pick(pe);
  }

  /// With a carrier, its completion is one part more of it.
  Post send(size_t r, Endpoint to, const std::byte* bytes, size_t nbytes, OpCell* carrier,
            const Operation& what) noexcept {
    const Post posted = rails_[r].send({to, bytes, nbytes, carrier});
    if (posted == Post::ok && carrier != nullptr) {
      ++carrier->parts_left;
      rails_.expect(r);
    } else if (posted == Post::failed) {
      refuse(what, r);
    }
    rails_.count(r, posted, nbytes);
    return posted;
  }

  Post put_signal_inline(NetContext& scope, const Transfer& t, const NetSignal& signal,
                         const Outcome& outcome) noexcept {
    OpCell* const cell = take_request({OpKind::put_signal, t.remote.pe, t.nbytes});
    if (cell == nullptr) return abandoned_ ? Post::failed : Post::again;
    const PutSignalMessage message{
        letterhead_.header(MessageKind::put_signal, static_cast<uint8_t>(signal.op), 8, signal.segment, *cell),
        signal.offset,
        signal.value,
        t.remote.offset,
        static_cast<uint32_t>(t.nbytes),
        t.remote.segment,
        {}};
    std::byte* const bytes = cells_.buffer(*cell);
    std::memcpy(bytes, &message, sizeof message);
    std::memcpy(bytes + sizeof message, t.local, t.nbytes);
    return request(&scope, *cell, sizeof message + t.nbytes, Answer::acknowledge, outcome);
  }

  Post signal_only(NetContext& scope, int pe, const NetSignal& signal, const Outcome& outcome) noexcept {
    OpCell* const cell = take_request({OpKind::signal, pe, 8});
    if (cell == nullptr) return abandoned_ ? Post::failed : Post::again;
    return request(&scope, *cell, letterhead_.signal(signal, *cell), outcome);
  }

  // ---- signals behind their data -----------------------------------------------------------------------------------

  /// Where a rail keeps a message behind the data of earlier writes, the signal of data that went over that rail as a
  /// whole need not wait for its completion. Without inject it would need a buffer, and the cell's may hold the data.
  bool signal_may_follow(const OpCell& cell) const noexcept {
    const RailTraits& traits = rails_.traits();
    if (!tuning_.keeps_order) return true;
    return cell.what.nbytes <= longest_whole_ && traits.message_after_write && traits.inject >= sizeof(SignalMessage);
  }

  /// Should it find no room now, it goes when the data is there.
  void follow_with_signal(OpCell& cell) noexcept {
    const int pe = cell.what.pe;
    const size_t r = tuning_.keeps_order ? cell.rail : rails_.pick(pe);
    if (!outbox_.has_room(pe, cells_) || (request_goes_after_another(pe) && request_rail(pe) != r)) return;
    post_signal(cell, r);
  }

  bool post_signal(OpCell& cell, size_t r) noexcept {
    cell.sequence = outbox_.next(cell.what.pe);
    const SignalMessage message = letterhead_.signal(cell.signal(), cell);
    const std::byte* bytes = bytes_of(message);
    OpCell* carrier = nullptr;
    if (sizeof message > rails_.traits().inject) {
      carrier = &cell;
      bytes = static_cast<std::byte*>(std::memcpy(cells_.buffer(cell), &message, sizeof message));
    }
    const Post posted = send(r, {cell.what.pe, Port::proxy}, bytes, sizeof message, carrier, cell.what);
    if (posted != Post::ok) return posted == Post::failed;  // then given up with everything else
    cell.then = Then::nothing;
    outbox_.add(cells_, cell);
    rails_.expect(cell.rail);
    return true;
  }

  /// All data of `cell` is in the target's memory: its signal may go, over any rail.
  void post_or_queue_signal(OpCell& cell) noexcept {
    if (!waiting_.empty() || !post_deferred_signal(cell)) waiting_.push(cells_, cell);
  }
  bool post_deferred_signal(OpCell& cell) noexcept {
    if (!outbox_.has_room(cell.what.pe, cells_)) return false;
    cell.rail = static_cast<uint8_t>(request_rail(cell.what.pe));
    return post_signal(cell, cell.rail);
  }

  bool flush_signals() noexcept {
    bool moved = false;
    while (!waiting_.empty()) {
      OpCell& cell = waiting_.pop(cells_);  // before the post, which links the cell elsewhere
      if (!post_deferred_signal(cell)) {
        waiting_.push_front(cell);
        break;
      }
      moved = true;
    }
    return moved;
  }

  // ---- failures ----------------------------------------------------------------------------------------------------

  /// A post was refused for good.
  void refuse(const Operation& what, size_t r) noexcept {
    if (!leaving()) die_failed(what, rails_[r].name(), rails_[r].last_error());
    abandon();
  }

  void failed(const RailEvent& event, size_t r) noexcept {
    if (leaving()) {
      abandon();
      return;
    }
    if (event.slot != nullptr) die_failed(static_cast<OpCell&>(*event.slot).what, rails_[r].name(), event.error);
    die_rail_failed(rails_[r].name(), event.error, describe_outstanding());
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
      cells_.give(cell);
    }
    lasting_ = 0;
    scopes_.clear_all();
    waiting_ = {};
    held_.forget();
    bulks_.clear();
    outbox_.clear();
  }

  RailSet<R> rails_;
  const Letterhead letterhead_;
  const Tuning tuning_;
  CellPool cells_;
  const size_t max_message_;
  const size_t longest_whole_;  ///< longer operations go in pieces
  Scopes scopes_;
  Outbox outbox_;
  BulkQueue bulks_;
  size_t lasting_ = 0;  ///< open cells marked so
  uint32_t turn_ = 0;
  CellList waiting_;  ///< signals that found no room
  HeldWrite held_;    ///< the last write of a batch
  bool abandoned_ = false;
  std::atomic<bool> leaving_{false};  ///< relaxed: set once by prepare_stop(); a late reader only dies for nothing
};

}  // namespace railshmem
