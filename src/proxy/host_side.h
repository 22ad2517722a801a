// SPDX-License-Identifier: BSD-3-Clause
// The host endpoints: every data-path call of the network, and how a call waits.
#pragma once

#include <atomic>

#include "src/base/cpu.h"
#include "src/base/limit.h"
#include "src/base/log.h"
#include "src/observe/observer.h"
#include "src/plugin/network.h"
#include "src/proxy/failover/peer_news.h"
#include "src/proxy/patience.h"
#include "src/proxy/port_lock.h"
#include "src/proxy/proxy_side.h"
#include "src/proxy/sleeper.h"
#include "src/proxy/source/initiator.h"
#include "src/proxy/source/nudger.h"

namespace railshmem {

struct HostConfig {
  HostThreads threads;
  bool oversubscribed;
  double timeout_s;
  observe::Observer* observer = nullptr;  ///< counts what is posted; null: nobody counts
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
        news_(initiator.keeper, initiator.port),
        proxy_(proxy),
        sleeper_(sleeper),
        nudger_(initiator_, !proxy.traffic_wakes()) {}

  NetContext* make_context() {
    const Entry entry(*this);
    return &initiator_.add_scope();
  }
  void drop_context(NetContext& scope) noexcept {
    quiet(scope);
    const Entry entry(*this);
    initiator_.drop_scope(scope);
  }

  void put(NetContext& scope, Remote to, const void* source, size_t nbytes) noexcept {
    Entry entry(*this);
    if (initiator_.stages(to, source)) [[unlikely]]
      return stage(entry, scope, {OpKind::put, to, bytes(source), nbytes}, true);
    admit(scope, to.pe, OpKind::put);
    if (scope.session.batches && nbytes <= kMaxMessage) return batch(scope, to, source, nbytes, Source::copied);
    Transfer t{OpKind::put, to, bytes(source), nbytes};
    if (nbytes <= kMaxMessage || nbytes <= initiator_.traits().inject) {
      insist({OpKind::put, to.pe, nbytes}, [&] { return initiator_.transfer(scope, t, Source::copied, {}); });
      return;
    }
    blocking(entry, {OpKind::put, to.pe, nbytes},
             [&](bool* done) { return initiator_.transfer(scope, t, Source::stable, {done}); });
  }

  void put_nbi(NetContext& scope, Remote to, const void* source, size_t nbytes) noexcept {
    Entry entry(*this);
    if (initiator_.stages(to, source)) [[unlikely]]
      return stage(entry, scope, {OpKind::put, to, bytes(source), nbytes}, false);
    admit(scope, to.pe, OpKind::put);
    if (scope.session.batches && nbytes <= kMaxMessage) return batch(scope, to, source, nbytes, Source::stable);
    Transfer t{OpKind::put, to, bytes(source), nbytes};
    insist({OpKind::put, to.pe, nbytes}, [&] { return initiator_.transfer(scope, t, Source::stable, {}); });
  }

  void get(NetContext& scope, Remote from, void* dest, size_t nbytes) noexcept {
    Entry entry(*this);
    if (initiator_.stages(from, dest)) [[unlikely]]
      return stage(entry, scope, {OpKind::get, from, bytes(dest), nbytes}, true);
    admit(scope);
    Transfer t{OpKind::get, from, bytes(dest), nbytes};
    blocking(entry, {OpKind::get, from.pe, nbytes},
             [&](bool* done) { return initiator_.transfer(scope, t, Source::stable, {done}); });
  }

  void get_nbi(NetContext& scope, Remote from, void* dest, size_t nbytes) noexcept {
    Entry entry(*this);
    if (initiator_.stages(from, dest)) [[unlikely]]
      return stage(entry, scope, {OpKind::get, from, bytes(dest), nbytes}, false);
    admit(scope);
    Transfer t{OpKind::get, from, bytes(dest), nbytes};
    insist({OpKind::get, from.pe, nbytes}, [&] { return initiator_.transfer(scope, t, Source::stable, {}); });
  }

  void put_signal(NetContext& scope, Remote to, const void* source, size_t nbytes, const NetSignal& signal) noexcept {
    Entry entry(*this);
    if (nbytes > 0 && initiator_.stages(to, source)) [[unlikely]]
      return stage(entry, scope, {OpKind::put_signal, to, bytes(source), nbytes}, true, &signal);
    admit(scope, to.pe, initiator_.travels_inline(nbytes) ? OpKind::put_signal : OpKind::put);
    Transfer t{OpKind::put_signal, to, bytes(source), nbytes};
    const Source kind = nbytes <= kMaxMessage ? Source::copied : Source::stable;
    const Operation what{OpKind::put_signal, to.pe, nbytes};
    if (kind == Source::copied) {
      insist(what, [&] { return initiator_.put_signal(scope, t, kind, signal, {}); });
    } else {
      blocking(entry, what, [&](bool* done) { return initiator_.put_signal(scope, t, kind, signal, {done}); });
    }
  }

  void put_signal_nbi(NetContext& scope, Remote to, const void* source, size_t nbytes,
                      const NetSignal& signal) noexcept {
    Entry entry(*this);
    if (nbytes > 0 && initiator_.stages(to, source)) [[unlikely]]
      return stage(entry, scope, {OpKind::put_signal, to, bytes(source), nbytes}, false, &signal);
    admit(scope, to.pe, initiator_.travels_inline(nbytes) ? OpKind::put_signal : OpKind::put);
    Transfer t{OpKind::put_signal, to, bytes(source), nbytes};
    insist({OpKind::put_signal, to.pe, nbytes},
           [&] { return initiator_.put_signal(scope, t, Source::stable, signal, {}); });
  }

  uint64_t amo(NetContext& scope, Remote to, const NetAmo& op) noexcept {
    Entry entry(*this);
    admit(scope, to.pe, OpKind::amo);
    const Operation what{OpKind::amo, to.pe, op.width};
    uint64_t old = 0;
    if (amo_fetches(op.op)) {
      blocking(entry, what, [&](bool* done) { return initiator_.amo(scope, to, op, &old, {done}); });
    } else {
      insist(what, [&] { return initiator_.amo(scope, to, op, nullptr, {}); });
    }
    return old;  // a 4-byte value fills the low half: all supported CPUs are little-endian
  }

  void amo_nbi(NetContext& scope, Remote to, const NetAmo& op, void* fetch) noexcept {
    const Entry entry(*this);
    admit(scope, to.pe, OpKind::amo);
    insist({OpKind::amo, to.pe, op.width}, [&] { return initiator_.amo(scope, to, op, fetch, {}); });
  }

  void flag(Remote to, uint64_t value) noexcept {
    const Entry entry(*this);
    insist({OpKind::flag, to.pe, 8}, [&] { return initiator_.flag(to, value); });
  }

  /// Orders the context's puts, AMOs and signals at each target: all earlier ones are in the target's memory before any
  /// later one. fence() itself does not wait. Where the rail keeps no order, a later operation waits for the earlier
  /// ones to its own target (Initiator::in_order). Gets are not ordered by fence. net_flag() belongs to no context; its
  /// users call quiet.
  void fence(NetContext& scope) noexcept {
    if (scope.pending() == 0) return;
    const Entry entry(*this);
    ++scope.fences;
  }

  void quiet(NetContext& scope) noexcept {
    if (scope.pending() == 0) return;
    Entry entry(*this);
    Drain drain(scope);
    watch(entry, {OpKind::quiet, -1, 0}, [&] {
      drain.turn();
      return scope.pending() == 0;
    });
  }

  /// Completes the context's operations that target `pe`.
  void quiet(NetContext& scope, int pe) noexcept {
    const PeerCounts& peer = scope.peer(pe);
    if (peer.pending() == 0) return;
    Entry entry(*this);
    Drain drain(scope);
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
  void session_start(NetContext& scope, bool batch, const size_t* total_ops) noexcept {
    const Entry entry(*this);
    scope.session.batches |= batch;
    if (total_ops != nullptr) scope.session.ops_left = *total_ops;
  }
  void session_stop(NetContext& scope) noexcept {
    const Entry entry(*this);
    scope.session = {};
    wait({OpKind::put, -1, 0}, [&] { return initiator_.release_held(); });
  }

  /// One step by a thread that waits for memory to change.
  bool progress() noexcept {
    // Peers' updates, for which the thread waits, come to the proxy endpoint. A stream of requests there must not keep
    // the host endpoint waiting.
    thread_local uint32_t turn = 0;
    const bool helped = proxy_.help();
    if ((helped && ++turn % 8 != 0) || pending() == 0 || !port_.try_enter_idle()) return helped;
    const bool moved = poll();
    leave();
    return helped || moved;
  }

  // ---- for the proxy thread ----------------------------------------------------------------------------------------

  /// Number of operations that complete only by polling this endpoint.
  uint64_t pending() const noexcept { return pending_.load(std::memory_order_relaxed) + news_.waiting(); }
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
  void forget_all() noexcept {
    const Entry entry(*this);
    initiator_.forget_all();
  }

 private:
  class Entry {
   public:
    explicit Entry(HostSide& side) noexcept : side_(side) {
      side_.port_.enter();
      side_.learn();
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

  /// Learns what happened to peers' rails; called before anything is posted to peers.
  void learn() noexcept { news_.learn(initiator_); }

  static std::byte* bytes(const void* p) noexcept { return static_cast<std::byte*>(const_cast<void*>(p)); }

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
    learn();  // also here: a call may wait for long, for an operation that goes on only with the news
    const bool moved = initiator_.poll([this](size_t r, const std::byte*, size_t nbytes) {
      die("a request of %zu bytes arrived at the host endpoint over %s; do all PEs run the same build?", nbytes,
          initiator_.rails()[r].name().c_str());
    });
    // relaxed: a sign of life for threads that wait outside; one writer at a time.
    if (moved) moves_.store(moves() + 1, std::memory_order_relaxed);
    return moved;
  }

  /// Repeats a post until the rail takes it.
  template <class Attempt>
  Post insist(const Operation& what, Attempt&& attempt) noexcept {
    nudger_.nudge(what.pe);
    Post posted = attempt();
    uint64_t refusals = 0;
    if (posted == Post::again) [[unlikely]]
      wait(what, [&] {
        ++refusals;
        nudger_.nudge(what.pe);
        return (posted = attempt()) != Post::again;
      });
    if (config_.observer) [[unlikely]]
      count_post(refusals);
    return posted;
  }

  [[gnu::cold, gnu::noinline]] void count_post(uint64_t refusals) noexcept {
    config_.observer->count(observe::Engine::posted, 1);
    if (refusals > 0) config_.observer->count(observe::Engine::again, refusals);
  }

  /// A transfer of which one end is a GPU's memory, or otherwise out of the CPU's reach.
  [[gnu::noinline]] void stage(Entry& entry, NetContext& scope, Transfer t, bool blocks,
                               const NetSignal* signal = nullptr) noexcept {
    if (initiator_.goes_direct(t, signal != nullptr)) return reach(entry, scope, t, blocks, signal);
    const Operation what{t.kind, t.remote.pe, t.nbytes};
    if (t.kind == OpKind::get) {
      admit(scope);
    } else {
      admit(scope, t.remote.pe, OpKind::staged_put);
    }
    const auto attempt = [&](bool* done) { return initiator_.staged(scope, t, signal, {done}); };
    if (blocks) {
      blocking(entry, what, attempt);
    } else {
      insist(what, [&] { return attempt(nullptr); });
    }
  }

  /// Posts a transfer, with `signal` where it is not null, of which rails reach both ends.
  void reach(Entry& entry, NetContext& scope, Transfer& t, bool blocks, const NetSignal* signal) noexcept {
    const Operation what{t.kind, t.remote.pe, t.nbytes};
    const bool gets = t.kind == OpKind::get;
    if (gets) {
      admit(scope);
    } else {
      admit(scope, t.remote.pe, OpKind::put);
    }
    const bool copied = blocks && !gets && !t.local_is_far && t.nbytes <= kMaxMessage;
    const Source source = copied ? Source::copied : Source::stable;
    const auto attempt = [&](bool* done) {
      return signal != nullptr ? initiator_.put_signal(scope, t, source, *signal, {done})
                               : initiator_.transfer(scope, t, source, {done});
    };
    if (blocks && !copied) {
      blocking(entry, what, attempt);
    } else {
      insist(what, [&] { return attempt(nullptr); });
    }
  }

  /// Posts a small put of a batching session. The last announced put leaves at once.
  void batch(NetContext& scope, Remote to, const void* source, size_t nbytes, Source kind) noexcept {
    Transfer t{OpKind::put, to, bytes(source), nbytes};
    insist({OpKind::put, to.pe, nbytes}, [&] { return initiator_.batched_put(scope, t, kind); });
    if (scope.session.ops_left != SIZE_MAX && scope.session.ops_left > 0 && --scope.session.ops_left == 0)
      initiator_.release_held();  // no room: the next poll tries again
  }

  /// Posts and waits for the completion, maybe outside.
  template <class Attempt>
  void blocking(Entry& entry, const Operation& what, Attempt&& attempt) noexcept {
    bool done = false;
    if (insist(what, [&] { return attempt(&done); }) == Post::failed) return;
    watch(entry, what, [&] { return is_told(done); });
  }

  /// Waits until `done`, which needs no endpoint to look at. One waiting thread polls the endpoint, the others look on.
  /// All of them leave the endpoint to threads that want to post, so that a long wait of one context does not hold up
  /// operations of another.
  template <class Done>
  void watch(Entry& entry, const Operation& what, Done&& done) noexcept {
    Patience patience(timeout_ns_, config_.oversubscribed);
    while (!done()) {
      if (entry.inside()) {
        poll();
        if (done()) return;
      } else {
        cpu_pause();
      }
      const Turn turn = patience.turn(moves());
      if (turn == Turn::help && entry.inside()) proxy_.help();
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
    Patience patience(timeout_ns_, config_.oversubscribed);
    for (;;) {
      poll();
      if (done()) return;
      const Turn turn = patience.turn(moves());
      if (turn == Turn::help) proxy_.help();
      if (turn == Turn::give_up) give_up(what);
      port_.pass();
    }
  }

  [[noreturn]] void give_up(const Operation& what) noexcept {
    die_without_progress(what, initiator_.name(), config_.timeout_s, initiator_.describe_outstanding());
  }
  uint64_t moves() const noexcept { return moves_.load(std::memory_order_relaxed); }

  /// Called before a post on `scope`: waits while a quiet of the scope waits for all its operations.
  void admit(NetContext& scope) noexcept {
    const auto free = [&] { return scope.draining.load(std::memory_order_relaxed) == 0; };
    if (!free()) [[unlikely]]
      wait({OpKind::quiet, -1, 0}, free);
  }
  /// Called before a post on `scope` that must stay behind the scope's last fence: waits for a quiet of the scope, then
  /// for earlier operations to `pe`.
  void admit(NetContext& scope, int pe, OpKind kind) noexcept {
    admit(scope);
    if (!initiator_.in_order(scope, pe, kind)) [[unlikely]]
      wait({OpKind::fence, pe, 0}, [&] { return initiator_.in_order(scope, pe, kind); });
  }

  const HostConfig config_;
  const uint64_t timeout_ns_;
  PortLock port_;
  Initiator<R> initiator_;
  PeerNews news_;
  ProxySide<R>& proxy_;
  Sleeper& sleeper_;
  Nudger<R> nudger_;
  std::atomic<uint64_t> moves_{0};  ///< polls that moved something, by any thread
  std::atomic<uint64_t> pending_{0};
  std::atomic<bool> urgent_{false};
};

}  // namespace railshmem
