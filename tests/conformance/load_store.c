// SPDX-License-Identifier: BSD-3-Clause
//
// shmem_ptr: where it gives an address, plain stores there reach the other PE. Where it gives NULL, it does so on both
// sides.
//
// Prints which PEs each PE reaches by load and store. With CONFORMANCE_NODE=k a PE must reach exactly the PEs of its
// block of k consecutive ones; with 0, itself only.
#include "check.h"

enum { kWords = 1000 };

static long global_word = 5;
static int me, npes;

static void check_reach(const int* reach, const long* words) {
  long on_stack = 0;
  char line[256] = "";
  for (int pe = 0; pe < npes && pe < 32; ++pe)
    if (reach[pe]) snprintf(line + strlen(line), sizeof line - strlen(line), " %d", pe);
  printf("PE %d reaches by load and store:%s\n", me, line);
  CHECK(reach[me], "PE %d does not reach itself", me);
  CHECK(shmem_ptr(words, me) == (const void*)words, "own memory %p is seen at %p", (const void*)words,
        shmem_ptr(words, me));
  for (int pe = 0; pe < npes; ++pe) {
    CHECK(shmem_ptr(&on_stack, pe) == NULL, "PE %d: the stack of this PE has an address there", pe);
    const long* const theirs = shmem_ptr(&global_word, pe);
    if (theirs && pe != me) CHECK(theirs != &global_word, "PE %d: its global is taken for this PE's own", pe);
  }
  const char* node = getenv("CONFORMANCE_NODE");
  if (!node) return;
  const int k = atoi(node);
  for (int pe = 0; pe < npes; ++pe) CHECK_EQ(reach[pe], k == 0 ? pe == me : pe / k == me / k);
}

/// A PE that can store into this PE's memory can be stored into by this PE.
static void test_symmetry(const int* reach, int* reached_from) {
  check_step("reach is mutual");
  for (int pe = 0; pe < npes; ++pe) shmem_int_p(reached_from + me, reach[pe], pe);
  shmem_barrier_all();
  for (int pe = 0; pe < npes; ++pe) CHECK_EQ(reached_from[pe], reach[pe]);
}

static void test_stores(const int* reach, long* words) {
  check_step("stores");
  for (int to = 0; to < npes; ++to) {  // one target after the other, written by its right neighbour
    const int from = (to + 1) % npes;
    if (me == from && reach[to]) {
      long* const theirs = shmem_ptr(words, to);
      for (int i = 0; i < kWords; ++i) theirs[i] = from * 10000L + i;
    }
    shmem_barrier_all();
    if (me == to && reach[from])
      for (int i = 0; i < kWords; ++i) CHECK_EQ(words[i], from * 10000L + i);
    shmem_barrier_all();
  }
  check_step("loads");
  for (int i = 0; i < kWords; ++i) words[i] = me * 77L + i;
  shmem_barrier_all();
  for (int pe = 0; pe < npes; ++pe) {
    if (!reach[pe]) continue;
    const long* const theirs = shmem_ptr(words, pe);
    for (int i = 0; i < kWords; ++i) CHECK_EQ(theirs[i], pe * 77L + i);
  }
  shmem_barrier_all();
}

/// Data by plain stores, then fence, then a flag by p: the store comes first.
static void test_fenced_stores(const int* reach, long* words, long* flag) {
  const int right = (me + 1) % npes, left = (me + npes - 1) % npes;
  long* const theirs = shmem_ptr(words, right);
  check_step("stores, fence, flag");
  *flag = 0;
  shmem_barrier_all();
  for (int r = 0; r < kWords; ++r) {
    if (reach[right]) {
      theirs[r] = me * 5000L + r;
      shmem_fence();
      shmem_long_p(flag, r + 1, right);
    }
    if (reach[left]) {
      shmem_long_wait_until(flag, SHMEM_CMP_GE, r + 1);
      CHECK_EQ(words[r], left * 5000L + r);
    }
  }
  shmem_barrier_all();
}

int main(void) {
  check_begin("load_store");
  me = shmem_my_pe();
  npes = shmem_n_pes();
  long* words = check_alloc(kWords * sizeof(long));
  long* flag = check_alloc(sizeof(long));
  int* reached_from = check_alloc((size_t)npes * sizeof(int));
  int* reach = malloc((size_t)npes * sizeof(int));
  CHECK(reach != NULL, "malloc gave NULL for %d PEs", npes);
  for (int pe = 0; pe < npes; ++pe) reach[pe] = shmem_ptr(words, pe) != NULL;
  check_step("who is reached");
  check_reach(reach, words);
  test_symmetry(reach, reached_from);
  test_stores(reach, words);
  test_fenced_stores(reach, words, flag);
  free(reach);
  return check_end();
}
