// SPDX-License-Identifier: BSD-3-Clause
// Turns any Fabric into a Network.
//
//   host threads       ── HostSide ── Initiator ── rails of Port::host
//                            │ try_step()
//   thread of ProxyLoop ── ProxySide ── Initiator + PeerService ── rails of Port::proxy
//   thread of ProxyLoop ── ProxySide ── Initiator ── rails of Port::rings       one such row for each thread that
//                                                                               SHMEM_PROXY_THREADS adds
#pragma once

#include <bit>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/base/error.h"
#include "src/plugin/network.h"
#include "src/plugin/rail.h"
#include "src/proxy/failover/engine_keeper.h"
#include "src/proxy/flush/flush_memory.h"
#include "src/proxy/host_side.h"
#include "src/proxy/job_nonce.h"
#include "src/proxy/proxy_loop.h"
#include "src/proxy/proxy_side.h"
#include "src/proxy/proxy_threads.h"
#include "src/proxy/rails/direct_memory.h"
#include "src/proxy/rails/tuning.h"
#include "src/proxy/sleeper.h"
#include "src/proxy/staging/staging.h"
#include "src/proxy/staging/staging_terms.h"

namespace railshmem {

/// A fabric that can make GPU memory known to its rails; Network describes the functions.
template <class F>
concept ReachesDevices = requires(F f, const DeviceExtent& extent,
                                  std::span<const std::vector<std::byte>> descriptors) {
  { f.takes_extents() } -> std::same_as<bool>;
  { f.expose(extent) } -> std::same_as<std::vector<std::byte>>;
  {f.learn(descriptors)};
};

/// HostSide serves the data-path calls: the functions of network.h reach it through host().
template <Fabric F>
class Engine final : public Network {
 public:
  using RailType = typename F::RailType;
  static_assert(!HasReopen<F> || ReopensRails<F>, "a fabric that reopens rails has all functions of ReopensRails");

  template <class... Args>
  Engine(TransportKind which, const NetworkConfig& config, const Tuning& tuning, Args&&... fabric)
      : Network(which),
        pe_(config.pe),
        npes_(config.npes),
        threads_(proxy_threads_of(*config.env)),
        cells_(config.env->ofi_slots),
        host_config_{config.threads_share_host_calls ? HostThreads::several : HostThreads::one,
                     config.oversubscribed,
                     config.env->timeout_s,
                     config.observer,
                     tuning.checks_data,
                     config.flush_offset},
        loop_config_{.pe = config.pe,
                     .oversubscribed = config.oversubscribed,
                     .spin_ns = config.env->proxy_spin_us * 1000,
                     .nap_ns = config.env->proxy_nap_us * 1000,
                     .kernel_spin_ns = config.env->proxy_kernel_spin_us * 1000,
                     .kernel_nap_ns = config.env->proxy_kernel_nap_us * 1000,
                     .tuning = tuning,
                     .observer = config.observer},
        make_copier_(config.make_copier),
        lost_(config.npes),
        survives_(config.env->survive),
        flush_(config.flush),
        flush_offset_(config.flush_offset),
        maps_neighbours_(config.env->staging_shared),
        payload_nbytes_(config.payload_nbytes),
        fabric_(std::in_place, std::forward<Args>(fabric)...) {
    if (tuning.checks_data && config.device_heap())
      throw Error("SHMEM_CHECK_DATA=1 looks after host memory only: unset it, or use SHMEM_HEAP_KIND=host");
    // One cell carries a message while another waits for its data; fewer would only ever answer `again`.
    if (cells_ < 4) throw Error(text("SHMEM_OFI_SLOTS is %zu; at least 4 are needed", cells_));
  }
  ~Engine() override { Engine::stop(); }

  std::vector<std::byte> attach(std::span<const Segment> segments) override {
    segments_.assign(segments.begin(), segments.end());
    if (Staging::is_needed(segments))
      staging_.emplace(segments, make_copier_, loop_config_.tuning, fabric_->rails(Port::proxy).size(),
                       ports_with(threads_), loop_config_.observer, takes_extents() ? 0 : payload_nbytes_);
    return add_nonce_share(add_terms(fabric_->attach(staging_ ? staging_->exposed() : segments), staging_terms()),
                           random_nonce_share());
  }

  void connect(std::span<const std::vector<std::byte>> descriptors_with_shares) override {
    const auto [descriptors, nonce] = take_nonce_shares(descriptors_with_shares);
    nonce_ = nonce;
    fabric_->connect(without_terms(descriptors));
    compare_terms(descriptors, staging_terms());  // after the fabric has checked that all PEs run one version
    if (staging_) staging_->learn_areas(terms_of(descriptors));
    if (staging_ && maps_neighbours_ && all_on_this_host()) staging_->meet_neighbours(terms_of(descriptors), pe_);
    if constexpr (ReopensRails<F>) {
      if (fabric_->rails(Port::proxy).size() > 1) {
        keeper_ = std::make_unique<EngineKeeper<F>>(*fabric_, ports_with(threads_));
        news_.emplace(ports_with(threads_));
      }
    }
    const FlushPlan flush = make_flush_plan();
    InitiatorConfig proxy_config = initiator_config(Port::proxy);
    proxy_config.proves_rails = flush.uses_rails();
    observe::Observer* const observer = host_config_.observer;
    proxies_.emplace_back().side.emplace(fabric_->rails(Port::proxy), segments_, proxy_config, observer, flush,
                                         staging_ ? &staging_->target() : nullptr);
    host_.emplace(fabric_->rails(Port::host), initiator_config(Port::host), host_config_, first(), proxies_[0].sleeper);
    for (size_t thread = 1; thread < threads_; ++thread) {
      const Port port = port_of_thread(thread);
      proxies_.emplace_back().side.emplace(fabric_->rails(port), initiator_config(port), first().traffic_wakes(),
                                           observer);
    }
  }

  void start(std::span<Channel* const> channels) override {
    first().serve(channels, Pushers::host_threads);
    for (size_t i = 0; i < proxies_.size(); ++i)
      proxies_[i].loop.emplace(*proxies_[i].side, i == 0 ? &*host_ : nullptr, proxies_[i].sleeper, i, loop_config_);
  }

  /// Threads take channels in turn, as blocks take channels, and keep them. So one initiator knows all commands of a
  /// channel, and keeps their order.
  void add_channels(std::span<Channel* const> channels) override {
    std::vector<std::vector<Channel*>> shares(threads_);
    for (Channel* channel : channels) shares[channels_++ % threads_].push_back(channel);
    for (size_t i = 0; i < proxies_.size(); ++i) {
      ProxySide<RailType>& side = *proxies_[i].side;
      side.alone([&] { side.serve(shares[i], Pushers::kernels); });
      proxies_[i].loop->thread().expect_kernels();
    }
  }
  std::span<std::byte> payloads() const noexcept override {
    return staging_ && !takes_extents() ? staging_->payloads() : std::span<std::byte>();
  }
  void run_on_proxies(const std::function<void()>& task) override {
    for (Proxy& proxy : proxies_) proxy.loop->thread().run_there(task);
  }

  void prepare_stop() noexcept override {
    host_->ignore_failures();
    for (Proxy& proxy : proxies_) proxy.side->ignore_failures();
  }
  void stop() noexcept override {
    if (!fabric_) return;
    for (size_t i = proxies_.size(); i-- > 0;) proxies_[i].loop.reset();
    // The last acknowledgement of a peer may have been lost with a rail, and the end of a context would wait for it.
    if (host_) interrupted_ = host_->forget_all();
    if (!proxies_.empty() && proxies_[0].side && first().settle_flushes())
      flush_memory_.release();
    else
      flush_memory_.abandon();
  }

  void close() noexcept override {
    host_->close();
    for (Proxy& proxy : proxies_) proxy.side->close();
    // tcp of libfabric 1.17 may crash where it is closed amid operations. The call that waits for them ends the
    // process.
    if (!interrupted_) fabric_.reset();
  }

  void share_host_calls() noexcept override { host_->port().admit_several(); }
  NetContext* make_context() override { return host_->make_context(); }
  void drop_context(NetContext* context) noexcept override {
    if (fabric_) host_->drop_context(*context);  // else all contexts end with their owner
  }

  /// Nothing to do for a fabric that reaches any memory of its PE.
  void register_buffer([[maybe_unused]] std::span<const std::byte> bytes) override {
    if constexpr (requires { fabric_->register_buffer(bytes); }) alone([&] { fabric_->register_buffer(bytes); });
  }
  void unregister_buffer([[maybe_unused]] const std::byte* base) override {
    if constexpr (requires { fabric_->unregister_buffer(base); }) alone([&] { fabric_->unregister_buffer(base); });
  }

  bool takes_extents() const noexcept override {
    if constexpr (ReachesDevices<F>) return staging_.has_value() && fabric_->takes_extents();
    return false;
  }
  std::vector<std::byte> expose([[maybe_unused]] const DeviceExtent& extent) override {
    std::vector<std::byte> descriptor;
    if constexpr (ReachesDevices<F>) alone([&] { descriptor = fabric_->expose(extent); });
    return descriptor;
  }
  void learn([[maybe_unused]] const DeviceExtent& extent,
             [[maybe_unused]] std::span<const std::vector<std::byte>> descriptors) override {
    if constexpr (ReachesDevices<F>)
      alone([&] {
        std::vector<bool> reached;
        for (const std::vector<std::byte>& descriptor : descriptors) reached.push_back(!descriptor.empty());
        fabric_->learn(descriptors);
        const bool mine = reached[static_cast<size_t>(pe_)];
        direct_.add(extent, std::move(reached), mine);
      });
  }
  void use_flush(const FlushChoice& choice, uint64_t offset) override {
    alone([&] {
      FlushPlan plan{choice.policy, choice.device, segment_of_extent(0), offset, {}, host_config_.timeout_s};
      lend_flush_memory(plan);
      first().use_flush(plan);
      direct_.use_flush(choice);
    });
  }

  void lose_peer(int pe) noexcept override { lost_.add(pe); }

  RailsNow rails_now() override {
    RailsNow now{static_cast<int>(host_->rails().size()), 0, 0};
    RailMask alive = 0;
    host_->alone([&] {
      for (int pe = 0; pe < npes_; ++pe)
        if (pe != pe_ || npes_ == 1) alive |= host_->rails().usable(pe);
    });
    if constexpr (requires { fabric_->without_link(); }) alive &= ~RailMask{fabric_->without_link()};
    now.alive = std::popcount(alive);
    if constexpr (requires { fabric_->speed(); }) now.speed = fabric_->speed();
    return now;
  }
  std::vector<std::string> rail_rows() override {
    std::vector<std::string> rows;
    const auto add = [&rows](RailSet<RailType>& rails, Port port) {
      for (std::string& row : rails.rows(name_of(port))) rows.push_back(std::move(row));
    };
    add(host_->rails(), Port::host);
    for (size_t i = 0; i < proxies_.size(); ++i) add(proxies_[i].side->rails(), port_of_thread(i));
    return rows;
  }
  std::string describe() const override {
    return fabric_->describe() + (staging_ ? staging_->describe() : std::string());
  }

  HostSide<RailType>& host() noexcept { return *host_; }
  ProxyLoop<RailType>& loop() noexcept { return *proxies_[0].loop; }
  F& fabric() noexcept { return *fabric_; }

 private:
  /// One proxy thread and what it has.
  struct Proxy {
    Sleeper sleeper;
    std::optional<ProxySide<RailType>> side;  ///< its rails belong to the fabric
    std::optional<ProxyLoop<RailType>> loop;
  };
  ProxySide<RailType>& first() noexcept { return *proxies_[0].side; }

  /// Runs `body` while no thread uses a rail. Locking host before proxies is safe: a thread that works for the first
  /// proxy never waits to enter the host endpoint. Further proxy threads wait for no other thread.
  template <class Body>
  void alone(Body&& body) {
    host_->alone([&] { alone_on_proxies(0, body); });
  }
  template <class Body>
  void alone_on_proxies(size_t begin, Body&& body) {
    if (begin == proxies_.size()) return body();
    proxies_[begin].side->alone([&] { alone_on_proxies(begin + 1, body); });
  }

  StagingTerms staging_terms() const {
    StagingTerms terms = StagingTerms::of(segments_, loop_config_.tuning);
    if (staging_) staging_->describe_to(terms);
    return terms;
  }
  bool all_on_this_host() noexcept {
    for (const RailType& rail : fabric_->rails(Port::proxy))
      if (!rail.traits().within_host) return false;
    return true;
  }

  FlushPlan make_flush_plan() {
    FlushPlan plan{flush_.policy, flush_.device, SegmentId::heap, flush_offset(), {}, host_config_.timeout_s};
    lend_flush_memory(plan);
    return plan;
  }
  void lend_flush_memory(FlushPlan& plan) {
    if (!plan.uses_rails()) return;
    if (flush_memory_.bytes().empty()) make_flush_memory();
    plan.lines = flush_memory_.bytes();
  }
  void make_flush_memory() {
    flush_memory_.make(
        fabric_->rails(Port::proxy).size(),
        [this]([[maybe_unused]] std::span<const std::byte> bytes) {
          if constexpr (requires { fabric_->register_buffer(bytes); }) fabric_->register_buffer(bytes);
        },
        [this]([[maybe_unused]] const std::byte* base) {
          if constexpr (requires { fabric_->unregister_buffer(base); }) fabric_->unregister_buffer(base);
        });
  }

  /// Offset of the memory that a flush reads: rails reach the bounce area in place of a staged heap.
  uint64_t flush_offset() const noexcept {
    return staging_ && staging_->stands_for(SegmentId::heap) ? staging_->spare_offset() : flush_offset_;
  }

  InitiatorConfig initiator_config(Port port) noexcept {
    return {.port = port,
            .pe = pe_,
            .npes = npes_,
            .cells = cells_,
            .tuning = loop_config_.tuning,
            .keeper = keeper_.get(),
            .staging = staging_ ? &staging_->source(port) : nullptr,
            .direct = &direct_,
            .ports = ports_with(threads_),
            .news = news_ ? &*news_ : nullptr,
            .lost = survives_ && port != Port::host ? &lost_ : nullptr,
            .nonce = nonce_};
  }

  const int pe_;
  const int npes_;
  const size_t threads_;  ///< proxy threads
  const size_t cells_;
  const HostConfig host_config_;
  const LoopConfig loop_config_;
  const MakeCopier make_copier_;
  LostPeers lost_;       ///< peers that have died while this PE goes on
  const bool survives_;  ///< this PE goes on when a peer dies
  const FlushChoice flush_;
  const uint64_t flush_offset_;
  const bool maps_neighbours_;
  const size_t payload_nbytes_;
  Nonce nonce_{};
  std::vector<Segment> segments_;
  std::optional<Staging> staging_;      ///< empty: rails reach all memory
  DirectMemory direct_;                 ///< GPU memory that rails reach without staging
  FlushMemory flush_memory_;            // outlives the fabric's endpoints, which write into it
  std::optional<F> fabric_;             ///< empty: closed
  std::unique_ptr<RailKeeper> keeper_;  ///< null: a single rail, which nothing can replace
  std::optional<PeerNews> news_;        ///< what peers say of their rails; empty where `keeper_` is null
  std::deque<Proxy> proxies_;           ///< by thread; others hold the address of each
  bool interrupted_ = false;            ///< stop() came amid operations of host calls
  std::optional<HostSide<RailType>> host_;
  size_t channels_ = 0;  ///< of kernels, handed out so far
};

}  // namespace railshmem
