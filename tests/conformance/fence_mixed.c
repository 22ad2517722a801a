// SPDX-License-Identifier: BSD-3-Clause
//
// Fence between objects that a PE may reach in two ways: the data is a global, the flag is in the heap, or the data
// is in the heap and the flag is a global. With SHMEM_DATA_SEGMENT=network the one travels and the other is stored at
// once.
#include "check.h"

enum { kWords = 1 << 16 };
static long data[kWords];
static long flag;
static long source[kWords];

static void expect_all(const long* words, long value) {
  for (int i = 0; i < kWords; ++i) CHECK_EQ(words[i], value);
}

/// `to` receives long data, then a flag.
static void rounds_of(long* to, long* told, long* taken) {
  const int me = shmem_my_pe();
  const int npes = shmem_n_pes();
  const int right = (me + 1) % npes;
  const int left = (me + npes - 1) % npes;
  const int rounds = check_rounds(100);
  for (long r = 1; r <= rounds; ++r) {
    for (int i = 0; i < kWords; ++i) source[i] = r;
    shmem_long_put_nbi(to, source, kWords, right);
    shmem_fence();
    if (r % 2 == 0)
      shmem_long_p(told, r, right);
    else
      shmem_long_atomic_set(told, r, right);
    shmem_long_wait_until(told, SHMEM_CMP_EQ, r);
    expect_all(to, r);
    shmem_long_p(taken, r, left);
    shmem_quiet();
    shmem_long_wait_until(taken, SHMEM_CMP_EQ, r);
  }
}

int main(void) {
  check_prepare("fence_mixed");
  shmem_init();
  long* heap = shmem_calloc(kWords + 2, sizeof(long));
  CHECK(heap != NULL, "no memory");
  long* taken = heap + kWords + 1;
  check_step("data in a global, flag in the heap");
  rounds_of(data, heap + kWords, taken);
  shmem_barrier_all();
  *taken = 0;
  shmem_barrier_all();
  check_step("data in the heap, flag in a global");
  rounds_of(heap, &flag, taken);
  shmem_free(heap);
  return check_end();
}
