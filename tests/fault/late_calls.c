// SPDX-License-Identifier: BSD-3-Clause
//
// late_calls CALL: a thread of PE 1 makes calls of one kind while another thread of it finalizes. The job must end with
// a message, whatever that thread is inside of.
#include <pthread.h>
#include <sched.h>
#include <shmem.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kUnnoticed = 3, kNoStart = 4, kLong = 1 << 18 };

static long word;
static long never;
static long lock;
static uint64_t signal_word;
static long* block;  // symmetric, kLong elements
static long* mine;   // private, as long
static shmem_team_t team;
static atomic_int started;

static void put(void) {
  shmem_long_p(&word, 1, 0);
}
static void put_long(void) {
  shmem_long_put(block, mine, kLong, 0);
}
static void put_nbi(void) {
  for (int i = 0; i < 64; ++i) shmem_long_put_nbi(block + i, mine + i, 1, 0);
  shmem_quiet();
}
static void put_signal(void) {
  shmem_long_put_signal(block, mine, 8, &signal_word, 1, SHMEM_SIGNAL_ADD, 0);
}
static void get(void) {
  mine[0] += shmem_long_g(&word, 0);
}
static void get_long(void) {
  shmem_long_get(mine, block, kLong, 0);
}
static void add(void) {
  shmem_long_atomic_add(&word, 1, 0);
}
static void fetch_add(void) {
  mine[0] += shmem_long_atomic_fetch_add(&word, 1, 0);
}
static void fence(void) {
  shmem_long_p(&word, 1, 0);
  shmem_fence();
  shmem_long_p(&word, 2, 0);
}
static void context(void) {
  shmem_ctx_t ctx;
  if (shmem_ctx_create(0, &ctx) != 0) return;
  shmem_ctx_long_p(ctx, &word, 1, 0);
  shmem_ctx_quiet(ctx);
  shmem_ctx_destroy(ctx);
}
static void wait_until(void) {
  shmem_long_wait_until(&never, SHMEM_CMP_EQ, 1);
}
static void wait_any(void) {
  shmem_long_wait_until_any(&never, 1, NULL, SHMEM_CMP_EQ, 1);
}
static void test_word(void) {
  mine[0] += shmem_long_test(&never, SHMEM_CMP_EQ, 1);
}
static void set_lock(void) {
  shmem_set_lock(&lock);
}  // PE 0 has it
static void sync_team(void) {
  shmem_team_sync(team);
}  // PE 0 never comes
static void reduce(void) {
  shmem_long_sum_reduce(team, block, block + 64, 64);
}
static void broadcast(void) {
  shmem_long_broadcast(team, block, block + 1024, 1024, 0);
}

static const struct {
  const char* name;
  void (*call)(void);
} kCalls[] = {{"put", put},
              {"put_long", put_long},
              {"put_nbi", put_nbi},
              {"put_signal", put_signal},
              {"get", get},
              {"get_long", get_long},
              {"add", add},
              {"fetch_add", fetch_add},
              {"fence", fence},
              {"context", context},
              {"wait_until", wait_until},
              {"wait_any", wait_any},
              {"test", test_word},
              {"set_lock", set_lock},
              {"sync", sync_team},
              {"reduce", reduce},
              {"broadcast", broadcast}};

static void* call_on_and_on(void* call) {
  for (;;) {
    atomic_store(&started, 1);
    (*(void (*const*)(void))call)();
  }
  return NULL;
}

int main(int argc, char** argv) {
  alarm(40);  // a hang must not outlive the test
  size_t chosen = 0;
  while (chosen < sizeof kCalls / sizeof *kCalls && strcmp(kCalls[chosen].name, argc > 1 ? argv[1] : "") != 0) ++chosen;
  if (chosen == sizeof kCalls / sizeof *kCalls) return kNoStart;
  int provided;
  if (shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided) != 0) return kNoStart;
  block = shmem_malloc(kLong * sizeof *block);
  mine = calloc(kLong, sizeof *mine);
  if (shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, shmem_n_pes(), NULL, 0, &team) != 0) return kNoStart;
  const int me = shmem_my_pe();
  if (me == 0) shmem_set_lock(&lock);
  shmem_barrier_all();
  pthread_t thread;
  if (me == 1) {
    if (pthread_create(&thread, NULL, call_on_and_on, (void*)&kCalls[chosen].call) != 0) return kNoStart;
    while (!atomic_load(&started)) sched_yield();
  }
  shmem_finalize();
  if (me == 1) {
    pthread_join(thread, NULL);  // ends the job
    return kUnnoticed;
  }
  return 0;
}
