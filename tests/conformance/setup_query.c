// SPDX-License-Identifier: BSD-3-Clause
//
// Start and end of the library, nested and repeated, and the questions it answers.
#include "check.h"

static long global_word = 3;

static int initialized(void) {
  int up = -1;
  shmem_query_initialized(&up);
  return up;
}

static void test_queries(void) {
  const int me = shmem_my_pe(), npes = shmem_n_pes();
  long on_stack = 0;
  check_step("queries");
  CHECK(npes >= 1 && me >= 0 && me < npes, "PE %d of %d", me, npes);
  int major = 0, minor = 0;
  shmem_info_get_version(&major, &minor);
  CHECK_EQ(major, SHMEM_MAJOR_VERSION);
  CHECK_EQ(minor, SHMEM_MINOR_VERSION);
  char name[SHMEM_MAX_NAME_LEN + 8];
  memset(name, 'x', sizeof name);
  shmem_info_get_name(name);
  CHECK(memchr(name, 0, SHMEM_MAX_NAME_LEN) != NULL, "no end within %d characters", SHMEM_MAX_NAME_LEN);
  CHECK(strcmp(name, SHMEM_VENDOR_STRING) == 0, "'%s' is not '%s'", name, SHMEM_VENDOR_STRING);
  CHECK_EQ(name[SHMEM_MAX_NAME_LEN], 'x');
  void* free_store = malloc(64);
  long* heap = check_alloc(64);
  for (int pe = 0; pe < npes; ++pe) {
    CHECK_EQ(shmem_pe_accessible(pe), 1);
    CHECK_EQ(shmem_addr_accessible(heap, pe), 1);
    CHECK_EQ(shmem_addr_accessible(&global_word, pe), 1);
    CHECK_EQ(shmem_addr_accessible(&on_stack, pe), 0);
    CHECK_EQ(shmem_addr_accessible(free_store, pe), 0);
    CHECK_EQ(shmem_addr_accessible(NULL, pe), 0);
  }
  CHECK_EQ(shmem_pe_accessible(-1), 0);
  CHECK_EQ(shmem_pe_accessible(npes), 0);
  shmem_pcontrol(0);
  shmem_pcontrol(2, "ignored", 5);
  shmem_free(heap);
  free(free_store);
}

/// Every PE number from 0 to n - 1 is taken by exactly one PE.
static void test_numbers(void) {
  const int me = shmem_my_pe(), npes = shmem_n_pes();
  check_step("PE numbers");
  int* taken = shmem_calloc((size_t)npes, sizeof(int));
  CHECK(taken != NULL, "shmem_calloc gave NULL for %d PEs", npes);
  for (int pe = 0; pe < npes; ++pe) shmem_int_atomic_inc(taken + me, pe);
  shmem_barrier_all();
  for (int pe = 0; pe < npes; ++pe) CHECK_EQ(taken[pe], 1);
  shmem_free(taken);
}

static void test_nesting(void) {
  check_step("nested start");
  const int npes = shmem_n_pes();
  long* word = check_alloc(sizeof(long));
  for (int depth = 0; depth < 3; ++depth) shmem_init();
  int provided = -1;
  CHECK_EQ(shmem_init_thread(SHMEM_THREAD_SINGLE, &provided), 0);
  *word = 0;
  shmem_barrier_all();
  shmem_long_atomic_inc(word, 0);
  shmem_finalize();  // an inner one is a barrier and nothing else
  if (shmem_my_pe() == 0) CHECK_EQ(*word, npes);
  for (int depth = 0; depth < 3; ++depth) {
    CHECK_EQ(initialized(), 1);
    shmem_finalize();
  }
  CHECK_EQ(initialized(), 1);
  CHECK_EQ(shmem_long_g(word, 0), npes);
  shmem_barrier_all();
  shmem_free(word);
}

/// Down completely and up again: the heap is fresh, transfers work, the PE keeps its number.
static void test_again(int pe_before, int npes_before) {
  for (int round = 0; round < (check_quick() ? 2 : 4); ++round) {
    check_step("start again, round %d", round);
    shmem_init();
    CHECK_EQ(initialized(), 1);
    CHECK_EQ(shmem_my_pe(), pe_before);
    CHECK_EQ(shmem_n_pes(), npes_before);
    const int right = (pe_before + 1) % npes_before, left = (pe_before + npes_before - 1) % npes_before;
    int* block = check_alloc(100000 * sizeof(int));
    global_word = -1;
    shmem_barrier_all();
    shmem_int_p(block + 99999, pe_before + round, right);
    shmem_long_p(&global_word, pe_before + 2L * round, right);
    shmem_barrier_all();
    CHECK_EQ(block[99999], left + round);
    CHECK_EQ(global_word, left + 2L * round);
    // The block is left to finalize.
    shmem_finalize();
    CHECK_EQ(initialized(), 0);
  }
}

int main(void) {
  check_prepare("setup_query");
  check_step("before the start");
  CHECK_EQ(initialized(), 0);
  int provided = -1;
  for (int level = SHMEM_THREAD_SINGLE; level <= SHMEM_THREAD_MULTIPLE; ++level) {
    check_step("start with thread level %d", level);
    CHECK_EQ(shmem_init_thread(level, &provided), 0);
    CHECK(provided >= level && provided <= SHMEM_THREAD_MULTIPLE, "asked for %d, got %d", level, provided);
    int asked = -1;
    shmem_query_thread(&asked);
    CHECK_EQ(asked, provided);
    CHECK_EQ(initialized(), 1);
    shmem_finalize();
    CHECK_EQ(initialized(), 0);
  }
  check_step("start");
  shmem_init();
  const int pe = shmem_my_pe(), npes = shmem_n_pes();
  test_queries();
  test_numbers();
  test_nesting();
  shmem_finalize();
  test_again(pe, npes);
  return check_result(pe, npes);
}
