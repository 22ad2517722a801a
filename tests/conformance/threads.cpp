// SPDX-License-Identifier: BSD-3-Clause
//
// SHMEM_THREAD_MULTIPLE: eight threads per PE at once, and a thread that waits without holding up the others.
#include <atomic>
#include <thread>
#include <vector>

#include "check.h"

namespace {

constexpr int kThreads = 8;
constexpr size_t kSlot = 512;

int me, npes, right, left;

struct Shared {
  long sum;
  long tickets;
  uint64_t signals;
  long flag[kThreads];
  long data[kThreads];
  unsigned char slots[kThreads][kSlot];
};

void in_threads(int n, auto body) {
  std::vector<std::thread> threads;
  for (int t = 0; t < n; ++t) threads.emplace_back(body, t);
  for (std::thread& thread : threads) thread.join();
}

/// Each thread has its own slot at the right neighbour: what it puts, it gets back after its own quiet.
void put_and_get(Shared* shared, int t, int rounds) {
  unsigned char mine[kSlot], back[kSlot];
  for (int r = 0; r < rounds; ++r) {
    const unsigned seed = static_cast<unsigned>(me * 100 + t * 10 + r);
    check_fill(mine, kSlot, seed);
    if (r % 2)
      shmem_putmem(shared->slots[t], mine, kSlot, right);
    else
      shmem_putmem_nbi(shared->slots[t], mine, kSlot, right);
    shmem_quiet();
    if (r % 3)
      shmem_getmem(back, shared->slots[t], kSlot, right);
    else
      shmem_getmem_nbi(back, shared->slots[t], kSlot, right);
    shmem_quiet();
    CHECK_PATTERN(back, kSlot, seed);
  }
}

void test_transfers(Shared* shared) {
  const int rounds = check_rounds(400);
  check_step("puts and gets of %d threads", kThreads);
  in_threads(kThreads, [&](int t) { put_and_get(shared, t, rounds); });
  shmem_barrier_all();
  for (int t = 0; t < kThreads; ++t)
    CHECK_PATTERN(shared->slots[t], kSlot, static_cast<unsigned>(left * 100 + t * 10 + rounds - 1));
  shmem_barrier_all();
}

void test_atomics(Shared* shared) {
  const int rounds = check_rounds(400);
  check_step("atomics of %d threads", kThreads);
  in_threads(kThreads, [&](int t) {
    long last = -1;
    for (int r = 0; r < rounds; ++r) {
      const int pe = (me + r) % npes;
      shmem_long_atomic_add(&shared->sum, t + 1, pe);
      const long ticket = shmem_long_atomic_fetch_inc(&shared->tickets, 0);
      CHECK(ticket > last, "thread %d: ticket %ld after %ld", t, ticket, last);
      last = ticket;
      shmem_signal_add(&shared->signals, 1, pe);
      if (r % 64 == 0) shmem_quiet();
    }
    shmem_quiet();
  });
  shmem_barrier_all();
  long sum = 0, signals = 0;
  for (int pe = 0; pe < npes; ++pe) {
    sum += shmem_long_g(&shared->sum, pe);
    signals += static_cast<long>(shmem_uint64_g(&shared->signals, pe));
  }
  const long total = static_cast<long>(rounds) * npes;
  CHECK_EQ(sum, total * kThreads * (kThreads + 1) / 2);
  CHECK_EQ(signals, total * kThreads);
  CHECK_EQ(shmem_long_g(&shared->tickets, 0), total * kThreads);
  shmem_barrier_all();
}

/// Chains: thread t of each PE waits for thread t of its left neighbour, all eight at once.
void test_chains(Shared* shared) {
  const int rounds = check_rounds(200);
  check_step("%d threads that wait", kThreads);
  in_threads(kThreads, [&](int t) {
    for (long r = 1; r <= rounds; ++r) {
      shmem_long_p(&shared->data[t], r * 3, right);
      shmem_fence();
      shmem_long_p(&shared->flag[t], r, right);
      shmem_long_wait_until(&shared->flag[t], SHMEM_CMP_GE, r);
      CHECK(shared->data[t] >= r * 3, "thread %d: data %ld behind flag %ld", t, shared->data[t], r);
    }
  });
  shmem_barrier_all();
}

/// One thread waits for something that only its own PE's other threads, after much work, bring about.
void test_waiting_thread(Shared* shared) {
  const int rounds = check_rounds(100);
  check_step("one thread waits, the others work");
  shared->sum = 0;
  shared->flag[0] = 0;
  shmem_barrier_all();
  std::atomic<bool> released = false;
  std::thread waiter([&] {
    shmem_long_wait_until(&shared->flag[0], SHMEM_CMP_EQ, 1);
    released = true;
  });
  in_threads(kThreads - 1, [&](int t) {
    for (int r = 0; r < rounds; ++r) {
      put_and_get(shared, t, 1);
      shmem_long_atomic_inc(&shared->sum, me);
    }
  });
  shmem_quiet();
  CHECK_EQ(shmem_long_atomic_fetch(&shared->sum, me), rounds * (kThreads - 1));
  CHECK(!released, "the waiter went on after %d rounds without its flag", rounds);
  shmem_barrier_all();  // everyone's waiter is still waiting; collectives work beside it
  shmem_long_p(&shared->flag[0], 1, right);
  waiter.join();
  shmem_barrier_all();
}

}  // namespace

int main() {
  check_prepare("threads");
  int provided = -1;
  CHECK_EQ(shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided), 0);
  me = shmem_my_pe();
  npes = shmem_n_pes();
  right = (me + 1) % npes;
  left = (me + npes - 1) % npes;
  if (provided < SHMEM_THREAD_MULTIPLE) return check_skip("the library offers no SHMEM_THREAD_MULTIPLE");
  auto* shared = static_cast<Shared*>(shmem_calloc(1, sizeof(Shared)));
  CHECK(shared != nullptr, "shmem_calloc gave %p", static_cast<void*>(shared));
  test_transfers(shared);
  test_atomics(shared);
  test_chains(shared);
  test_waiting_thread(shared);
  shmem_free(shared);
  return check_end();
}
