// SPDX-License-Identifier: BSD-3-Clause
//
// One mistake, named by the first argument, that only SHMEM_CHECK=1 finds; the library must end the job and say where
// it was made. A mistake that goes unnoticed ends with status 3, which no test accepts.
#include <pthread.h>
#include <shmem.h>
#include <shmemx.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kUnnoticed = 3, kWords = 1000 };

static long* words;
static long more[kWords];
static int me;
static int npes;

static void malloc_sizes(void) {
  shmem_malloc(me == 1 ? 64 : 128);
}
static void malloc_or_free(void) {
  if (me == 1)
    shmem_free(words);
  else
    shmem_malloc(64);
}
static void free_others(void) {
  long* other = shmem_malloc(64);
  shmem_free(me == 1 ? other : words);
}
static void align_differs(void) {
  shmem_align(me == 1 ? 256 : 128, 64);
}
static void hints_differ(void) {
  shmem_malloc_with_hints(64, me == 1 ? SHMEMX_MALLOC_SET_ONLY : 0);
}
static void barrier_or_sync(void) {
  if (me == 1)
    shmem_sync_all();
  else
    shmem_barrier_all();
}
static void barrier_or_finalize(void) {
  if (me == 1)
    shmem_finalize();
  else
    shmem_barrier_all();
}
/// PE 1 waits for a word that nobody writes while the others are in a barrier.
static void barrier_or_wait(void) {
  if (me == 1)
    shmem_long_wait_until(words, SHMEM_CMP_EQ, 17);
  else
    shmem_barrier_all();
}

static void put_overlap(void) {
  if (me == 1) shmem_long_put(words + 1, words, 10, me);
}
static void get_overlap(void) {
  if (me == 1) shmem_long_get(words, words + 9, 10, me);
}
/// Source and dest are one memory, dest by the address of shmem_ptr.
static void put_overlap_mapped(void) {
  if (me == 1) shmem_long_put(words, shmem_ptr(words, 0), 10, 0);
}
static void source_past_end(void) {
  // From the last word of the heap over its end; a page that is not there would otherwise be the first sign.
  char* last = (char*)words;
  while (shmem_addr_accessible(last + 4096, me)) last += 4096;
  while (shmem_addr_accessible(last + 1, me)) ++last;
  if (me == 1) shmem_putmem(words, last, 2, 0);
}
static void put_to_stack(void) {
  long on_stack = 0;
  if (me == 1) shmem_long_put(&on_stack, words, 1, 0);
}
/// No mistake here, but elsewhere.
static void put_to_itself(void) {
  long on_stack = 0;
  for (int i = 0; i < 3 && me == 1; ++i) {
    shmem_long_put(&on_stack, words, 1, 1);
    shmem_long_atomic_inc(&on_stack, 1);
  }
}
static void put_to_itself_past_end(void) {
  char* last = (char*)words;
  while (shmem_addr_accessible(last + 1, me)) ++last;
  if (me == 1) shmem_putmem(last, words, 2, 1);
}

static void broadcast_or_barrier(void) {
  if (me == 1)
    shmem_barrier_all();
  else
    shmem_long_broadcast(SHMEM_TEAM_WORLD, more, words, 10, 0);
}
static void broadcast_roots(void) {
  shmem_long_broadcast(SHMEM_TEAM_WORLD, more, words, 10, me == 1 ? 1 : 0);
}
static void broadcast_dests(void) {
  shmem_long_broadcast(SHMEM_TEAM_WORLD, more + me, words, 10, 0);
}
static void broadcast_sizes(void) {
  shmem_long_broadcast(SHMEM_TEAM_WORLD, more, words, me == 1 ? 11 : 10, 0);
}
static void broadcast_overlap(void) {
  shmem_long_broadcast(SHMEM_TEAM_WORLD, words + 5, words, 10, 0);
}
static void broadcast_from_stack(void) {
  long on_stack[10] = {0};
  shmem_long_broadcast(SHMEM_TEAM_WORLD, words, on_stack, 10, 0);
}
static void reduce_operations(void) {
  if (me == 1)
    shmem_long_max_reduce(SHMEM_TEAM_WORLD, more, words, 10);
  else
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, more, words, 10);
}
static void reduce_types(void) {
  if (me == 1)
    shmem_int_sum_reduce(SHMEM_TEAM_WORLD, (int*)more, (int*)words, 10);
  else
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, more, words, 10);
}
/// Only within its source may a dest be another on each PE.
static void reducescatter_dest(void) {
  shmemx_long_sum_reducescatter(SHMEM_TEAM_WORLD, me == 1 ? more : more + 1, words, 10);
}
static void reduce_overlap(void) {
  shmem_long_sum_reduce(SHMEM_TEAM_WORLD, words + 1, words, 10);
}
static void alltoall_past_end(void) {
  shmem_long_alltoall(SHMEM_TEAM_WORLD, words, more, (size_t)1 << 24);
}
static void alltoalls_strides(void) {
  shmem_long_alltoalls(SHMEM_TEAM_WORLD, more, words, me == 1 ? 2 : 1, 1, 10);
}
static void split_arguments(void) {
  shmem_team_t team;
  shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, me == 1 ? 2 : 3, NULL, 0, &team);
}
/// PE 1 waits in another team than the others.
static void teams_differ(void) {
  shmem_team_t team;
  shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, npes, NULL, 0, &team);
  shmem_team_sync(me == 1 ? team : SHMEM_TEAM_WORLD);
}
static void destroyed_team(void) {
  shmem_team_t team;
  shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, npes, NULL, 0, &team);
  shmem_team_destroy(team);
  shmem_long_broadcast(team, more, words, 10, 0);
}
static long sync_words[SHMEM_SYNC_SIZE];
static void psync_contents(void) {
  sync_words[5] = me == 1 ? 1000 : SHMEM_SYNC_VALUE;
  shmem_barrier(0, 0, npes, sync_words);
}
static void active_roots(void) {
  shmem_broadcast64(more, words, 10, me == 1 ? 1 : 0, 0, 0, npes, sync_words);
}
static void active_or_barrier(void) {
  if (me == 1)
    shmem_barrier_all();
  else
    shmem_fcollect32(more, words, 10, 0, 0, npes, sync_words);
}
static shmem_ctx_t ctx;
static void* use_context(void* unused) {
  shmem_ctx_long_put(ctx, words, more, 1, 0);
  return unused;
}
static void* destroy_context(void* unused) {
  shmem_ctx_destroy(ctx);
  return unused;
}
static void with_private_context(void* (*what)(void*)) {
  pthread_t thread;
  shmem_ctx_create(SHMEM_CTX_PRIVATE, &ctx);
  pthread_create(&thread, NULL, what, NULL);
  pthread_join(thread, NULL);
}
static void private_context(void) {
  with_private_context(use_context);
}
static void private_context_destroyed(void) {
  with_private_context(destroy_context);
}

static const struct {
  const char* name;
  void (*make)(void);
} kMistakes[] = {
    {"psync_contents", psync_contents},
    {"active_roots", active_roots},
    {"active_or_barrier", active_or_barrier},
    {"broadcast_or_barrier", broadcast_or_barrier},
    {"broadcast_roots", broadcast_roots},
    {"broadcast_dests", broadcast_dests},
    {"broadcast_sizes", broadcast_sizes},
    {"broadcast_overlap", broadcast_overlap},
    {"broadcast_from_stack", broadcast_from_stack},
    {"reduce_operations", reduce_operations},
    {"reduce_types", reduce_types},
    {"reducescatter_dest", reducescatter_dest},
    {"reduce_overlap", reduce_overlap},
    {"alltoall_past_end", alltoall_past_end},
    {"alltoalls_strides", alltoalls_strides},
    {"split_arguments", split_arguments},
    {"teams_differ", teams_differ},
    {"destroyed_team", destroyed_team},
    {"private_context", private_context},
    {"private_context_destroyed", private_context_destroyed},

    {"malloc_sizes", malloc_sizes},
    {"hints_differ", hints_differ},
    {"malloc_or_free", malloc_or_free},
    {"free_others", free_others},
    {"align_differs", align_differs},
    {"barrier_or_sync", barrier_or_sync},
    {"barrier_or_finalize", barrier_or_finalize},
    {"barrier_or_wait", barrier_or_wait},
    {"put_overlap", put_overlap},
    {"get_overlap", get_overlap},
    {"put_overlap_mapped", put_overlap_mapped},
    {"source_past_end", source_past_end},
    {"put_to_stack", put_to_stack},
    {"put_to_itself_past_end", put_to_itself_past_end},
};

/// Each PE is the root twice. One round over a network takes 100 ms, and ten times that where PEs wait for a CPU.
static const int kRounds = 6;

/// A little of everything, without a mistake: the checks must keep quiet.
static int no_mistake(void) {
  static long work[SHMEM_REDUCE_MIN_WRKDATA_SIZE + 10];
  for (int round = 0; round < kRounds; ++round) {
    long* block = shmem_calloc(kWords, sizeof(long));
    shmem_long_put(block, more, kWords, (me + 1) % npes);
    shmem_long_get(more, words, kWords, (me + 1) % npes);
    shmem_long_put(block, words, kWords, me);
    shmem_barrier_all();
    shmem_long_atomic_inc(words, 0);
    shmem_sync_all();
    block = shmem_realloc(block, 2 * kWords * sizeof(long));
    shmem_long_broadcast(SHMEM_TEAM_WORLD, more, words, 10, round % npes);
    shmem_long_collect(SHMEM_TEAM_WORLD, more, words, (size_t)me);
    shmem_long_fcollect(SHMEM_TEAM_WORLD, more, words, 10);
    shmem_long_alltoall(SHMEM_TEAM_WORLD, more, words, 10);
    shmem_long_alltoalls(SHMEM_TEAM_WORLD, more, words, 2, 3, 10);
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, words, words, 10);
    shmem_long_sum_inscan(SHMEM_TEAM_WORLD, more, words, 10);
    shmemx_long_sum_reducescatter(SHMEM_TEAM_WORLD, words + 10 * me, words, 10);
    shmem_long_max_reduce(SHMEM_TEAM_WORLD, NULL, NULL, 0);
    shmem_barrier(0, 0, npes, sync_words);
    shmem_long_sum_to_all(more, more, 10, 0, 0, npes, work, sync_words);
    shmem_collect64(more, words, (size_t)me, 0, 0, npes, sync_words);
    if (me < 2 && npes > 1) shmem_broadcast64(more, words, 10, 1, 0, 0, 2, sync_words);
    shmem_sync_all();
    shmem_team_t team;
    shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 2, (npes + 1) / 2, NULL, 0, &team);
    if (me % 2 == 0) {
      shmem_team_sync(team);
      shmem_long_sum_reduce(team, more, words, 10);
      shmem_team_destroy(team);
    }
    shmem_free(block);
    shmem_free(NULL);
  }
  shmem_free(words);
  shmem_finalize();
  return 0;
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "";
  alarm(40);  // a hang must not outlive the test
  int provided;
  // Collectives of active sets are compared only where one thread makes them.
  const int needs_threads = strncmp(what, "private_context", 15) == 0;
  shmem_init_thread(needs_threads ? SHMEM_THREAD_MULTIPLE : SHMEM_THREAD_SERIALIZED, &provided);
  me = shmem_my_pe();
  npes = shmem_n_pes();
  words = shmem_calloc(kWords, sizeof(long));
  if (!words) return 4;
  if (strcmp(what, "no_mistake") == 0) return no_mistake();
  if (strcmp(what, "put_to_itself") == 0) {
    put_to_itself();
    shmem_finalize();
    return 0;
  }
  for (size_t i = 0; i < sizeof kMistakes / sizeof *kMistakes; ++i)
    if (strcmp(kMistakes[i].name, what) == 0) kMistakes[i].make();
  shmem_barrier_all();
  fprintf(stderr, "the library did not notice: %s\n", what);
  _exit(kUnnoticed);
}
