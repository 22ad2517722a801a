// SPDX-License-Identifier: BSD-3-Clause
// Collectives of kernels: block b of one kernel plays PE b. Results are compared on the CPU, times are printed.
#include <algorithm>

#include "include/shmem/device/reduce.h"
#include "tests/gpu/one_gpu/gpu_job.h"

namespace railshmem::gpu_test {
namespace {

constexpr int kMost = 8;
constexpr uint64_t kSource = 0, kDest = uint64_t{2} << 20;  // offsets of objects
constexpr uint64_t kHeapBytes = GpuJob::kObjects + (uint64_t{2} << 20) + (uint64_t{3} << 20);

enum class Kind : uint8_t { sync, barrier, fcollect, alltoall, broadcast, collect, reduce };
const char* name_of(Kind kind) {
  const char* const names[] = {"sync", "barrier", "fcollect", "alltoall", "broadcast", "collect", "sum_reduce"};
  return names[static_cast<int>(kind)];
}

template <class Scope>
__device__ ChannelStatus once(const WorldView& world, const device::Members& team, Kind kind, uint64_t nbytes) {
  unsigned char* const source = world.heap.mine + GpuJob::kObjects + kSource;
  unsigned char* const dest = world.heap.mine + GpuJob::kObjects + kDest;
  switch (kind) {
    case Kind::sync:
      return device::sync_team<Scope>(world, team);
    case Kind::barrier:
      return device::barrier_team<Scope>(world, team);
    case Kind::fcollect:
      return device::fcollect<Scope>(world, team, dest, source, nbytes);
    case Kind::alltoall:
      return device::alltoall<Scope>(world, team, dest, source, nbytes);
    case Kind::broadcast:
      return device::broadcast<Scope>(world, team, dest, source, nbytes, team.size() - 1);
    case Kind::collect:
      return device::collect<Scope>(world, team, dest, source, nbytes / 4 * static_cast<uint64_t>(1 + team.rank() % 4));
    case Kind::reduce:
      return device::reduce<int, device::Sum, Scope>(world, team, reinterpret_cast<int*>(dest),
                                                     reinterpret_cast<const int*>(source), nbytes / sizeof(int));
  }
  return ChannelStatus::failed;
}

/// `repeats` calls by each PE. Leaves the worst status of each PE and its nanoseconds a call.
template <class Scope>
__global__ void __launch_bounds__(1024)
    call_team(const WorldView* views, Kind kind, uint64_t nbytes, int repeats, uint64_t* statuses, uint64_t* ns) {
  const WorldView& world = views[blockIdx.x];
  const TeamRow row{1, 0, 1, world.npes, world.pe, nullptr, 0, 0};
  const device::Members team(world, row);
  ChannelStatus status = device::sync_team<Scope>(world, team);
  const uint64_t start = portable::clock_ns();
  for (int i = 0; i < repeats && status == ChannelStatus::ok; ++i) status = once<Scope>(world, team, kind, nbytes);
  if (status != ChannelStatus::ok) statuses[blockIdx.x] = static_cast<uint64_t>(status);
  if (threadIdx.x == 0) ns[blockIdx.x] = (portable::clock_ns() - start) / static_cast<uint64_t>(repeats);
}

int value(int pe, uint64_t i) {
  return pe * 100003 + static_cast<int>(i);
}

int expected(const GpuJob& job, Kind kind, uint64_t n, int pe, uint64_t i) {
  const auto from = static_cast<int>(i / n);
  if (kind == Kind::fcollect) return value(from, i % n);
  if (kind == Kind::alltoall) return value(from, static_cast<uint64_t>(pe) * n + i % n);
  if (kind == Kind::broadcast) return value(job.npes - 1, i);
  if (kind == Kind::collect) {
    int member = 0;
    for (uint64_t share = n / 4; i >= share; share = n / 4 * static_cast<uint64_t>(1 + member % 4)) {
      i -= share;
      ++member;
    }
    return value(member, i);
  }
  int sum = 0;
  for (int p = 0; p < job.npes; ++p) sum += value(p, i);
  return sum;
}

uint64_t results(const GpuJob& job, Kind kind, uint64_t n) {
  if (kind == Kind::fcollect || kind == Kind::alltoall) return n * static_cast<uint64_t>(job.npes);
  if (kind != Kind::collect) return n;
  uint64_t all = 0;
  for (int p = 0; p < job.npes; ++p) all += n / 4 * static_cast<uint64_t>(1 + p % 4);
  return all;
}

struct ScopeCase {
  const char* name;
  unsigned threads;
  void (*kernel)(const WorldView*, Kind, uint64_t, int, uint64_t*, uint64_t*);
};
const ScopeCase kScopes[] = {{"thread", 1, call_team<device::ThreadScope>},
                             {"warp", 32, call_team<device::WarpScope>},
                             {"block", 1024, call_team<device::BlockScope>}};

uint64_t launch(GpuJob& job, const ScopeCase& scope, Kind kind, uint64_t nbytes, int repeats) {
  Pinned<uint64_t> statuses(kMost), ns(kMost);
  // The PEs wait for each other, so all blocks must run at once: so few do.
  scope.kernel<<<static_cast<unsigned>(job.npes), scope.threads>>>(job.views.get(), kind, nbytes, repeats,
                                                                   statuses.get(), ns.get());
  finish_kernel();
  for (int pe = 0; pe < job.npes; ++pe) {
    GPU_CHECK(statuses[static_cast<size_t>(pe)] == 0, "%s by %s of %llu bytes, %d PEs: PE %d ended with status %llu",
              name_of(kind), scope.name, static_cast<unsigned long long>(nbytes), job.npes, pe,
              static_cast<unsigned long long>(statuses[static_cast<size_t>(pe)]));
  }
  return *std::max_element(ns.begin(), ns.end());
}

void compare(GpuJob& job, const ScopeCase& scope, Kind kind, uint64_t n) {
  std::vector<int> ints((uint64_t{1} << 20) / sizeof(int));
  for (int pe = 0; pe < job.npes; ++pe) {
    for (uint64_t i = 0; i < ints.size(); ++i) ints[i] = value(pe, i);
    CUDA_MUST(cudaMemcpy(job.object(pe, kSource), ints.data(), ints.size() * sizeof(int), cudaMemcpyDefault));
    CUDA_MUST(cudaMemset(job.object(pe, kDest), 0xff, uint64_t{1} << 20));
  }
  launch(job, scope, kind, n * sizeof(int), 3);
  const uint64_t count = results(job, kind, n);
  for (int pe = 0; pe < job.npes; ++pe) {
    std::vector<int> got(count + 1);
    CUDA_MUST(cudaMemcpy(got.data(), job.object(pe, kDest), got.size() * sizeof(int), cudaMemcpyDefault));
    uint64_t wrong = 0, first = 0;
    for (uint64_t i = 0; i < count; ++i) {
      if (got[i] != expected(job, kind, n, pe, i) && wrong++ == 0) first = i;
    }
    GPU_CHECK(wrong == 0 && got[count] == -1,
              "%s by %s, %llu elements, %d PEs (%d a node): PE %d has %llu wrong, first %llu", name_of(kind),
              scope.name, static_cast<unsigned long long>(n), job.npes, job.node_npes, pe,
              static_cast<unsigned long long>(wrong), static_cast<unsigned long long>(first));
  }
}

void check(int npes, int node_npes) {
  GpuJob job(npes, node_npes, kHeapBytes);
  for (const ScopeCase& scope : kScopes) {
    launch(job, scope, Kind::barrier, 0, 20);
    for (const Kind kind : {Kind::fcollect, Kind::alltoall, Kind::broadcast, Kind::collect, Kind::reduce}) {
      for (const uint64_t n : {4, 12, 512, 516, 8000}) compare(job, scope, kind, n);
    }
  }
  std::printf("team: %d PEs, %d a node: all collectives by thread, warp and block; %llu commands\n", npes, node_npes,
              static_cast<unsigned long long>(job.commands.load()));
}

void measure_teams() {
  std::printf("team: times on ONE GPU (no NVLink), us a call:  bytes are what each PE gives\n");
  for (const int npes : {2, 8}) {
    GpuJob job(npes, npes, kHeapBytes);
    for (const ScopeCase& scope : kScopes) {
      std::printf("team: %d PEs, %-6s", npes, scope.name);
      const auto time = [&](Kind kind, uint64_t nbytes, int repeats) {
        launch(job, scope, kind, nbytes, 5);
        const auto us = static_cast<double>(launch(job, scope, kind, nbytes,
                                                   static_cast<int>(scaled(static_cast<uint64_t>(repeats))))) *
                        1e-3;
        std::printf("  %s %llu: %.2f", name_of(kind), static_cast<unsigned long long>(nbytes), us);
      };
      time(Kind::barrier, 0, 1000);
      time(Kind::fcollect, 32, 1000);
      time(Kind::alltoall, 32, 1000);
      time(Kind::reduce, 32, 1000);
      if (scope.threads > 1) {
        time(Kind::fcollect, 2048, 200);
        time(Kind::fcollect, 131072, 50);
        time(Kind::alltoall, 131072, 50);
        time(Kind::reduce, 131072, 50);
      }
      std::printf("\n");
    }
  }
}

}  // namespace

void test_teams() {
  check(2, 2);
  check(5, 5);
  check(8, 8);
  check(3, 1);
  check(4, 2);
  measure_teams();
}

}  // namespace railshmem::gpu_test
