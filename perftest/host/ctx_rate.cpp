// SPDX-License-Identifier: BSD-3-Clause
// ctx_rate: the rate of several threads together, each on a private context, against one thread on one context.
#include <time.h>

#include <atomic>
#include <thread>
#include <vector>

#include "perftest/harness/context.h"

#if RAILSHMEM_PERF_HAS(1, 5)
namespace railshmem::perf {
namespace {

constexpr long kSampleNs = 100'000'000;  // long enough that the other PEs sleep and threads cost nothing to start

/// The rate of all threads together, by a second of wall clock and by a second of each thread's CPU time. Where other
/// programs want the cores too, only the rate by CPU time shows what the threads cost each other.
struct Rate {
  double wall = 0;
  double cpu = 0;
};

double cpu_seconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// Windows a second. `work(t, run)` sets thread t up and calls run(window) once.
template <class Work>
Rate windows_per_second(int threads, Work&& work) {
  std::atomic<int> ready{0};
  std::atomic<bool> stop{false};
  std::vector<Rate> rates(static_cast<size_t>(threads));
  std::vector<std::thread> running;
  for (int t = 0; t < threads; ++t)
    running.emplace_back([&, t] {
      work(t, [&](auto&& window) {
        window();  // the first may connect
        ready.fetch_add(1);
        while (ready.load() < threads) std::this_thread::yield();
        const uint64_t start = ticks();
        const double cpu_start = cpu_seconds();
        double n = 0;
        for (; !stop.load(std::memory_order_relaxed); ++n) window();
        const double cpu = cpu_seconds() - cpu_start;
        rates[static_cast<size_t>(t)] = {n / (static_cast<double>(ticks() - start) * seconds_per_tick()), n / cpu};
      });
    });
  while (ready.load() < threads) std::this_thread::yield();
  const timespec pause{0, kSampleNs};
  nanosleep(&pause, nullptr);
  stop.store(true);
  for (std::thread& thread : running) thread.join();
  Rate sum;
  for (const Rate& rate : rates) {
    sum.wall += rate.wall;
    sum.cpu += rate.cpu;
  }
  return sum;
}

struct Lane {  // one thread's part of the target's memory, on lines of its own
  alignas(128) uint64_t words[1024];
};

void ctx_rate(Context& context) {
  int level = SHMEM_THREAD_SINGLE;
  shmem_query_thread(&level);
  if (level != SHMEM_THREAD_MULTIPLE) throw std::invalid_argument("ctx_rate needs SHMEM_THREAD_MULTIPLE");
  const int threads = context.options.threads;
  const int window = std::min(context.options.window, 1024);
  const int target = context.npes / 2;
  Symmetric memory(sizeof(Lane) * static_cast<size_t>(threads));
  Lane* const lanes = memory.as<Lane>();
  const auto puts = [&](int t, auto&& run) {
    shmem_ctx_t ctx;
    if (shmem_ctx_create(SHMEM_CTX_PRIVATE, &ctx) != 0) throw std::runtime_error("no context for a thread");
    uint64_t source[1024] = {};
    run([&] {
      for (int i = 0; i < window; ++i) shmem_ctx_putmem_nbi(ctx, &lanes[t].words[i], &source[i], 8, target);
      shmem_ctx_quiet(ctx);
    });
    shmem_ctx_destroy(ctx);
  };
  // The rate of plain stores by equally many threads on this machine, which no library can exceed.
  std::vector<Lane> own(static_cast<size_t>(threads));
  const auto stores = [&](int t, auto&& run) {
    run([&] {
      for (int i = 0; i < window; ++i) *static_cast<volatile uint64_t*>(&own[static_cast<size_t>(t)].words[i]) = 1;
      std::atomic_thread_fence(std::memory_order_seq_cst);
    });
  };
  const auto rates = [&] {
    std::vector<double> one, many, gain, gain_cpu, floor, floor_cpu;
    for (int r = 0; r < context.options.repetitions; ++r) {
      const Rate alone = windows_per_second(1, puts);
      const Rate together = windows_per_second(threads, puts);
      const Rate alone_floor = windows_per_second(1, stores);
      const Rate together_floor = windows_per_second(threads, stores);
      one.push_back(alone.wall * window * 1e-6);
      many.push_back(together.wall * window * 1e-6);
      gain.push_back(together.wall / alone.wall);
      gain_cpu.push_back(together.cpu / alone.cpu);
      floor.push_back(together_floor.wall / alone_floor.wall);
      floor_cpu.push_back(together_floor.cpu / alone_floor.cpu);
    }
    const auto add = [&](const char* metric, const char* unit, const std::vector<double>& values) {
      context.add(metric, unit, 8, median(values), median(values), percentile(values, 0.01),
                  context.options.repetitions);
    };
    add("rate_one", "Mops/s", one);
    add("rate_all", "Mops/s", many);
    add("gain", "x", gain);
    add("gain_cpu", "x", gain_cpu);
    add("floor_gain", "x", floor);
    add("floor_gain_cpu", "x", floor_cpu);
  };
  // Over a network the target serves while it waits, as it does in other programs; with load and store it would only
  // take a core away.
  if (!transport_name().starts_with("ofi")) return context.alone(rates);
  if (context.pe == 0) rates();
  shmem_barrier_all();
}

const Register bench({"ctx_rate",
                      "putmem_nbi x window + quiet on private contexts: one thread, --threads together, and the gain",
                      Place::all,
                      {8, 8},
                      ctx_rate,
                      {},
                      {},
                      Threads::yes});

}  // namespace
}  // namespace railshmem::perf
#endif
