// SPDX-License-Identifier: BSD-3-Clause
// put_signal_loaded: small messages beside another thread's large ones.
#include <atomic>
#include <thread>

#include "perftest/harness/pingpong.h"

#if RAILSHMEM_PERF_HAS(1, 5)
namespace railshmem::perf {
namespace {

constexpr uint64_t kBulkBytes = 1 << 20;
constexpr int kBulkWindow = 4;  // transfers of one context; two contexts take turns, so that none waits for a quiet

/// A thread that keeps the way to the peer full of large puts, on contexts of its own, as long as this object lives.
class Bulk {
 public:
  Bulk(char* source, char* dest, int peer) : thread_([=, this] { run(source, dest, peer); }) {
    while (!flowing_.load(std::memory_order_relaxed)) std::this_thread::yield();
    start_ = ticks();
    start_bytes_ = bytes_.load(std::memory_order_relaxed);
  }
  ~Bulk() { stop(); }
  /// Bytes a second since construction.
  double stop() {
    if (!thread_.joinable()) return 0;
    const double seconds = static_cast<double>(ticks() - start_) * seconds_per_tick();
    const auto moved = static_cast<double>(bytes_.load(std::memory_order_relaxed) - start_bytes_);
    stop_.store(true, std::memory_order_relaxed);
    thread_.join();
    return moved / seconds;
  }

 private:
  void run(char* source, char* dest, int peer) {
    shmem_ctx_t contexts[2];
    for (shmem_ctx_t& context : contexts)
      if (shmem_ctx_create(SHMEM_CTX_PRIVATE, &context) != 0)
        throw std::runtime_error("no context for the bulk thread");
    for (int turn = 0; !stop_.load(std::memory_order_relaxed); turn = 1 - turn) {
      for (int i = 0; i < kBulkWindow; ++i)
        shmem_ctx_putmem_nbi(contexts[turn], dest + i * kBulkBytes, source + i * kBulkBytes, kBulkBytes, peer);
      shmem_ctx_quiet(contexts[1 - turn]);
      if (turn == 1) flowing_.store(true, std::memory_order_relaxed);
      bytes_.fetch_add(kBulkWindow * kBulkBytes, std::memory_order_relaxed);
    }
    for (shmem_ctx_t context : contexts) shmem_ctx_destroy(context);
  }

  // All relaxed: counters and a wish, no data behind them.
  std::atomic<bool> flowing_{false};
  std::atomic<bool> stop_{false};
  std::atomic<uint64_t> bytes_{0};
  uint64_t start_ = 0;
  uint64_t start_bytes_ = 0;
  std::thread thread_;  // last: it uses the others
};

void put_signal_loaded(Context& context) {
  int level = SHMEM_THREAD_SINGLE;
  shmem_query_thread(&level);
  if (level != SHMEM_THREAD_MULTIPLE) throw std::invalid_argument("put_signal_loaded needs SHMEM_THREAD_MULTIPLE");
  const int peer = context.peer();
  Symmetric bulk_source(kBulkWindow * kBulkBytes);
  Symmetric bulk_dest(kBulkWindow * kBulkBytes);
  Symmetric source(context.largest());
  Symmetric dest(context.largest());
  Symmetric signal_memory(sizeof(uint64_t));
  auto* signal = signal_memory.as<uint64_t>();
  uint64_t count = 0;
  for (const uint64_t bytes : context.sizes) {
    const auto latency = [&] {
      return pingpong(
          context, count,
          [&](uint64_t n) { shmem_putmem_signal(dest.as(), source.as(), bytes, signal, n, SHMEM_SIGNAL_SET, peer); },
          [&](uint64_t n) { shmem_signal_wait_until(signal, SHMEM_CMP_EQ, n); });
    };
    const auto idle = latency();
    double rate = 0;
    std::vector<Distribution> loaded;
    {
      std::optional<Bulk> bulk;
      if (context.is_origin()) bulk.emplace(bulk_source.as(), bulk_dest.as(), peer);
      loaded = latency();
      if (bulk) rate = bulk->stop();
    }
    rate = context.sum(rate);
    context.add_latency("idle", bytes, idle, 0.5);
    context.add_latency("loaded", bytes, loaded, 0.5);
    if (idle.empty()) continue;
    const auto raised = [&](double Distribution::*field) { return loaded.front().*field / idle.front().*field; };
    context.add("raised", "x", bytes, raised(&Distribution::value), raised(&Distribution::p50),
                raised(&Distribution::p99), loaded.front().iters);
    context.add("bulk", "GB/s", kBulkBytes, rate * 1e-9, rate * 1e-9, rate * 1e-9, loaded.front().iters);
  }
}

const Register bench({"put_signal_loaded",
                      "putmem_signal one way: alone, beside a thread that streams 1 MiB puts, and the ratio",
                      Place::pairs,
                      {8, 8},
                      put_signal_loaded,
                      {},
                      {},
                      Threads::yes});

}  // namespace
}  // namespace railshmem::perf
#endif
