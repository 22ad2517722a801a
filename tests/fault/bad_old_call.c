// SPDX-License-Identifier: BSD-3-Clause
//
// One mistake with a lock or with a collective of an active set, named by the first argument; the library must end the
// job and say why. A mistake that goes unnoticed ends with status 3, which no test accepts.
#include <shmem.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { kUnnoticed = 3, kUnknown = 4 };

static long psync[SHMEM_SYNC_SIZE];
static long* words;
static long* lock;
static int npes;

static void clear_free_lock(void) {
  shmem_clear_lock(lock);
}
static void clear_lock_of_other(void) {
  if (shmem_my_pe() == 0) shmem_set_lock(lock);
  shmem_barrier_all();
  if (shmem_my_pe() == 1) shmem_clear_lock(lock);
  shmem_barrier_all();
}
static void set_lock_twice(void) {
  shmem_set_lock(lock);
  shmem_set_lock(lock);
}
static void lock_on_stack(void) {
  long on_stack = 0;
  shmem_set_lock(&on_stack);
}
static void lock_misaligned(void) {
  shmem_set_lock((long*)((char*)lock + 4));
}
static void lock_not_zero(void) {
  for (int i = 0; i < 64; ++i) lock[i] = -1;
  shmem_test_lock(lock);
}
static void null_lock(void) {
  shmem_test_lock(NULL);
}

static void start_too_large(void) {
  shmem_barrier(npes, 0, 1, psync);
}
static void start_negative(void) {
  shmem_sync(-1, 0, 1, psync);
}
static void stride_negative(void) {
  shmem_barrier(0, -1, 2, psync);
}
static void size_zero(void) {
  shmem_sync(0, 0, 0, psync);
}
static void past_the_world(void) {
  shmem_fcollect64(words, words + 8, 1, 1, 1, 2, psync);
}
static void root_outside(void) {
  shmem_broadcast32(words, words + 8, 1, npes, 0, 0, npes, psync);
}
static void null_psync(void) {
  shmem_collect32(words, words + 8, 1, 0, 0, npes, NULL);
}
static void psync_on_stack(void) {
  long on_stack[SHMEM_SYNC_SIZE] = {0};
  shmem_alltoall64(words, words + 8, 1, 0, 0, npes, on_stack);
}
static void psync_misaligned(void) {
  shmem_alltoall32(words, words + 8, 1, 0, 0, npes, (long*)((char*)words + 4));
}
static void dest_on_stack(void) {
  long on_stack[4];
  shmem_fcollect64(on_stack, words, 1, 0, 0, npes, psync);
}
static void source_on_stack(void) {
  long on_stack = 1;
  shmem_long_sum_to_all(words, &on_stack, 1, 0, 0, npes, words + 8, psync);
}
static void stride_zero(void) {
  shmem_alltoalls64(words, words + 8, 0, 1, 1, 0, 0, npes, psync);
}
static void count_negative(void) {
  shmem_int_max_to_all((int*)words, (int*)words + 8, -1, 0, 0, npes, (int*)words + 16, psync);
}
static void count_overflow(void) {
  shmem_fcollect64(words, words + 8, (size_t)1 << 61, 0, 0, npes, psync);
}
/// The only one that must be survived: a PE that is not in the set returns, with a warning.
static void outsider(void) {
  for (int i = 0; i < 3; ++i) shmem_barrier(0, 0, 1, psync);
  for (int i = 0; i < 3; ++i) shmem_broadcast64(words, words + 8, 1, 0, 0, 0, 1, psync);
}

static const struct {
  const char* name;
  void (*make)(void);
} kMistakes[] = {
    {"clear_free_lock", clear_free_lock},
    {"clear_lock_of_other", clear_lock_of_other},
    {"set_lock_twice", set_lock_twice},
    {"lock_on_stack", lock_on_stack},
    {"lock_misaligned", lock_misaligned},
    {"lock_not_zero", lock_not_zero},
    {"null_lock", null_lock},
    {"start_too_large", start_too_large},
    {"start_negative", start_negative},
    {"stride_negative", stride_negative},
    {"size_zero", size_zero},
    {"past_the_world", past_the_world},
    {"root_outside", root_outside},
    {"null_psync", null_psync},
    {"psync_on_stack", psync_on_stack},
    {"psync_misaligned", psync_misaligned},
    {"dest_on_stack", dest_on_stack},
    {"source_on_stack", source_on_stack},
    {"stride_zero", stride_zero},
    {"count_negative", count_negative},
    {"count_overflow", count_overflow},
    {"outsider", outsider},
};

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "";
  alarm(40);  // a hang must not outlive the test
  shmem_init();
  npes = shmem_n_pes();
  words = shmem_calloc(64, sizeof(long));
  lock = shmem_calloc(64, sizeof(long));
  for (size_t i = 0; i < sizeof kMistakes / sizeof *kMistakes; ++i) {
    if (strcmp(kMistakes[i].name, what) != 0) continue;
    kMistakes[i].make();
    shmem_barrier_all();
    if (strcmp(what, "outsider") == 0) {
      shmem_finalize();
      return 0;
    }
    fprintf(stderr, "the library did not notice: %s\n", what);
    _exit(kUnnoticed);
  }
  fprintf(stderr, "bad_old_call knows no mistake called %s\n", what);
  return kUnknown;
}
