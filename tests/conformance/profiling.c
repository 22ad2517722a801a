// SPDX-License-Identifier: BSD-3-Clause
//
// A profiling tool defines shmem_ functions of its own and calls the pshmem_ twins; programs call as ever.
#include <pshmem.h>

#include "check.h"

static int puts_seen, mallocs_seen, barriers_seen, adds_seen;

void shmem_long_put(long* dest, const long* source, size_t nelems, int pe) {
  ++puts_seen;
  pshmem_long_put(dest, source, nelems, pe);
}

void* shmem_malloc(size_t size) {
  ++mallocs_seen;
  return pshmem_malloc(size);
}

void shmem_barrier_all(void) {
  ++barriers_seen;
  pshmem_barrier_all();
}

long shmem_long_atomic_fetch_add(long* dest, long value, int pe) {
  ++adds_seen;
  return pshmem_long_atomic_fetch_add(dest, value, pe);
}

int main(void) {
  check_begin("profiling");
  const int me = shmem_my_pe(), npes = shmem_n_pes();
  const int right = (me + 1) % npes, left = (me + npes - 1) % npes;
  CHECK_EQ(pshmem_my_pe(), me);
  CHECK_EQ(pshmem_n_pes(), npes);
  long* words = check_alloc(10 * sizeof(long));
  CHECK_EQ(mallocs_seen, 1);
  const long values[2] = {me + 1, me + 2};
  shmem_long_put(words, values, 2, right);
  shmem_put(words + 2, values, 2, right);  // the generic name goes through the typed function, so the tool sees it
  CHECK_EQ(puts_seen, 2);
  pshmem_long_put(words + 4, values, 2, right);
  CHECK_EQ(puts_seen, 2);
  const int barriers_before = barriers_seen;
  shmem_barrier_all();
  CHECK_EQ(barriers_seen, barriers_before + 1);
  for (int i = 0; i < 6; ++i) CHECK_EQ(words[i], left + 1 + i % 2);
  pshmem_barrier_all();
  words[9] = 0;
  pshmem_barrier_all();
  shmem_long_atomic_fetch_add(words + 9, 5, right);
  pshmem_barrier_all();
  CHECK_EQ(words[9], 5);
  CHECK_EQ(adds_seen, 1);
  CHECK_EQ(barriers_seen, barriers_before + 1);
  shmem_free(words);
  return check_end();
}
