// SPDX-License-Identifier: BSD-3-Clause
//
// Locks with SHMEM_THREAD_MULTIPLE: eight threads per PE compete for one lock and for different ones.
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "check.h"

namespace {

constexpr int kThreads = 8;
constexpr int kLocks = 3;

int me, npes;

struct Shared {
  long lock[kLocks];
  long counter[kLocks];
};

void in_threads(int n, auto body) {
  std::vector<std::thread> threads;
  for (int t = 0; t < n; ++t) threads.emplace_back(body, t);
  for (std::thread& thread : threads) thread.join();
}

/// Only the lock keeps two threads from reading one value of the counter.
void count_up(Shared* shared, int k) {
  const int owner = k % npes;
  const long seen = shmem_long_g(&shared->counter[k], owner);
  shmem_long_p(&shared->counter[k], seen + 1, owner);
}

void check_counter(Shared* shared, int k, long expected) {
  shmem_barrier_all();
  const int owner = k % npes;
  CHECK_EQ(shmem_long_g(&shared->counter[k], owner), expected);
  CHECK_EQ(shared->lock[k], 0);
  shmem_barrier_all();
  shared->counter[k] = 0;
  shmem_barrier_all();
}

void test_one_lock(Shared* shared, int rounds) {
  in_threads(kThreads, [&](int t) {
    for (int r = 0; r < rounds; ++r) {
      if ((t + r) % 3 == 0)
        while (shmem_test_lock(&shared->lock[0]) != 0) {
        }
      else
        shmem_set_lock(&shared->lock[0]);
      count_up(shared, 0);
      shmem_clear_lock(&shared->lock[0]);
    }
  });
  check_counter(shared, 0, static_cast<long>(npes) * kThreads * rounds);
}

/// Two threads for each lock, and each also holds the next lock meanwhile.
void test_different_locks(Shared* shared, int rounds) {
  in_threads(kThreads, [&](int t) {
    const int low = t % (kLocks - 1), high = low + 1;
    for (int r = 0; r < rounds; ++r) {
      shmem_set_lock(&shared->lock[low]);
      shmem_set_lock(&shared->lock[high]);
      count_up(shared, high);
      shmem_clear_lock(&shared->lock[high]);
      shmem_clear_lock(&shared->lock[low]);
    }
  });
  check_counter(shared, 1, static_cast<long>(npes) * (kThreads / 2) * rounds);
  check_counter(shared, 2, static_cast<long>(npes) * (kThreads / 2) * rounds);
}

/// A lock may be cleared by another thread of the PE than the one that took it.
void test_other_thread_clears(Shared* shared, int rounds) {
  for (int r = 0; r < rounds; ++r) {
    shmem_set_lock(&shared->lock[0]);
    count_up(shared, 0);
    std::thread([&] { shmem_clear_lock(&shared->lock[0]); }).join();
  }
  check_counter(shared, 0, static_cast<long>(npes) * rounds);
}

/// Busy for the other threads of the holder too.
void test_busy_for_threads(Shared* shared) {
  if (me == 0) {
    shmem_set_lock(&shared->lock[1]);
    in_threads(kThreads, [&](int) { CHECK_EQ(shmem_test_lock(&shared->lock[1]), 1); });
    shmem_clear_lock(&shared->lock[1]);
  }
  check_counter(shared, 1, 0);
}

/// The threads of a PE, too, are served in turn: none keeps the lock from its siblings. How the turns of different PEs
/// mix is left to the scheduler, which may keep a thread whose turn it is from running. It may also stop a thread that
/// has looked at the count and does not stand in the queue yet: one wait in a hundred may look too long.
void test_fairness(Shared* shared, int rounds) {
  if (me == 0) shmem_set_lock(&shared->lock[2]);
  shmem_barrier_all();
  std::atomic<int> asking = 0;
  std::thread gate(
      [&] {  // opens when everybody is in the queue, or the first to run would be done before the last asks
        while (asking < kThreads) std::this_thread::yield();
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        shmem_barrier_all();
        if (me == 0) shmem_clear_lock(&shared->lock[2]);
      });
  std::atomic<int> turns = 0;  // of this PE
  std::atomic<int> long_waits = 0;
  std::atomic<int> repeats = 0;  // turns of the thread that had the last one while all the others want one, too
  std::atomic<int> last = -1;
  std::atomic<int> done = 0;
  in_threads(kThreads, [&](int t) {
    for (int r = 0; r < rounds; ++r) {
      ++asking;
      const int before = turns;
      shmem_set_lock(&shared->lock[2]);
      count_up(shared, 2);
      long_waits += turns++ - before > 2 * kThreads;
      repeats += last.exchange(t) == t && done == 0;
      shmem_clear_lock(&shared->lock[2]);
    }
    ++done;
  });
  gate.join();
  CHECK_EQ(turns, kThreads * rounds);
  // A thread that is preempted on its way into the queue sees many turns; without a queue most would.
  const int few = 2 + turns / 32;
  CHECK(long_waits <= few, "%d of %d waits saw more than %d turns of siblings", long_waits.load(), turns.load(),
        2 * kThreads);
  CHECK(repeats <= few, "%d of %d turns went to the thread that had just had one", repeats.load(), turns.load());
  check_counter(shared, 2, static_cast<long>(npes) * kThreads * rounds);
}

}  // namespace

int main() {
  check_prepare("lock_threads");
  int granted = -1;
  CHECK_EQ(shmem_init_thread(SHMEM_THREAD_MULTIPLE, &granted), 0);
  CHECK_EQ(granted, SHMEM_THREAD_MULTIPLE);
  me = shmem_my_pe();
  npes = shmem_n_pes();
  const int rounds = check_rounds(npes > 2 ? 100 : 200);
  auto* shared = static_cast<Shared*>(shmem_calloc(1, sizeof(Shared)));
  CHECK(shared != nullptr, "no memory for %zu bytes", sizeof(Shared));
  check_step("one lock");
  test_one_lock(shared, rounds);
  check_step("different locks");
  test_different_locks(shared, rounds);
  check_step("another thread clears");
  test_other_thread_clears(shared, rounds);
  check_step("busy for the holder's threads");
  test_busy_for_threads(shared);
  check_step("fairness");
  test_fairness(shared, check_quick() ? 12 : 40);
  shmem_barrier_all();
  shmem_free(shared);
  return check_end();
}
