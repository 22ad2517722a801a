// SPDX-License-Identifier: BSD-3-Clause
// The host endpoints: every data-path call of the network, and how a call waits.
#pragma once

#include <algorithm>
#include <atomic>

#include "src/base/cpu.h"
#include "src/base/limit.h"
#include "src/base/log.h"
#include "src/observe/observer.h"
#include "src/plugin/network.h"
#include "src/proxy/port_lock.h"
#include "src/proxy/proxy_side.h"
#include "src/proxy/sleeper.h"
#include "src/proxy/source/initiator.h"
#include "src/proxy/source/peer_doorbell.h"
#include "src/proxy/wait_turns.h"

namespace railshmem {

struct HostConfig {
  HostThreads threads;
  bool oversubscribed;
  double timeout_s;
  observe::Observer* observer = nullptr;  ///< counts what is posted; null: nobody counts
  bool checks_data = false;               ///< data travels in messages
  uint64_t spare_word = 0;                ///< offset of a word in every heap that nobody reads
};

template <Rail R>
class HostSide {
 public:
  HostSide(std::span<R> rails, const InitiatorConfig& initiator, const HostConfig& config, ProxySide<R>& proxy,
           Sleeper& sleeper)
      : config_(config),
        timeout_ns_(limit_ns(config.timeout_s)),
        port_(config.threads),
        initiator_(rails, initiator),
        proxy_(proxy),
        sleeper_(sleeper),
        peer_doorbell_(initiator_, !proxy.traffic_wakes()) {}

  NetContext* make_context() {
    const Entry entry(*this);
    return &initiator_.add_context();
  }
  void drop_context(NetContext& context) noexcept {
    quiet(context);
    const Entry entry(*this);
    initiator_.drop_context(context);
  }

  /// Does what net_issue() promises. Uses `op` up.
  void issue(Op& op) noexcept {
    Entry entry(*this);
    initiator_.choose_route(op);
    if (config_.checks_data && (op.route == Route::whole || op.route == Route::pieces) && op.puts()) [[unlikely]]
      return issue_in_messages(op);
    bool done = false;
    const bool waits = op.use == Local::awaited && !settles_at_once(op);
    if (waits) op.outcome.done = &done;
    if (op.route == Route::whole && op.context->session.batches && op.kind == OpKind::put && op.nbytes <= kMaxMessage &&
        !op.is_direct) [[unlikely]]
      op.route = Route::held;
    wait_for_quiets(*op.context);
    peer_doorbell_.ring(op.remote.pe);
    Post posted = initiator_.issue(op, op.context->fences);
    if (posted == Post::again || posted == Post::behind) [[unlikely]]
      posted = insist(op, posted);
    if (config_.observer) [[unlikely]]
      config_.observer->count(observe::Engine::posted, 1);
    if (op.route == Route::held) count_announced(*op.context);
    if (waits && posted == Post::ok) watch(entry, {op.kind, op.remote.pe, op.nbytes}, [&] { return is_told(done); });
  }

  void flag(Remote to, uint64_t value) noexcept {
    const Entry entry(*this);
    insist(flag_op(to, value), Post::again);
  }

  /// Orders the context's puts, AMOs and signals at each target: all earlier ones are in the target's memory before any
  /// later one. fence() itself does not wait. Where the rail keeps no order, a later operation waits for the earlier
  /// ones to its own target (Initiator::in_order). Gets are not ordered by fence. net_flag() belongs to no context; its
  /// users call quiet.
  void fence(NetContext& context) noexcept {
    if (context.pending() == 0) return;
    const Entry entry(*this);
    ++context.fences;
  }

  void quiet(NetContext& context) noexcept {
    if (context.pending() == 0) return;
    Entry entry(*this);
    Drain drain(context);
    watch(entry, {OpKind::quiet, -1, 0}, [&] {
      drain.turn();
      return context.pending() == 0;
    });
  }

  /// Completes the context's operations that target `pe`.
  void quiet(NetContext& context, int pe) noexcept {
    const PeerCounts& peer = context.peer(pe);
    if (peer.pending() == 0) return;
    Entry entry(*this);
    Drain drain(context);
    watch(entry, {OpKind::quiet, pe, 0}, [&] {
      drain.turn();
      return peer.pending() == 0;
    });
  }

  /// Runs `body`, which may throw, while no other thread uses the rails.
  template <class Body>
  void alone(Body&& body) {
    const Entry entry(*this);
    body();
  }

  /// `total_ops` may be null.
  void session_start(NetContext& context, bool batch, const size_t* total_ops) noexcept {
    const Entry entry(*this);
    context.session.batches |= batch;
    if (total_ops != nullptr) context.session.ops_left = *total_ops;
  }
  void session_stop(NetContext& context) noexcept {
    const Entry entry(*this);
    context.session = {};
    wait({OpKind::put, -1, 0}, [&] { return initiator_.release_held(); });
  }

  /// One step by a thread that waits for memory to change.
  bool progress() noexcept {
    // Peers' updates, for which the thread waits, come to the proxy endpoint. A stream of requests there must not keep
    // the host endpoint waiting.
    thread_local uint32_t t_turn = 0;
    const bool helped = proxy_.try_step(ProxySide<R>::Stepper::waiting_host);
    if ((helped && ++t_turn % 8 != 0) || pending() == 0 || !port_.try_enter_idle()) return helped;
    const bool moved = poll();
    leave();
    return helped || moved;
  }

  // ---- for the proxy thread ----------------------------------------------------------------------------------------

  /// Number of operations that complete only by polling this endpoint.
  uint64_t pending() const noexcept {
    return pending_.load(std::memory_order_relaxed) + initiator_.failover().has_news();
  }
  /// Whether some pending operations go on only if somebody polls.
  bool urgent() const noexcept { return urgent_.load(std::memory_order_relaxed); }
  /// True when something moved; false also when a host thread is inside.
  bool poll_as_proxy() noexcept {
    if (!port_.try_enter()) return false;
    const bool moved = poll();
    publish();
    port_.leave_proxy();
    return moved;
  }
  PortLock& port() noexcept { return port_; }
  RailSet<R>& rails() noexcept { return initiator_.rails(); }
  void ignore_failures() noexcept { initiator_.ignore_failures(); }
  /// Whether operations were under way.
  bool forget_all() noexcept {
    const Entry entry(*this);
    const bool were_under_way = initiator_.outstanding() > 0;
    initiator_.forget_all();
    return were_under_way;
  }
  /// Lets no thread use the rails any more: see PortLock::close().
  void close() noexcept { port_.close(); }

 private:
  class Entry {
   public:
    explicit Entry(HostSide& side) noexcept : side_(side) {
      side_.port_.enter();
      side_.initiator_.failover().receive_news();
    }
    ~Entry() {
      if (inside_) side_.leave();
    }
    Entry(const Entry&) = delete;

    bool inside() const noexcept { return inside_; }
    void leave() noexcept {
      side_.leave();
      inside_ = false;
    }
    void try_return() noexcept { inside_ = side_.port_.try_enter_idle(); }

   private:
    HostSide& side_;
    bool inside_ = true;
  };

  void leave() noexcept {
    publish();
    wake_proxy();
    port_.leave();
  }

  /// relaxed: hints for the proxy thread; the state itself is guarded by the port.
  void publish() noexcept {
    pending_.store(initiator_.outstanding(), std::memory_order_relaxed);
    urgent_.store(initiator_.needs_polling(), std::memory_order_relaxed);
  }

  /// Wakes a sleeping proxy thread: operations posted now may go on only if somebody polls.
  void wake_proxy() noexcept {
    if (!initiator_.needs_polling()) return;
    port_.fence().light();  // pairs with heavy() in ProxyLoop::rest()
    if (sleeper_.asleep()) [[unlikely]] {
      sleeper_.retract();
      sleeper_.wake();
    }
  }

  bool poll() noexcept {
    const bool moved = initiator_.poll([this](size_t r, const std::byte* bytes, size_t nbytes) {
      initiator_.refuse(r, Flaw::kind, bytes, nbytes);  // requests go to proxy endpoints
    });
    // relaxed: a sign of life for threads that wait outside; one writer at a time.
    if (moved) moves_.store(moves() + 1, std::memory_order_relaxed);
    return moved;
  }

  /// Whether the caller has the memory at `op.local` back once a rail has taken the operation. A short source is copied
  /// for this.
  bool settles_at_once(Op& op) const noexcept {
    if (op.kind == OpKind::signal) return true;
    if (op.kind == OpKind::amo) return !amo_fetches(op.detail.amo.op);
    if (op.route == Route::staged || op.kind == OpKind::get || op.local_is_far) return false;
    const bool short_enough =
        op.nbytes <= kMaxMessage || (op.kind == OpKind::put && op.nbytes <= initiator_.longest_copied());
    if (short_enough) op.use = Local::copied;
    return short_enough;
  }

  /// A put as messages: each is a put_signal, whose signal adds nothing to a spare word unless it is the caller's. The
  /// caller has the source back at once.
  [[gnu::noinline]] void issue_in_messages(const Op& op) noexcept {
    const size_t most = std::min(initiator_.rails().traits().max_message, kMaxMessage);
    const size_t longest = most - sizeof(PutSignalMessage);
    wait_for_quiets(*op.context);
    for (size_t at = 0; at < op.nbytes; at += longest) {
      Op part = op;
      part.kind = OpKind::put_signal;
      part.route = Route::message;
      part.use = Local::copied;
      part.nbytes = std::min(longest, op.nbytes - at);
      part.local = op.local + at;
      part.remote.offset = op.remote.offset + at;
      const bool signals = op.kind == OpKind::put_signal && at + part.nbytes == op.nbytes;
      if (!signals) part.detail.signal = {SegmentId::heap, config_.spare_word, 0, SignalOp::add};
      if (signals && at > 0) ++op.context->fences;  // behind all of the data
      peer_doorbell_.ring(op.remote.pe);
      const Post posted = initiator_.issue(part, op.context->fences);
      if (posted == Post::again || posted == Post::behind) insist(part, posted);
      if (config_.observer) config_.observer->count(observe::Engine::posted, 1);
    }
  }

  /// Repeats a post for which there was no room, or which a fence held back, until it is accepted.
  [[gnu::noinline]] Post insist(const Op& op, Post posted) noexcept {
    const uint32_t epoch = op.context != nullptr ? op.context->fences : 0;
    uint64_t refusals = 0;
    const Operation fenced{OpKind::fence, op.remote.pe, 0};
    const Operation itself{op.kind, op.remote.pe, op.nbytes};
    const auto accepted = [&] { return posted != Post::again && posted != Post::behind; };
    const auto attempt = [&] {
      refusals += posted == Post::again;
      peer_doorbell_.ring(op.remote.pe);
      posted = initiator_.issue(op, epoch);
      return accepted();
    };
    if (posted == Post::behind) wait(fenced, [&] { return attempt() || posted == Post::again; });
    if (!accepted()) wait(itself, attempt);
    if (config_.observer) config_.observer->count(observe::Engine::again, refusals);
    return posted;
  }

  /// One of the operations that a session announced is issued; the last one leaves at once.
  void count_announced(NetContext& context) noexcept {
    if (context.session.ops_left != SIZE_MAX && context.session.ops_left > 0 && --context.session.ops_left == 0)
      initiator_.release_held();  // no room: the next poll tries again
  }

  /// Waits until `done`, which needs no endpoint to look at. One waiting thread polls the endpoint, the others look on.
  /// All of them leave the endpoint to threads that want to post, so that a long wait of one context does not hold up
  /// operations of another.
  template <class Done>
  void watch(Entry& entry, const Operation& what, Done&& done) noexcept {
    WaitTurns turns(timeout_ns_, config_.oversubscribed);
    while (!done()) {
      if (entry.inside()) {
        poll();
        if (done()) return;
      } else {
        if (port_.closed()) [[unlikely]]
          die_too_late(&what);
        cpu_pause();
      }
      const Turn turn = turns.turn(moves());
      if (turn == Turn::help && entry.inside()) proxy_.try_step(ProxySide<R>::Stepper::waiting_host);
      if (turn == Turn::give_up) {
        if (!entry.inside()) port_.enter();  // what is outstanding is read inside
        give_up(what);
      }
      if (!entry.inside()) {
        entry.try_return();
      } else if (port_.wanted()) {
        entry.leave();
      }
    }
  }

  /// Waits until `done`, which needs the endpoint: for room for a post, for example. The caller is inside before and
  /// after. Polls this endpoint every turn and the proxy endpoint now and then, because the peer may be waiting for
  /// this PE in the meantime.
  template <class Done>
  void wait(const Operation& what, Done&& done) noexcept {
    if (done()) return;
    WaitTurns turns(timeout_ns_, config_.oversubscribed);
    for (;;) {
      poll();
      if (done()) return;
      const Turn turn = turns.turn(moves());
      if (turn == Turn::help) proxy_.try_step(ProxySide<R>::Stepper::waiting_host);
      if (turn == Turn::give_up) give_up(what);
      port_.pass();
    }
  }

  [[noreturn]] void give_up(const Operation& what) noexcept {
    die_without_progress(what, initiator_.name(), config_.timeout_s, initiator_.describe_outstanding());
  }
  uint64_t moves() const noexcept { return moves_.load(std::memory_order_relaxed); }

  /// Waits while a quiet of the context waits for all its operations.
  [[gnu::always_inline]] void wait_for_quiets(NetContext& context) noexcept {
    const auto free = [&] { return context.draining.load(std::memory_order_relaxed) == 0; };
    if (!free()) [[unlikely]]
      wait({OpKind::quiet, -1, 0}, free);
  }

  const HostConfig config_;
  const uint64_t timeout_ns_;
  PortLock port_;
  Initiator<R> initiator_;
  ProxySide<R>& proxy_;
  Sleeper& sleeper_;
  PeerDoorbell<R> peer_doorbell_;
  std::atomic<uint64_t> moves_{0};  ///< polls that moved something, by any thread
  std::atomic<uint64_t> pending_{0};
  std::atomic<bool> urgent_{false};
};

}  // namespace railshmem
