// SPDX-License-Identifier: BSD-3-Clause
//
// Hello: every PE says who it is and puts its number into the next PE's memory.
#include <shmem.h>
#include <stdio.h>

static long greeting = -1;  // a global object is symmetric: every PE has one, and others can reach it

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  const int npes = shmem_n_pes();
  const int next = (me + 1) % npes;
  const int previous = (me + npes - 1) % npes;

  shmem_long_p(&greeting, me, next);  // into the next PE's greeting
  shmem_barrier_all();                // all puts are complete, everywhere

  printf("PE %d of %d was greeted by PE %ld\n", me, npes, greeting);
  const int ok = greeting == previous;
  if (!ok) fprintf(stderr, "PE %d expected a greeting from PE %d\n", me, previous);
  shmem_finalize();
  return ok ? 0 : 1;
}
