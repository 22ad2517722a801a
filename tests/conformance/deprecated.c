// SPDX-License-Identifier: BSD-3-Clause
//
// The old names do what the new ones do. The program begins with start_pes and ends without finalize, as old programs
// did: the library adds the collective end at exit.
#include <mpp/shmem.h>

#include "check.h"
#include "type_lists.h"

static int me, npes, right;

#define TEST_AMO(N, T)                                 \
  {                                                    \
    T* const word = room;                              \
    check_step("old atomics of %s", #N);               \
    *word = 5;                                         \
    shmem_barrier_all();                               \
    CHECK_EQ(shmem_##N##_cswap(word, 5, 8, right), 5); \
    CHECK_EQ(shmem_##N##_cswap(word, 5, 9, right), 8); \
    CHECK_EQ(shmem_##N##_finc(word, right), 8);        \
    shmem_##N##_inc(word, right);                      \
    CHECK_EQ(shmem_##N##_fadd(word, 10, right), 10);   \
    shmem_##N##_add(word, -3, right);                  \
    shmem_barrier_all();                               \
    CHECK_EQ(*word, 17);                               \
    shmem_barrier_all();                               \
  }

#define TEST_EXTENDED(N, T)                          \
  {                                                  \
    T* const word = room;                            \
    check_step("old fetch, set and swap of %s", #N); \
    *word = 1;                                       \
    shmem_barrier_all();                             \
    shmem_##N##_set(word, 6, right);                 \
    CHECK_EQ(shmem_##N##_swap(word, 7, right), 6);   \
    CHECK_EQ(shmem_##N##_fetch(word, right), 7);     \
    shmem_barrier_all();                             \
    CHECK_EQ(*word, 7);                              \
    shmem_barrier_all();                             \
  }

#define TEST_WAIT(N, T)               \
  {                                   \
    T* const word = room;             \
    check_step("old wait of %s", #N); \
    *word = 1;                        \
    shmem_barrier_all();              \
    shmem_##N##_p(word, 2, right);    \
    shmem_##N##_wait(word, 1);        \
    CHECK_EQ(*word, 2);               \
    shmem_barrier_all();              \
  }

static void test_plain_waits(long* word) {
  check_step("waits without a type");
  *word = 0;
  shmem_barrier_all();
  shmem_long_p(word, 3, right);
  shmem_wait(word, 0);
  CHECK_EQ(*word, 3);
  shmem_barrier_all();
  shmem_long_p(word, 4, right);
  shmem_wait_until(word, SHMEM_CMP_GT, 3);
  CHECK_EQ(*word, 4);
  shmem_barrier_all();
}

static void test_heap(void) {
  check_step("old heap names");
  long* block = shmalloc(100 * sizeof(long));
  CHECK(block != NULL, "shmalloc gave %p", (void*)block);
  block[99] = me + 4;
  block = shrealloc(block, 5000 * sizeof(long));
  CHECK(block != NULL && block[99] == me + 4, "shrealloc gave %p", (void*)block);
  long* aligned = shmemalign(4096, 10);
  CHECK(aligned != NULL && (uintptr_t)aligned % 4096 == 0, "shmemalign gave %p", (void*)aligned);
  shmem_barrier_all();
  CHECK_EQ(shmem_long_g(block + 99, right), right + 4);
  shfree(aligned);
  shfree(block);
}

/// The old generics and constants are spelled as before.
static void test_spellings(long* word) {
  check_step("old generics and constants");
  *word = 1;
  shmem_barrier_all();
  CHECK_EQ(shmem_cswap(word, 1, 2, right), 1);
  CHECK_EQ(shmem_finc(word, right), 2);
  shmem_inc(word, right);
  CHECK_EQ(shmem_fadd(word, 3, right), 4);
  shmem_add(word, 3, right);
  CHECK_EQ(shmem_swap(word, 20, right), 10);
  CHECK_EQ(shmem_fetch(word, right), 20);
  shmem_set(word, 21, right);
  shmem_barrier_all();
  CHECK_EQ(*word, 21);
  CHECK_EQ(_SHMEM_CMP_EQ, SHMEM_CMP_EQ);
  CHECK_EQ(_SHMEM_MAJOR_VERSION, SHMEM_MAJOR_VERSION);
  shmem_barrier_all();
}

int main(void) {
  check_prepare("deprecated");
  start_pes(0);
  me = _my_pe();
  npes = _num_pes();
  CHECK_EQ(me, shmem_my_pe());
  CHECK_EQ(npes, shmem_n_pes());
  right = (me + 1) % npes;
  void* room = shmalloc(16);
  CHECK(room != NULL, "shmalloc gave %p", room);
  RAILSHMEM_FOR_OLD_AMO_TYPES(TEST_AMO)
  RAILSHMEM_FOR_OLD_AMO_EXTENDED_TYPES(TEST_EXTENDED)
  RAILSHMEM_FOR_OLD_WAIT_TYPES(TEST_WAIT)
  test_plain_waits(room);
  test_heap();
  test_spellings(room);
  check_step("the implied end");
  return check_result(me, npes);
}
