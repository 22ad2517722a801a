// SPDX-License-Identifier: BSD-3-Clause
// The source's side of every operation: posts on the rails of one port, reaps their events, accounts to contexts.
//
// One thread at a time (the caller holds the endpoint). Every post either takes effect as a whole, or returns `again`
// and leaves the caller all that it needs to repeat the post. Nothing here waits.
#pragma once

#include <array>
#include <cassert>
#include <optional>
#include <string>
#include <utility>

#include "src/base/error.h"
#include "src/base/log.h"
#include "src/plugin/network.h"
#include "src/plugin/rail.h"
#include "src/proxy/failover/failover.h"
#include "src/proxy/post/message_check.h"
#include "src/proxy/post/net_contexts.h"
#include "src/proxy/post/operation_table.h"
#include "src/proxy/post/requests.h"
#include "src/proxy/post/transfers.h"
#include "src/proxy/source/peer_failure_handler.h"
#include "src/proxy/staging/staged_transfers.h"

namespace railshmem {

template <Rail R>
class Initiator {
 public:
  Initiator(std::span<R> rails, const InitiatorConfig& config)
      : table_(rails, config),
        requests_(table_, config.npes),
        transfers_(table_, requests_, table_.longest_message() - sizeof(MessageHeader)),
        failover_(table_, requests_, config.keeper, config.news),
        peer_failures_(table_, requests_, config.npes),
        rules_{config.nonce, static_cast<uint32_t>(config.npes), static_cast<uint32_t>(config.ports),
               table_.longest_message()},
        contexts_(config.npes) {
    if (config.staging != nullptr) staged_.emplace(table_, requests_, *config.staging, rules_.max_message);
  }
  Initiator(const Initiator&) = delete;  // cells point to its contexts

  NetContext& add_context() { return contexts_.add(); }
  /// The context must be quiet.
  void drop_context(const NetContext& context) noexcept { contexts_.drop(context); }

  // ---- posts -------------------------------------------------------------------------------------------------------

  /// Chooses how an operation travels, which its kind, its length and the place of its memory decide. issue() does so
  /// for a route that is open.
  void choose_route(Op& op) const noexcept {
    op.route = Route::message;
    if (op.kind != OpKind::get && !op.puts()) return;
    if (staged_ && !op.is_direct && staged_->concerns(op)) [[unlikely]] {
      if (!staged_->avoids_staging(op)) op.route = Route::staged;
      if (!op.is_direct) return;
    }
    if (op.kind == OpKind::put_signal && !op.is_direct && travels_inline(op.nbytes)) return;
    op.route = transfers_.goes_whole(op.kind, op.nbytes) && !op.across_pieces ? Route::whole : Route::pieces;
  }

  /// Whether an operation behind fence number `epoch` of its context may be issued now without passing operations
  /// before that fence; its route is chosen. Rails keep no order among each other, so the operation waits for all
  /// earlier ones to this PE that are still pending. A single rail that keeps order needs no wait. Gets are not ordered
  /// by fence.
  bool in_order(const Op& op, uint32_t epoch) noexcept {
    if (op.context == nullptr || op.kind == OpKind::get) return true;
    PeerCounts& peer = op.context->peer(op.remote.pe);
    if (peer.epoch == epoch) return true;
    if (peer.ordered() > 0 && table_.tuning.keeps_order && !table_.abandoned()) {
      const RailTraits& traits = table_.rails().traits();
      if (!table_.rails().single() || peer.messages > 0) return false;
      const bool begins_with_message = op.route == Route::message || op.route == Route::staged;
      if (!(begins_with_message ? traits.message_after_write : traits.write_after_write)) return false;
      if (!traits.write_after_write) return true;  // the epoch stays: the next put must still wait
    }
    peer.epoch = epoch;
    return true;
  }

  /// Issues an operation: posts it, or takes over a long one. Its context waits for it from now on. On `again` and
  /// `behind` nothing happened. `behind`: the operation would pass operations before fence number `epoch` of its
  /// context, and must wait for those to its PE. Returns `failed` only while leaving: the operation is over, and its
  /// outcome was not told.
  /// kMayGo: the operation goes as one write or read, and was looked at already.
  template <bool kMayGo = false>
  [[gnu::always_inline]] Post issue(Op op, uint32_t epoch) noexcept {
    if constexpr (!kMayGo) {
      if (!is_plain_put(op, epoch)) [[unlikely]] {
        Op other = op;  // others know its address; `op` may stay in registers
        if (const std::optional<Post> done = issue_other(other, epoch)) return *done;
        op.remote = other.remote;
      }
      if (op.kind != OpKind::put) __builtin_unreachable();  // issue_other() issues all others
    }
    // One write or read, over the first rail that takes it.
    const bool signals = op.kind == OpKind::put_signal;
    const int pe = op.remote.pe;
    if (signals && !requests_.may_send(pe)) return Post::again;
    OpCell* const cell = table_.hold(op);
    if (cell == nullptr) [[unlikely]]
      return Post::again;
    auto [r, left] = table_.candidates(*cell, signals ? requests_.rail_for(pe) : table_.rails().pick(pe));
    Post posted = Post::again;
    for (; left != 0; r = table_.rails().after(r, left)) {
      R& rail = table_.rails()[r];
      if (op.kind == OpKind::put)
        posted = table_.template posted<Event::post_whole>(*cell, r, rail.write(cell->write(false)));
      else
        posted =
            table_.posted(*cell, r, op.kind == OpKind::get ? rail.read(cell->read()) : rail.write(cell->write(false)));
      if (posted != Post::again) [[likely]]
        break;
      left &= ~(RailMask{1} << r);
    }
    if (posted != Post::ok) [[unlikely]] {
      table_.cells().give(*cell);
      return posted;
    }
    if (cell->is_word) table_.words().posted(pe, r);
    table_.count_in(*cell, {op.kind, op.remote.pe, op.nbytes}, op.context, op.outcome);
    if (signals || op.nbytes > kMaxMessage) [[unlikely]]
      table_.make_lasting(*cell);
    if (signals) {
      cell->owes_signal(op.detail.signal);
      requests_.follow_with_signal(*cell);
    }
    return Post::ok;
  }
  Post issue(const Op& op) noexcept { return issue(op, op.context->fences); }

  /// Posts the coalesced write. False when the rail has no room for it; true also when no write is held.
  bool release_held() noexcept { return transfers_.release_held(); }

  /// Sends a flag, for which no context waits.
  Post flag(Remote to, uint64_t value) noexcept {
    Op op = flag_op(to, value);
    return *issue_other(op, 0);  // a flag is a message
  }

  /// Sends a message that nobody answers or waits for: the responder's acknowledgements and replies. It takes rail `r`
  /// where that rail has room.
  Post answer(size_t r, Endpoint to, const std::byte* bytes, size_t nbytes) noexcept {
    if (table_.abandoned()) return Post::failed;
    return send_answer(table_.rails().after(r, table_.rails().usable(to.pe)), to, bytes, nbytes);
  }
  /// Sends a pong over rail `r` and no other: the peer wants to know whether this rail lives.
  void pong(size_t r, Endpoint to, const MessageHeader& header) noexcept {
    if (!table_.abandoned()) send_answer(r, to, reinterpret_cast<const std::byte*>(&header), sizeof header);
  }

  /// Drops a request.
  void refuse(size_t r, Flaw flaw, const std::byte* bytes, size_t nbytes) noexcept {
    table_.refuse(r, flaw, bytes, nbytes);
  }

  /// Peers' news: has_news(), receive_news(), notify_news(). poll() hears the news too.
  Failover<R>& failover() noexcept { return failover_; }
  const Failover<R>& failover() const noexcept { return failover_; }

  // ---- for Flusher -------------------------------------------------------------------------------------------------

  /// Writes or reads 8 bytes of this PE's own memory over rail `r` and no other. `done` hears of the end; it may be
  /// null.
  Post loop_back(size_t r, bool writes, const Remote& place, std::byte* local, bool* done) noexcept {
    return table_.abandoned() ? Post::failed : table_.loop_back(r, writes, place, local, done);
  }
  /// Rails that failed an access of loop_back() since the last call.
  RailMask take_lost_flushes() noexcept { return table_.take_lost_flushes(); }
  /// How long a rail that does not reach this PE itself may stay silent before it is closed.
  uint64_t patience_ns(size_t r) const noexcept { return failover_.patience_ns(r); }
  /// Closes rail `r`: nothing comes over it until it was opened anew. Then paths.unproven() names it.
  void close_rail(size_t r) noexcept { failover_.close(r); }
  bool abandoned() const noexcept { return table_.abandoned(); }
  /// Whether `pe` has died while this PE goes on: nothing comes from there or arrives there any more.
  bool is_gone(int pe) const noexcept { return table_.gone().has(pe); }
  /// Cold.
  bool flushes_in_flight() const noexcept {
    for (uint32_t i = 0; i < table_.cells().size(); ++i)
      if (table_.cells()[i].what.kind == OpKind::flush) return true;
    return false;
  }
  const Tuning& tuning() const noexcept { return table_.tuning; }

  // ---- progress ----------------------------------------------------------------------------------------------------

  /// Reaps a batch of events per rail. Posts the coalesced write, pieces of long operations and signals whose data has
  /// arrived. Requests of peers that have passed check_message() go to `on_request(rail, bytes, nbytes)`. True when
  /// something moved.
  template <class OnRequest>
  bool poll(OnRequest&& on_request) noexcept {
    failover_.receive_news();
    transfers_.release_held();  // if there is no room now, the next poll tries again
    bool moved = false;
    const bool all = table_.headers.port == Port::proxy || failover_.active() || ++turn_ % kTurnsPerIdleRail == 0;
    for (size_t r = 0; r < table_.rails().size(); ++r)
      if (all || table_.rails().single() || table_.rails().waits_for(r)) moved |= poll_rail(r, on_request);
    if (table_.abandoned()) [[unlikely]]
      abandon();
    else if (table_.lost != nullptr)
      peer_failures_.step(
          failover_, [this](OpCell& cell) { end_flight(cell); }, [this](OpCell& cell) { answered(cell); });
    if (transfers_.has_bulks()) moved |= push_bulks();
    if (staged_) [[unlikely]]
      moved |= move_staged();
    if (!table_.rails().single() && !table_.abandoned())
      failover_.step([this](OpCell& cell) { finish_part(cell); }, [this](OpCell& cell) { answered(cell); });
    return requests_.flush_signals() || moved;
  }

  /// The peers are leaving: from now on failures count as completions.
  void ignore_failures() noexcept { table_.leave(); }

  /// Drops all operations, after the job's last barrier: nobody needs them, and their answers may never come.
  void forget_all() noexcept {
    table_.abandon();
    abandon();
  }

  /// Cells in flight, those of unanswered requests included. 0: nothing needs this endpoint polled.
  size_t outstanding() const noexcept { return table_.cells().in_use() + failover_.active(); }
  /// Whether something goes on only if somebody polls: a long transfer, a signal behind its data, a coalesced write.
  bool needs_polling() const noexcept { return table_.needs_polling() || transfers_.holds() || failover_.active(); }

  RailSet<R>& rails() noexcept { return table_.rails(); }
  size_t longest_copied() const noexcept { return table_.longest_copied(); }
  std::string name() const { return table_.rails().name(); }
  int pe() const noexcept { return table_.headers.pe; }
  size_t ports() const noexcept { return rules_.ports; }
  const HeaderBuilder& headers() const noexcept { return table_.headers; }

  /// "5 atomics or signals unanswered, 2 of them by PE 3, 7 operations in flight, one of them ..."; cold.
  std::string describe_outstanding() const {
    std::string line = requests_.outbox().describe(table_.cells());
    if (const Operation one = table_.cells().any_in_flight(); one.kind != OpKind::none)
      line += text("%s%zu operations in flight, one of them a %s", line.empty() ? "" : ", ", table_.cells().in_use(),
                   describe(one).c_str());
    if (log_enabled(LogLevel::debug)) {
      table_.log_cells();
      log_debug("%s", transfers_.describe_bulks().c_str());
    }
    return line;
  }

 private:
  static constexpr size_t kEventBatch = 16;          // enough to amortise a CQ read, small enough to stay in L1
  static constexpr size_t kBatchesPerTurn = 4;       // more than a channel posts in a turn, so few cells are in use
  static constexpr uint32_t kTurnsPerIdleRail = 16;  // a look at a rail where nothing is expected costs a system call

  /// A put_signal of this size is one message; a longer one is writes and then a message.
  bool travels_inline(size_t nbytes) const noexcept {
    return nbytes <= table_.tuning.max_inline && nbytes + sizeof(PutSignalMessage) <= rules_.max_message;
  }
  /// Whether nothing but the post is to be done for an operation.
  [[gnu::always_inline]] bool is_plain_put(const Op& op, uint32_t epoch) noexcept {
    if (op.kind != OpKind::put || op.route > Route::whole) return false;
    // One branch for all: none of them is ever taken in a stream of puts.
    const bool special = staged_.has_value() | table_.abandoned() | table_.gone().any() | transfers_.holds() |
                         !transfers_.goes_whole(OpKind::put, op.nbytes) |
                         (op.context->peer(op.remote.pe).epoch != epoch);
    return !special;
  }

  /// Chooses the route and looks whether the operation may go now. Issues it, unless it is a put that may go as one
  /// write: then nothing is returned, and op.remote is the place as rails know it.
  [[gnu::noinline]] std::optional<Post> issue_other(Op& op, uint32_t epoch) noexcept {
    if (table_.abandoned() || table_.gone().has(op.remote.pe)) return Post::failed;
    if (op.kind == OpKind::flag && table_.gone().swallows(op.remote.pe)) return Post::failed;  // a doorbell message
    if (op.route == Route::open) choose_route(op);
    if (!in_order(op, epoch)) return Post::behind;
    if (op.route == Route::held) return transfers_.hold(op);
    if (!transfers_.release_held()) return Post::again;
    if (table_.abandoned()) return Post::failed;  // with the coalesced write
    switch (op.route) {
      case Route::whole:
        if (table_.gone().swallows(op.remote.pe)) return peer_failures_.issue(op);
        if (op.kind == OpKind::put) return std::nullopt;
        return issue<true>(op, epoch);
      case Route::pieces:
        return issue_pieces(op);
      case Route::message:
        return requests_.issue(op);
      default:
        break;
    }
    const Post posted = staged_->issue(op);
    if (posted == Post::ok) move_staged();
    return posted;
  }

  Post issue_pieces(const Op& op) noexcept {
    const bool signals = op.kind == OpKind::put_signal;
    if (signals && !requests_.may_send(op.remote.pe)) return Post::again;
    OpCell* const cell = transfers_.issue(op);
    if (cell == nullptr) return Post::again;
    if (signals) cell->owes_signal(op.detail.signal);
    push_bulks();
    if (signals && !table_.tuning.keeps_order && !table_.abandoned()) requests_.follow_with_signal(*cell);
    return Post::ok;  // also when everything was given up: the next poll tells the outcome
  }

  bool push_bulks() noexcept {
    return transfers_.push([this](OpCell& whole) { finish_part(whole); });  // the hold of open()
  }

  bool move_staged() noexcept {
    return staged_->step([this](OpCell& cell) { finish_part(cell); });
  }

  Post send_answer(size_t r, Endpoint to, const std::byte* bytes, size_t nbytes) noexcept {
    if (!table_.rails().paths.is_open(r)) return Post::again;
    const Operation what{OpKind::answer, to.pe, nbytes};
    OpCell* carrier = nullptr;
    if (nbytes > table_.rails().traits().inject) {
      if ((carrier = table_.cells().take(what)) == nullptr) return Post::again;
      bytes = static_cast<std::byte*>(std::memcpy(table_.cells().buffer(*carrier), bytes, nbytes));
      carrier->rail = static_cast<uint8_t>(r);
    }
    const Post posted = table_.send(r, to, bytes, nbytes, carrier, what);
    if (posted == Post::again && carrier != nullptr) table_.cells().give(*carrier);
    return posted;
  }

  // ---- events ------------------------------------------------------------------------------------------------------

  /// Reaps the events of a rail. True when something came.
  template <class OnRequest>
  bool poll_rail(size_t r, OnRequest&& on_request) noexcept {
    size_t n = poll_batch(r, on_request);
    if (n == 0) return false;
    for (size_t more = 1; n == kEventBatch && more < kBatchesPerTurn; ++more) n = poll_batch(r, on_request);
    return true;
  }
  /// Reaps one batch of events. Returns how many came.
  template <class OnRequest>
  size_t poll_batch(size_t r, OnRequest&& on_request) noexcept {
    std::array<RailEvent, kEventBatch> events;
    const size_t n = table_.rails()[r].poll(events);
    for (size_t i = 0; i < n; ++i) {
      const RailEvent& event = events[i];
      switch (event.kind) {
        [[likely]] case RailEvent::Kind::completed : completed(event.slot, r);
        break;
        case RailEvent::Kind::failed:
          failed(event, r);
          break;
        case RailEvent::Kind::message:
          if (table_.tuning.checks_data) events[i].nbytes = table_.open_seal(r, event.bytes, event.nbytes);
          take_message(event, r, on_request);
          table_.rails()[r].release(event);
          break;
      }
    }
    return n;
  }

  [[gnu::always_inline]] void completed(OpSlot* slot, size_t r) noexcept {
    if (slot == nullptr || table_.abandoned()) return;
    OpCell& part = static_cast<OpCell&>(*slot);
    assert(part.rail == r && "a rail tells an event of another rail");
    table_.rails().came(r);
    if (part.state.is_whole()) [[likely]] {
      table_.rails().paths.moved(r, part.what.pe);
      table_.end(part, {OpKind::put, part.what.pe, part.what.nbytes});
    } else {
      part_completed(part);
    }
  }
  /// The event of a cell for which the rail will tell none, as its peer is gone.
  void end_flight(OpCell& part) noexcept {
    if (part.state.is_whole()) return table_.end(part);
    part.state.data_is_lost() ? part.state.on<Event::drop_data>() : part.state.on<Event::arrive>();
    end_part(part);
  }
  [[gnu::noinline]] void part_completed(OpCell& part) noexcept {
    if (peer_failures_.is_late(part)) return;
    part.state.on<Event::arrive>();
    end_part(part);
  }
  void end_part(OpCell& part) noexcept {
    if (!part.is_message()) table_.rails().paths.moved(part.rail, part.what.pe);
    if (part.parent == kNoCell || part.what.kind == OpKind::staged_piece)
      return finish_part(part);  // for a staged piece this ends only its request
    OpCell& whole = table_.cells()[part.parent];
    table_.rails().long_completed(part.rail, part.what.nbytes);
    table_.give(part);
    finish_part(whole);
  }

  /// Counts one event of the operation. The last event ends the operation, or the data's part of it.
  void finish_part(OpCell& cell) noexcept {
    if (--cell.parts_left > 0) return;
    if (cell.what.kind == OpKind::put)
      table_.end(cell);
    else
      finish_data(cell);
  }
  [[gnu::noinline]] void finish_data(OpCell& cell) noexcept {
    if (cell.what.kind == OpKind::get && staged_) [[unlikely]]
      staged_->got(cell);
    if (cell.what.kind == OpKind::put_signal) {
      notify(cell.outcome.done);  // the source is free
      cell.outcome.done = nullptr;
    }
    if (cell.state.has_no_request()) return end(cell);
    if (cell.state.owes_signal()) requests_.signal_when_possible(cell);  // else the answer ends the operation
  }

  void end(OpCell& cell) noexcept {
    if (cell.what.kind == OpKind::staged_piece) [[unlikely]]
      staged_->answered(cell, [this](OpCell& whole) { finish_part(whole); });
    else
      table_.end(cell);
  }
  template <class OnRequest>
  void take_message(const RailEvent& event, size_t r, OnRequest&& on_request) noexcept {
    Flaw flaw = check_message(rules_, event.bytes, event.nbytes);
    if (flaw == Flaw::none) [[likely]] {
      if (is_request(read_header(event.bytes).kind)) return on_request(r, event.bytes, event.nbytes);
      flaw = take_answer(event, r);
    }
    if (flaw != Flaw::none) [[unlikely]]
      refuse(r, flaw, event.bytes, event.nbytes);
  }
  Flaw take_answer(const RailEvent& event, size_t r) noexcept {
    if (table_.abandoned()) return Flaw::none;
    const auto header = read_message<MessageHeader>(event.bytes);
    table_.rails().paths.moved(r, header.pe);
    if (header.kind == MessageKind::pong) return Flaw::none;
    if (header.kind != MessageKind::account)
      return requests_.take_answer(event, [this](OpCell& cell) { answered(cell); });
    return failover_.account(read_message<AccountMessage>(event.bytes));
  }

  void answered(OpCell& cell) noexcept {
    if (cell.parent != kNoCell && cell.what.kind == OpKind::get) {
      OpCell& whole = table_.cells()[cell.parent];
      table_.give(cell);
      finish_part(whole);
    } else if (cell.parts_left == 0) {
      end(cell);
    }
  }

  // ---- failures ----------------------------------------------------------------------------------------------------

  void failed(const RailEvent& event, size_t r) noexcept {
    if (table_.leaving()) {
      table_.abandon();  // settled at the end of the poll
      return;
    }
    if (event.slot == nullptr) {
      // Most likely a message that was copied. With several rails, the operation that waits for its answer finds out.
      if (table_.doubts({OpKind::none, -1, 0}, r, event.error)) return;
      if (table_.rails().single()) die_rail_failed(table_.rails()[r].name(), event.error, describe_outstanding());
      log_debug("rail %s: error %d of an operation without a name", table_.rails()[r].name().c_str(), event.error);
      return;
    }
    OpCell& part = static_cast<OpCell&>(*event.slot);
    if (table_.gone().has(part.what.pe)) return completed(event.slot, r);
    if (table_.doubts(part.what, r, event.error)) return peer_failures_.doubt(part, r);
    if (!table_.rails().lose(r, part.what.pe, part.what.kind != OpKind::answer))
      die_failed(part.what, table_.rails()[r].name(), event.error);
    failover_.strand(part);
  }

  /// Counts everything as done: after the job's last barrier nobody needs it, and a peer that left cannot answer.
  void abandon() noexcept {
    if (settled_) return;
    settled_ = true;
    table_.drop_all();
    contexts_.clear_all();
    transfers_.forget();
    if (staged_) staged_->forget();
    requests_.forget();
  }

  OperationTable<R> table_;
  Requests<R> requests_;
  Transfers<R> transfers_;
  std::optional<StagedTransfers<R>> staged_;  ///< empty: rails reach all memory
  Failover<R> failover_;
  PeerFailureHandler<R> peer_failures_;
  const MessageRules rules_;
  NetContexts contexts_;
  uint32_t turn_ = 0;
  bool settled_ = false;  ///< abandon() was called
};

}  // namespace railshmem
