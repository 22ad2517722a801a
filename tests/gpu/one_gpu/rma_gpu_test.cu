// SPDX-License-Identifier: BSD-3-Clause
// The device functions in kernels: PE 1 is mapped, PE 2 is reached through a proxy thread that executes commands.
#include <thread>
#include <vector>

#include "include/shmem/device/signal.h"
#include "tests/gpu/one_gpu/gpu_support.h"
#include "tests/support/execute_command.h"

namespace railshmem::gpu_test {
namespace {

using device::Completion;

constexpr int kMe = 0, kMapped = 1, kFar = 2, kPes = 3;
constexpr unsigned kBlocks = 2, kThreads = 32, kAll = kBlocks * kThreads;
constexpr uint32_t kLog2Cells = 4;                            // fewer than threads: some wait for a cell
constexpr uint64_t kRegion = 512;                             // a thread's share of each half of the heap
constexpr uint64_t kHalf = kAll * kRegion, kSum = 2 * kHalf;  // sources, destinations, one counter of all
constexpr uint64_t kHeap = kSum + 64;

/// A thread's places. Sources 0..255 of its region hold (i * 7 + thread); 256..447 receive gets, 448.. fetched values.
struct Places {
  unsigned char *source, *back, *target, *seen;  ///< `seen`: where this GPU itself maps the target
  void* fetched;
};

#define EXPECT(condition)              \
  do {                                 \
    if (!(condition)) return __LINE__; \
  } while (false)
#define EXPECT_OK(call) EXPECT((call) == ChannelStatus::ok)

__device__ void fill(unsigned char* at, unsigned char value, int nbytes) {
  for (int i = 0; i < nbytes; ++i) at[i] = value;
  __threadfence_system();  // before a proxy that is told by an inline command, which releases nothing
}

__device__ bool same(const unsigned char* a, const unsigned char* b, uint64_t nbytes) {
  for (uint64_t i = 0; i < nbytes; ++i) {
    if (a[i] != b[i]) return false;
  }
  return true;
}

__device__ int put_and_get(const WorldView& world, const Places& at, int pe) {
  for (uint64_t nbytes = 0; nbytes <= 40; ++nbytes) {
    for (uint64_t shift = 0; shift < 17; shift += nbytes < 18 ? 1 : 4) {
      fill(at.seen, 0xee, 80);
      fill(at.back, 0, 64);
      EXPECT_OK(device::putmem(world, at.target + 1 + shift, at.source + 3, nbytes, pe, Completion::later));
      EXPECT_OK(device::quiet(world));
      EXPECT(same(at.seen + 1 + shift, at.source + 3, nbytes));
      EXPECT(at.seen[shift] == 0xee && at.seen[1 + shift + nbytes] == 0xee);
      EXPECT_OK(device::getmem(world, at.back, at.target + 1 + shift, nbytes, pe, Completion::now));
      EXPECT(same(at.back, at.source + 3, nbytes) && at.back[nbytes] == 0);
    }
  }
  return 0;
}

__device__ int blocking_put_releases_its_source(const WorldView& world, const Places& at, int pe) {
  for (int round = 0; round < 100; ++round) {
    fill(at.back, static_cast<unsigned char>(round), 100);  // written by the kernel: the put must release it
    EXPECT_OK(device::putmem(world, at.target + round, at.back, 100, pe, Completion::now));
  }
  EXPECT_OK(device::quiet(world));
  for (int round = 0; round < 100; ++round) EXPECT(at.seen[round] == round);
  EXPECT(at.seen[198] == 99);
  return 0;
}

__device__ int signal_follows_its_data(const WorldView& world, const Places& at, int pe) {
  auto* const signal = reinterpret_cast<uint64_t*>(at.target + 480);
  const auto* const seen = reinterpret_cast<const uint64_t*>(at.seen + 480);
  for (const uint64_t nbytes : {0, 1, 8, 9, 240}) {
    fill(at.seen, 0, kRegion);
    EXPECT_OK(device::putmem_signal(world, at.target + 8, at.source, nbytes, signal, 5, SignalOp::set, pe,
                                    Completion::later));
    EXPECT_OK(device::signal_update(world, signal, 2, SignalOp::add, pe));
    const uint64_t began = portable::clock_ns();
    while (portable::load_acquire(seen) != 7) EXPECT(portable::clock_ns() - began < kLong);
    EXPECT(same(at.seen + 8, at.source, nbytes));
    EXPECT_OK(device::quiet(world));
  }
  return 0;
}

__device__ int single_value_and_fence(const WorldView& world, const Places& at, int pe) {
  for (uint32_t i = 0; i < 50; ++i) {  // the proxy takes one ring in order, so the second value stays
    auto* const target = reinterpret_cast<uint32_t*>(at.target + 12);
    EXPECT_OK(device::p(world, target, ~i, pe));
    EXPECT_OK(device::fence(world));
    EXPECT_OK(device::p(world, target, i, pe));
    EXPECT_OK(device::quiet(world));
    EXPECT(*reinterpret_cast<uint32_t*>(at.seen + 12) == i);
  }
  return 0;
}

template <class T>
__device__ int atomics(const WorldView& world, const Places& at, int pe) {
  T* const dest = reinterpret_cast<T*>(at.target + 448);
  T* const old = static_cast<T*>(at.fetched);
  EXPECT_OK(device::amo(world, dest, AmoOp::set, T{12}, T{0}, pe));
  struct Step {
    AmoOp op;
    T operand, compare, old;
  };
  const Step steps[] = {{AmoOp::fetch_add, static_cast<T>(~T{0}), 0, 12},
                        {AmoOp::compare_swap, 7, 10, 11},
                        {AmoOp::compare_swap, 7, 11, 11},
                        {AmoOp::swap, 6, 0, 7},
                        {AmoOp::fetch_and, 3, 0, 6},
                        {AmoOp::fetch_or, 9, 0, 2},
                        {AmoOp::fetch_xor, 1, 0, 11},
                        {AmoOp::fetch, 0, 0, 10}};
  for (const Step& step : steps) {
    EXPECT_OK(device::amo_fetch(world, old, dest, step.op, step.operand, step.compare, pe));
    EXPECT(*old == step.old);
  }
  EXPECT_OK(device::amo(world, dest, AmoOp::add, T{5}, T{0}, pe));
  EXPECT_OK(device::amo(world, dest, AmoOp::fetch, T{0}, T{0}, pe, old, device::Fetch::later));
  EXPECT_OK(device::quiet(world));
  EXPECT(*old == 15);
  // Everybody's counter: the last value, and so that nothing was lost, is checked by the host.
  auto* const sum = reinterpret_cast<uint64_t*>(world.heap.mine + kSum);
  for (int i = 0; i < 20; ++i) EXPECT_OK(device::amo(world, sum, AmoOp::add, uint64_t{1}, uint64_t{0}, pe));
  return 0;
}

/// Leaves for each thread the line of the first expectation that failed, or 0.
__global__ void run_all(WorldView world, int pe, unsigned char* peer, bool with_atomics, uint64_t* lines) {
  const uint64_t mine = thread_index() * kRegion;
  unsigned char* const heap = world.heap.mine;
  const Places at{heap + mine, heap + mine + 256, heap + kHalf + mine, peer + kHalf + mine, heap + mine + 448};
  int line = put_and_get(world, at, pe);
  if (line == 0) line = blocking_put_releases_its_source(world, at, pe);
  if (line == 0) line = single_value_and_fence(world, at, pe);
  if (line == 0 && with_atomics) line = signal_follows_its_data(world, at, pe);
  if (line == 0 && with_atomics) line = atomics<uint32_t>(world, at, pe);
  if (line == 0 && with_atomics) line = atomics<uint64_t>(world, at, pe);
  if (line == 0 && device::quiet(world) != ChannelStatus::ok) line = __LINE__;
  lines[thread_index()] = static_cast<uint64_t>(line);
}

void serve(const std::stop_token& stop, const std::vector<std::unique_ptr<Channel>>& channels, unsigned char* heaps) {
  while (!stop.stop_requested()) {
    for (const auto& channel : channels) {
      while (const auto command = channel->peek()) {
        execute_command(*command, heaps + command->pe % kPes * kHeap);  // a fence names no PE
        channel->complete(channel->next());
        channel->pop();
      }
      channel->publish();
    }
  }
}

void run(const char* name, int pe, Place place) {
  const ChannelMemory::Block block = allocate(kPes * kHeap, place);
  auto* const heaps = static_cast<unsigned char*>(block.get());
  std::vector<unsigned char> initial(kHalf);
  for (uint64_t i = 0; i < kHalf; ++i) initial[i] = static_cast<unsigned char>(i % kRegion * 7 + i / kRegion);
  CUDA_MUST(cudaMemcpy(heaps, initial.data(), kHalf, cudaMemcpyDefault));

  std::vector<std::unique_ptr<Channel>> channels;
  Pinned<ChannelView> views(kBlocks);
  Pinned<ReplyCells::Cell> cells(kBlocks << kLog2Cells);
  const ChannelMemory::Block taken = allocate(kBlocks * (sizeof(uint32_t) << kLog2Cells), Place::gpu);
  for (unsigned i = 0; i < kBlocks; ++i) {
    channels.push_back(std::make_unique<Channel>(kernel_channel_memory(6, Place::gpu)));
    views[i] = kernel_view(*channels[i]);
    views[i].replies = {&cells[i << kLog2Cells], static_cast<uint32_t*>(taken.get()) + (i << kLog2Cells), kLog2Cells};
  }
  const WorldView world{
      .pe = kMe,
      .npes = kPes,
      .first_pe = kMe,
      .node_npes = 2,
      .heap = {heaps, kHeap, heaps, kHeap, 0, pe == kFar ? 0 : kHeap},  // no atomics of far PEs where ours are direct
      .channels = views.get(),
      .nchannels = kBlocks,
      .timeout_ns = kLong};
  // The proxy's atomics, and the GPU's on its own memory, need no help of the bus.
  const bool with_atomics = pe == kFar || place == Place::gpu || has_host_atomics();
  Pinned<uint64_t> lines(kAll);
  {
    std::jthread proxy([&](const std::stop_token& stop) { serve(stop, channels, heaps); });
    run_all<<<kBlocks, kThreads>>>(world, pe, heaps + static_cast<uint64_t>(pe) * kHeap, with_atomics, lines.get());
    finish_kernel();
  }
  for (unsigned t = 0; t < kAll; ++t) {
    GPU_CHECK(lines[t] == 0, "%s: thread %u failed %s:%llu", name, t, __FILE__,
              static_cast<unsigned long long>(lines[t]));
  }
  uint64_t sum = 0;
  CUDA_MUST(cudaMemcpy(&sum, heaps + static_cast<uint64_t>(pe) * kHeap + kSum, sizeof sum, cudaMemcpyDefault));
  GPU_CHECK(!with_atomics || sum == 2 * 20 * kAll, "%s: %llu of %u additions", name,
            static_cast<unsigned long long>(sum), 2 * 20 * kAll);
  uint64_t commands = 0;
  for (const auto& channel : channels) commands += channel->next();
  std::printf("rma: %-34s %llu commands%s\n", name, static_cast<unsigned long long>(commands),
              with_atomics ? "" : "; no signals and atomics: there are none between this GPU and host memory");
}

}  // namespace

void test_rma() {
  run("far PE, by the proxy", kFar, Place::pinned);
  run("mapped PE, in pinned memory", kMapped, Place::pinned);
  run("mapped PE, in GPU memory", kMapped, Place::gpu);
}

}  // namespace railshmem::gpu_test
