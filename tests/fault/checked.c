// SPDX-License-Identifier: BSD-3-Clause
//
// One mistake, named by the first argument, that only SHMEM_CHECK=1 finds; the library must end the job and say where
// it was made. A mistake that goes unnoticed ends with status 3, which no test accepts.
#include <shmem.h>
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
/// The same memory by another address.
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

static const struct {
  const char* name;
  void (*make)(void);
} kMistakes[] = {
    {"malloc_sizes", malloc_sizes},       {"malloc_or_free", malloc_or_free},
    {"free_others", free_others},         {"align_differs", align_differs},
    {"barrier_or_sync", barrier_or_sync}, {"barrier_or_finalize", barrier_or_finalize},
    {"barrier_or_wait", barrier_or_wait}, {"put_overlap", put_overlap},
    {"get_overlap", get_overlap},         {"put_overlap_mapped", put_overlap_mapped},
    {"source_past_end", source_past_end}, {"put_to_stack", put_to_stack},
};

/// A little of everything, without a mistake: the checks must keep quiet.
static int no_mistake(void) {
  for (int round = 0; round < 20; ++round) {
    long* block = shmem_calloc(kWords, sizeof(long));
    shmem_long_put(block, more, kWords, (me + 1) % npes);
    shmem_long_get(more, words, kWords, (me + 1) % npes);
    shmem_long_put(block, words, kWords, me);
    shmem_barrier_all();
    shmem_long_atomic_inc(words, 0);
    shmem_sync_all();
    block = shmem_realloc(block, 2 * kWords * sizeof(long));
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
  shmem_init();
  me = shmem_my_pe();
  npes = shmem_n_pes();
  words = shmem_calloc(kWords, sizeof(long));
  if (!words) return 4;
  if (strcmp(what, "no_mistake") == 0) return no_mistake();
  for (size_t i = 0; i < sizeof kMistakes / sizeof *kMistakes; ++i)
    if (strcmp(kMistakes[i].name, what) == 0) kMistakes[i].make();
  shmem_barrier_all();
  fprintf(stderr, "the library did not notice: %s\n", what);
  _exit(kUnnoticed);
}
