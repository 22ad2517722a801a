// SPDX-License-Identifier: BSD-3-Clause
//
// Collectives of active sets with SHMEM_THREAD_MULTIPLE: at one time the threads of a PE are in different collectives,
// of all PEs and of some, each thread with arrays of its own.
#include <thread>
#include <vector>

#include "active_sets.h"

namespace {

constexpr int kThreads = 4;
constexpr size_t kMost = 3000;  // elements a block

int me, npes;

/// What one thread uses; lane i is symmetric on all PEs.
struct Lane {
  explicit Lane(size_t members)
      : psync(2),
        source(static_cast<long*>(check_alloc(members * kMost * sizeof(long)))),
        dest{static_cast<long*>(check_alloc(members * kMost * sizeof(long))),
             static_cast<long*>(check_alloc(members * kMost * sizeof(long)))} {}
  ~Lane() {
    shmem_free(dest[1]);
    shmem_free(dest[0]);
    shmem_free(source);
  }
  Lane(const Lane&) = delete;
  SyncArrays psync;
  long* source;
  long* dest[2];
};

long value_of(int rank, size_t i, int round, int thread) {
  return rank * 1000003L + static_cast<long>(i) * 17 + round * 101 + thread;
}

void expect(const long* dest, size_t i, long expected) {
  CHECK(dest[i] == expected, "element %zu is %ld, expected %ld", i, dest[i], expected);
}

/// Five calls, each waiting for all members, so that two arrays and two dests in turn are enough.
void one_round(const ActiveSet& set, const Lane& lane, size_t n, int round, int thread) {
  const size_t members = static_cast<size_t>(set.size);
  for (size_t i = 0; i < members * n; ++i) lane.source[i] = value_of(set.rank, i, round, thread);
  const auto psync = [&](int call) { return lane.psync[static_cast<size_t>((round * 5 + call) % 2)]; };
  const auto dest = [&](int call) { return lane.dest[(round * 5 + call) % 2]; };

  shmem_fcollect64(dest(0), lane.source, n, SET_ARGUMENTS(set), psync(0));
  for (size_t i = 0; i < members * n; ++i) expect(dest(0), i, value_of(static_cast<int>(i / n), i % n, round, thread));
  shmem_collect64(dest(1), lane.source, n, SET_ARGUMENTS(set), psync(1));
  for (size_t i = 0; i < members * n; ++i) expect(dest(1), i, value_of(static_cast<int>(i / n), i % n, round, thread));
  shmem_alltoall64(dest(2), lane.source, n, SET_ARGUMENTS(set), psync(2));
  for (size_t i = 0; i < members * n; ++i)
    expect(dest(2), i, value_of(static_cast<int>(i / n), static_cast<size_t>(set.rank) * n + i % n, round, thread));
  shmem_long_max_to_all(dest(3), lane.source, static_cast<int>(n), SET_ARGUMENTS(set), lane.dest[0], psync(3));
  for (size_t i = 0; i < n; ++i) expect(dest(3), i, value_of(set.size - 1, i, round, thread));
  shmem_barrier(SET_ARGUMENTS(set), psync(4));
}

/// Broadcast and back-to-back synchronisations on one array.
void synchronised_broadcasts(const ActiveSet& set, const Lane& lane, size_t n, int rounds, int thread) {
  for (int round = 0; round < rounds; ++round) {
    const int root = round % set.size;
    for (size_t i = 0; i < n; ++i) lane.source[i] = value_of(set.rank, i, round, thread);
    shmem_broadcast64(lane.dest[0], lane.source, n, root, SET_ARGUMENTS(set), lane.psync[0]);
    for (size_t i = 0; set.rank != root && i < n; ++i) expect(lane.dest[0], i, value_of(root, i, round, thread));
    shmem_sync(SET_ARGUMENTS(set), lane.psync[1]);
    shmem_sync(SET_ARGUMENTS(set), lane.psync[1]);
  }
}

}  // namespace

int main() {
  check_prepare("active_threads");
  int granted = -1;
  CHECK_EQ(shmem_init_thread(SHMEM_THREAD_MULTIPLE, &granted), 0);
  CHECK_EQ(granted, SHMEM_THREAD_MULTIPLE);
  me = shmem_my_pe();
  npes = shmem_n_pes();
  check_step("%d threads", kThreads);
  const ActiveSet world = make_active_set(0, 0, npes);
  const ActiveSet others = make_active_set(npes > 1 ? 1 : 0, 0, npes > 1 ? npes - 1 : 1);
  const ActiveSet even = make_active_set(0, npes > 1 ? 1 : 0, npes > 1 ? (npes + 1) / 2 : 1);
  const ActiveSet set_of_thread[kThreads] = {world, world, others, even};
  std::vector<Lane*> lanes;
  for (int t = 0; t < kThreads; ++t) lanes.push_back(new Lane(static_cast<size_t>(npes)));
  const int rounds = check_rounds(npes > 2 ? 60 : 200);
  for (const size_t n : {size_t{3}, kMost}) {
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t)
      threads.emplace_back([&, t] {
        const ActiveSet& set = set_of_thread[t];
        if (set.rank < 0) return;
        for (int round = 0; round < rounds; ++round) one_round(set, *lanes[static_cast<size_t>(t)], n, round, t);
        synchronised_broadcasts(set, *lanes[static_cast<size_t>(t)], n, rounds, t);
      });
    for (std::thread& thread : threads) thread.join();
    for (const Lane* lane : lanes) lane->psync.check_all();
  }
  for (Lane* lane : lanes) delete lane;
  return check_end();
}
