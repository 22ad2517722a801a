// SPDX-License-Identifier: BSD-3-Clause
// What proxy threads make of a kernel's commands: rings, each driven by one thread, over rails that complete at once.
#include <algorithm>
#include <thread>
#include <vector>

#include "include/shmem/device/push.h"
#include "tests/gpu/one_gpu/engine_drain.h"
#include "tests/gpu/one_gpu/gpu_support.h"

namespace railshmem::gpu_test {
namespace {

constexpr size_t kMostRings = 16;
constexpr int kEngineRepeats = 9;  // for one thread; more of them run five times

struct RingViews {
  RingView of[kMostRings];
  uint32_t n;
};

/// Blocks take rings in turn, as blocks of programs do.
__global__ void push_in_turn(RingViews rings, uint64_t each, uint64_t* statuses) {
  Command c;
  c.op = CommandOp::put_inline;
  c.pe = 1;
  c.nbytes = 8;
  const device::Deadline deadline = device::Deadline::in(kLong);
  const RingView& mine = rings.of[blockIdx.x % rings.n];
  ChannelStatus status = ChannelStatus::ok;
  for (uint64_t i = 0; i < each && status == ChannelStatus::ok; ++i) {
    c.remote_offset = c.value = i;
    status = device::push(mine, c, deadline, device::Payload::released).status;
  }
  statuses[thread_index()] = static_cast<uint64_t>(status);
}

struct Rate {
  double mops;  ///< millions of commands a second
  double core_speed;
};
bool operator<(const Rate& a, const Rate& b) {
  return a.mops < b.mops;
}

/// The rates of several runs, in rising order.
std::vector<Rate> engine_rates(size_t rings, size_t proxy_threads, unsigned blocks, unsigned threads, uint64_t each) {
  const uint64_t per_ring = each * threads * blocks / rings;
  std::vector<Rate> rates;
  for (int repeat = 0; repeat < (proxy_threads == 1 ? kEngineRepeats : 5); ++repeat) {
    std::vector<std::unique_ptr<Channel>> channels;
    std::vector<Channel*> pointers;
    RingViews views{};
    views.n = static_cast<uint32_t>(rings);
    for (size_t i = 0; i < rings; ++i) {
      channels.push_back(std::make_unique<Channel>(kernel_channel_memory(10, Place::gpu)));
      pointers.push_back(channels.back().get());
      views.of[i] = kernel_view(*channels.back()).ring;
    }
    Pinned<uint64_t> statuses(size_t{blocks} * threads);
    Drained drained{1, 0};
    {
      std::jthread proxy([&] { drained = drain_with_engine(pointers, proxy_threads, per_ring, kLong); });
      push_in_turn<<<blocks, threads>>>(views, each, statuses.get());
      // The proxy ends last. Waiting for the kernel would spin, perhaps on the other half of a proxy thread's core.
    }
    finish_kernel();
    check_statuses(statuses, ChannelStatus::ok, "proxy threads");
    GPU_CHECK(drained.ns > 1, "%zu threads did not finish the commands of %zu rings", proxy_threads, rings);
    rates.push_back(
        {static_cast<double>(per_ring * rings) * 1e3 / static_cast<double>(drained.ns), drained.core_speed});
  }
  std::sort(rates.begin(), rates.end());
  return rates;
}

}  // namespace

void measure_engine() {
  struct Row {
    const char* name;
    size_t rings;
    unsigned blocks, threads;
    uint64_t each;
  };
  const Row rows[] = {{"1 warp, 1 ring", 1, 1, 32, 100'000},
                      {"16 warps, 1 block, 1 ring", 1, 1, 512, 10'000},
                      {"2 x 16 warps, 2 rings", 2, 2, 512, 10'000},
                      {"4 x 16 warps, 4 rings", 4, 4, 512, 10'000},
                      {"16 x 4 warps, 16 rings", 16, 16, 128, 5'000}};
  const size_t cpus = std::thread::hardware_concurrency();
  std::printf(
      "\nM commands/s through the engine, rails that complete at once, medians; %zu CPUs. @: the proxy thread's core,\n"
      "additions a ns; less where somebody else works on its other half\n",
      cpus);
  std::printf("| %-26s | %-8s | %-14s | %-14s | %-9s | %-9s | %-9s | %-6s | %-6s |\n", "producers", "1 thread",
              "slowest", "fastest", "2 threads", "4 threads", "8 threads", "2 : 1", "4 : 1");
  for (const Row& r : rows) {
    double rates[4] = {};
    Rate slowest{}, fastest{};
    size_t n = 0;
    // Two, for this thread and the kernel's other needs.
    for (size_t threads = 1; threads <= std::min<size_t>(r.rings, 8) && (threads == 1 || threads + 2 <= cpus);
         threads *= 2) {
      const auto seen = engine_rates(r.rings, threads, r.blocks, r.threads, std::max<uint64_t>(scaled(r.each), 1));
      rates[n++] = seen[seen.size() / 2].mops;
      if (threads == 1) slowest = seen.front(), fastest = seen.back();
    }
    std::printf("| %-26s | %8.1f | %5.1f @ %6.2f | %5.1f @ %6.2f | %9.1f | %9.1f | %9.1f | %6.2f | %6.2f |\n", r.name,
                rates[0], slowest.mops, slowest.core_speed, fastest.mops, fastest.core_speed, rates[1], rates[2],
                rates[3], rates[1] / rates[0], rates[2] / rates[0]);
  }
  std::printf("\n");
}

}  // namespace railshmem::gpu_test
