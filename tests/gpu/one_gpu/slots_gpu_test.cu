// SPDX-License-Identifier: BSD-3-Clause
// Payload slots and get slots in kernels: PE 1 is far, a CPU thread moves the data between its heap and the slots.
#include "include/shmem/device/signal.h"
#include "tests/gpu/one_gpu/gpu_job.h"

namespace railshmem::gpu_test {
namespace {

using device::BlockScope;
using device::Completion;
using device::ThreadScope;
using device::WarpScope;

constexpr uint32_t kBlocks = 12, kThreads = 96;
constexpr uint64_t kShare = 40'000;  ///< bytes of one block: of its put or of the puts of its warps or threads
constexpr uint64_t kSource = 0, kTarget = kBlocks * kShare, kBack = 2 * kTarget, kSignals = 3 * kTarget;
constexpr uint64_t kHeap = GpuJob::kObjects + kSignals + kBlocks * kThreads * 8;

/// The calling thread's part of a block's share, which its scope moves together.
struct Part {
  uint64_t at, nbytes;
  uint32_t unit;  ///< of all that move something
};
template <class Scope>
__device__ Part part_of(uint64_t most) {
  const uint32_t units = kThreads / Scope::size(), unit = threadIdx.x / Scope::size();
  const uint64_t room = kShare / units, nbytes = most < room - 16 ? most : room - 16;
  // Sizes and places differ from unit to unit.
  return {blockIdx.x * kShare + unit * room + unit % 7, nbytes - unit % 5, blockIdx.x * units + unit};
}

/// The line of the first wrong condition. Nobody returns early: the others of a scope would wait.
struct Verdict {
  int line = 0;
  __device__ void need(bool condition, int at) {
    if (!condition && line == 0) line = at;
  }
};

/// A put, a get of what has come, and a put with a signal, each of which must end before the next begins.
template <class Scope>
__device__ int move(const WorldView& world, uint64_t most, uint64_t round) {
  unsigned char* const objects = world.heap.mine + GpuJob::kObjects;
  const Part part = part_of<Scope>(most);
  unsigned char *const source = objects + kSource + part.at, *const target = objects + kTarget + part.at,
                       *const back = objects + kBack + part.at;
  auto* const signal = reinterpret_cast<uint64_t*>(objects + kSignals) + part.unit;
  const auto value = [&](uint64_t i) { return static_cast<unsigned char>(part.unit * 31 + round * 17 + i); };
  Verdict verdict;
  for (uint64_t i = Scope::rank(); i < part.nbytes; i += Scope::size()) source[i] = value(i);
  Scope::sync();
  verdict.need(device::putmem<Scope>(world, target, source, part.nbytes, 1, Completion::now) == ChannelStatus::ok,
               __LINE__);
  Scope::sync();
  for (uint64_t i = Scope::rank(); i < part.nbytes; i += Scope::size()) source[i] = 0;  // it is the caller's again
  if (Scope::leads()) verdict.need(device::quiet(world) == ChannelStatus::ok, __LINE__);
  Scope::sync();
  verdict.need(device::getmem<Scope>(world, back, target, part.nbytes, 1, Completion::now) == ChannelStatus::ok,
               __LINE__);
  for (uint64_t i = threadIdx.x % 5; i < part.nbytes; i += 37) verdict.need(back[i] == value(i), __LINE__);
  Scope::sync();
  verdict.need(device::putmem_signal<Scope>(world, target, back, part.nbytes / 2, signal, round, SignalOp::set, 1,
                                            Completion::later) == ChannelStatus::ok,
               __LINE__);
  if (Scope::leads()) verdict.need(device::quiet(world) == ChannelStatus::ok, __LINE__);
  Scope::sync();
  return verdict.line;
}

/// A thread's own variable: no NIC and no copy engine reads it.
__device__ int move_own(const WorldView& world, uint64_t round) {
  unsigned char* const target = world.heap.mine + GpuJob::kObjects + kTarget + blockIdx.x * kShare + threadIdx.x * 400;
  Verdict verdict;
  unsigned char own[300];
  for (int i = 0; i < 300; ++i) own[i] = static_cast<unsigned char>(thread_index() + round + i);
  verdict.need(device::putmem(world, target, own, 300, 1, Completion::now) == ChannelStatus::ok, __LINE__);
  for (unsigned char& byte : own) byte = 0;
  verdict.need(device::quiet(world) == ChannelStatus::ok, __LINE__);
  verdict.need(device::getmem(world, own, target, 200, 1, Completion::now) == ChannelStatus::ok, __LINE__);
  for (int i = 0; i < 200; ++i)
    verdict.need(own[i] == static_cast<unsigned char>(thread_index() + round + i), __LINE__);
  return verdict.line;
}

/// All threads of a block go on, or none: 0, the caller's line, or -1 for a line of another thread.
__device__ int agree(int line) {
  const int any = __syncthreads_or(line);
  return line != 0 || any == 0 ? line : -1;
}

__global__ void run_slots(const WorldView* views, uint64_t rounds, int* lines) {
  int line = 0;
  for (uint64_t round = 1; round <= rounds && line == 0; ++round) {
    line = agree(move<ThreadScope>(views[0], 100 + round % 150, round));
    if (line == 0) line = agree(move<WarpScope>(views[0], 9 + round * 577 % 13'000, round));
    if (line == 0) line = agree(move<BlockScope>(views[0], 9 + round * 1777 % 39'000, round));
    if (line == 0) line = agree(move_own(views[0], round));
  }
  lines[thread_index()] = line;
}

}  // namespace

void test_slots() {
  for (const int log2_payloads : {0, 3}) {
    GpuJob job(2, 1, kHeap, kLong, log2_payloads);
    const Pinned<int> lines(kBlocks * kThreads);
    run_slots<<<kBlocks, kThreads>>>(job.views.get(), scaled(60), lines.get());
    finish_kernel();
    job.check_faults("slots");
    for (const int& line : lines)
      GPU_CHECK(line == 0, "%d slots: thread %zu failed in line %d", 1 << log2_payloads,
                static_cast<size_t>(&line - lines.begin()), line);
    GPU_CHECK(job.by_slots > 0, "%d slots: no command used one", 1 << log2_payloads);
  }
}

}  // namespace railshmem::gpu_test
