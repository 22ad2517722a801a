// SPDX-License-Identifier: BSD-3-Clause
//
// SHMEM_THREAD_MULTIPLE with contexts and teams: eight threads per PE on private and shared contexts, contexts that
// come and go meanwhile, collectives of two teams at once, splits of two teams at once, and waits that block only their
// own thread.
#include <atomic>
#include <thread>
#include <vector>

#include "check.h"

namespace {

constexpr int kThreads = 8;

int me, npes, right, left;

struct Shared {
  long data[kThreads][16];
  long sum[kThreads];
  long all;
  uint64_t signal[kThreads];
  uint64_t taken[kThreads];
  long gate;
};
Shared* shared;

void in_threads(int n, auto body) {
  std::vector<std::thread> threads;
  for (int t = 0; t < n; ++t) threads.emplace_back(body, t);
  for (std::thread& thread : threads) thread.join();
}

void clear() {
  shmem_barrier_all();
  *shared = Shared{};
  shmem_barrier_all();
}

/// Puts, gets, atomics and signals on one context. A round ends when the neighbour's thread of this number has read.
void traffic(shmem_ctx_t ctx, int t, int rounds) {
  for (long r = 1; r <= rounds; ++r) {
    long mine[16], back[16];
    for (int i = 0; i < 16; ++i) mine[i] = 1000000L * me + 10000L * t + 16 * r + i;
    if (r % 3 == 0) {
      shmem_ctx_long_put(ctx, shared->data[t], mine, 16, right);
      shmem_ctx_fence(ctx);
      shmem_ctx_signal_set(ctx, &shared->signal[t], static_cast<uint64_t>(r), right);
    } else {
      shmem_ctx_long_put_signal_nbi(ctx, shared->data[t], mine, 16, &shared->signal[t], static_cast<uint64_t>(r),
                                    SHMEM_SIGNAL_SET, right);
    }
    shmem_ctx_long_atomic_inc(ctx, &shared->sum[t], right);
    const long before = shmem_ctx_long_atomic_fetch_add(ctx, &shared->all, 1, right);
    CHECK(before >= 0 && before < static_cast<long>(rounds) * kThreads, "%ld increments", before);
    shmem_ctx_quiet(ctx);
    shmem_ctx_long_get_nbi(ctx, back, shared->data[t], 16, right);
    shmem_ctx_quiet(ctx);
    for (int i = 0; i < 16; ++i) CHECK_EQ(back[i], mine[i]);
    shmem_signal_wait_until(&shared->signal[t], SHMEM_CMP_EQ, static_cast<uint64_t>(r));
    for (int i = 0; i < 16; ++i) CHECK_EQ(shared->data[t][i], 1000000L * left + 10000L * t + 16 * r + i);
    shmem_ctx_signal_set(ctx, &shared->taken[t], static_cast<uint64_t>(r), left);
    shmem_signal_wait_until(&shared->taken[t], SHMEM_CMP_EQ, static_cast<uint64_t>(r));
  }
}

void check_sums(int rounds) {
  shmem_barrier_all();
  for (int t = 0; t < kThreads; ++t) CHECK_EQ(shared->sum[t], rounds);
  CHECK_EQ(shared->all, static_cast<long>(rounds) * kThreads);
  clear();
}

void private_contexts() {
  const int rounds = check_rounds(200);
  check_step("a private context per thread");
  in_threads(kThreads, [&](int t) {
    const long options = t < kThreads / 2 ? SHMEM_CTX_PRIVATE : SHMEM_CTX_PRIVATE | SHMEM_CTX_NOSTORE;
    shmem_ctx_t ctx;
    CHECK_EQ(shmem_ctx_create(options, &ctx), 0);
    traffic(ctx, t, rounds);
    shmem_ctx_destroy(ctx);
  });
  check_sums(rounds);
}

void shared_context() {
  const int rounds = check_rounds(200);
  check_step("one context for all threads");
  shmem_ctx_t ctx;
  CHECK_EQ(shmem_ctx_create(0, &ctx), 0);
  in_threads(kThreads, [&](int t) { traffic(ctx, t, rounds); });
  shmem_ctx_destroy(ctx);
  check_sums(rounds);
}

/// Half of the threads work, the other half makes, uses and ends contexts all the while.
void contexts_come_and_go() {
  const int rounds = check_rounds(200);
  check_step("contexts made and ended beside others at work");
  std::atomic<int> working{kThreads / 2};
  in_threads(kThreads, [&](int t) {
    if (t < kThreads / 2) {
      shmem_ctx_t ctx;
      CHECK_EQ(shmem_ctx_create(0, &ctx), 0);
      traffic(ctx, t, rounds);
      shmem_ctx_destroy(ctx);
      working.fetch_sub(1);
      return;
    }
    for (int made = 0; made < 4000 && working.load() > 0; made += 3) {
      shmem_ctx_t ctx[3];
      for (shmem_ctx_t& c : ctx) CHECK_EQ(shmem_ctx_create(SHMEM_CTX_SERIALIZED, &c), 0);
      CHECK(ctx[0] != ctx[1] && ctx[1] != ctx[2] && ctx[0] != ctx[2], "two contexts with one handle");
      for (const shmem_ctx_t c : ctx) shmem_ctx_long_p(c, &shared->data[t][0], made, right);
      for (const shmem_ctx_t c : ctx) shmem_ctx_destroy(c);
    }
  });
  clear();
}

/// Each thread has a team of its own with all PEs and synchronises it; the teams' memory is their own.
void collectives_of_two_teams() {
  check_step("two teams' collectives from two threads");
  shmem_team_t teams[2];
  CHECK_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, npes, NULL, 0, &teams[0]), 0);
  CHECK_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, npes - 1, -1, npes, NULL, 0, &teams[1]), 0);
  const int rounds = check_rounds(1000);
  in_threads(2, [&](int t) {
    shmem_ctx_t ctx;
    CHECK_EQ(shmem_team_create_ctx(teams[t], 0, &ctx), 0);
    const int to = (shmem_team_my_pe(teams[t]) + 1) % npes;
    for (long r = 1; r <= rounds; ++r) {
      shmem_ctx_long_p(ctx, &shared->data[t][0], r, to);
      shmem_ctx_quiet(ctx);
      CHECK_EQ(shmem_team_sync(teams[t]), 0);
      const long seen = __atomic_load_n(&shared->data[t][0], __ATOMIC_ACQUIRE);
      CHECK_EQ(seen, r);
      CHECK_EQ(shmem_team_sync(teams[t]), 0);
    }
    shmem_ctx_destroy(ctx);
  });
  check_step("splits of two teams from two threads");
  const int splits = check_rounds(200);
  in_threads(2, [&](int t) {
    for (int i = 0; i < splits; ++i) {
      shmem_team_t x, y;
      CHECK_EQ(shmem_team_split_2d(teams[t], 2, NULL, 0, &x, NULL, 0, &y), 0);
      CHECK(x != y, "two teams with one handle");
      CHECK_EQ(shmem_team_sync(x), 0);
      CHECK_EQ(shmem_team_sync(y), 0);
      shmem_team_destroy(x);
      shmem_team_destroy(y);
    }
  });
  for (const shmem_team_t team : teams) shmem_team_destroy(team);
}

/// One thread waits for a word that comes last, another for the quiet of a get; six go on meanwhile.
void waits_block_their_thread() {
  check_step("threads at work beside one that waits");
  const int rounds = check_rounds(100);
  std::atomic<bool> open{false};
  std::thread waiter([&] {
    shmem_long_wait_until(&shared->gate, SHMEM_CMP_EQ, 1);
    open.store(true);
  });
  in_threads(kThreads - 2, [&](int t) {
    shmem_ctx_t ctx;
    CHECK_EQ(shmem_ctx_create(SHMEM_CTX_PRIVATE, &ctx), 0);
    traffic(ctx, t, rounds);
    shmem_ctx_destroy(ctx);
  });
  CHECK(!open.load(), "the wait ended before its word came");
  shmem_sync_all();
  shmem_long_p(&shared->gate, 1, right);
  waiter.join();
  clear();
}

}  // namespace

int main() {
  check_prepare("thread_contexts");
  int provided = -1;
  CHECK_EQ(shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided), 0);
  CHECK_EQ(provided, SHMEM_THREAD_MULTIPLE);
  me = shmem_my_pe();
  npes = shmem_n_pes();
  right = (me + 1) % npes;
  left = (me + npes - 1) % npes;
  shared = static_cast<Shared*>(shmem_calloc(1, sizeof(Shared)));
  CHECK(shared != nullptr, "no memory");
  private_contexts();
  shared_context();
  contexts_come_and_go();
  collectives_of_two_teams();
  waits_block_their_thread();
  shmem_free(shared);
  return check_end();
}
