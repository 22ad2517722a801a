// SPDX-License-Identifier: BSD-3-Clause
//
// Two PEs hand a number back and forth: first each waits for it, then it polls by the test function that the first
// argument names. The second argument is the number of rounds. Prints the seconds of both ways.
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static long turn = 0;
static long rounds = 400;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void await(const char* how, long value) {
  size_t index;
  if (strcmp(how, "wait") == 0) {
    shmem_long_wait_until(&turn, SHMEM_CMP_GE, value);
  } else if (strcmp(how, "test") == 0) {
    while (!shmem_long_test(&turn, SHMEM_CMP_GE, value)) {
    }
  } else if (strcmp(how, "test_all") == 0) {
    while (!shmem_long_test_all(&turn, 1, NULL, SHMEM_CMP_GE, value)) {
    }
  } else if (strcmp(how, "test_any") == 0) {
    while (shmem_long_test_any(&turn, 1, NULL, SHMEM_CMP_GE, value) != 0) {
    }
  } else {
    while (shmem_long_test_some(&turn, 1, &index, NULL, SHMEM_CMP_GE, value) == 0) {
    }
  }
}

static double measure(const char* how) {
  const int me = shmem_my_pe();
  turn = 0;
  shmem_barrier_all();
  const double began = now();
  for (long round = 1; round <= rounds; ++round) {
    if (me == 1) await(how, round);
    shmem_long_p(&turn, round, 1 - me);
    if (me == 0) await(how, round);
  }
  const double took = now() - began;
  shmem_barrier_all();
  return took;
}

int main(int argc, char** argv) {
  shmem_init();
  if (argc > 2) rounds = atol(argv[2]);
  const double waiting = measure("wait");
  const double testing = measure(argc > 1 ? argv[1] : "test");
  if (shmem_my_pe() == 0) printf("%.6f %.6f\n", waiting, testing);
  shmem_finalize();
  return 0;
}
